"""The date task: each date has one answer, and the test split has days of its own."""

from datetime import date, datetime

from lmcourse.corpus.dates import FORMS, DateTask, ordinal, written


def read(source):
    """A date from its words, by another way than it was written."""
    words = source.replace(",", "").replace(".", "").replace("the ", "").replace("of ", "").split()
    words = [word for word in words if not word.endswith("day")]
    numbers = [int("".join(filter(str.isdigit, word))) for word in words if word[0].isdigit()]
    (month,) = [word[:3] for word in words if word[0].isalpha()]
    day, year = numbers
    return datetime.strptime(f"{year:04} {month} {day}", "%Y %b %d").date()


def test_each_answer_is_the_date_of_its_source():
    for split in ("train", "test"):
        for source, target in DateTask().pairs(3000, split=split):
            assert read(source).isoformat() == target


def test_a_date_is_written_in_each_form():
    found = [written(date(2015, 10, 21), form) for form in FORMS]
    assert found == [
        "Wednesday, October 21, 2015",
        "October 21, 2015",
        "21 October 2015",
        "the 21st of October 2015",
        "Oct. 21, 2015",
        "the 21st of Oct. 2015",
    ]
    assert written(date(987, 5, 4), FORMS[4]) == "May 4, 0987"


def test_ordinals_end_as_in_english():
    assert [ordinal(n) for n in (1, 2, 3, 4, 10)] == ["1st", "2nd", "3rd", "4th", "10th"]
    assert [ordinal(n) for n in (11, 12, 13, 21, 22, 23)] == (
        ["11th", "12th", "13th", "21st", "22nd", "23rd"]
    )


def test_the_splits_share_no_day_and_have_all_forms():
    task = DateTask(1990, 1999)
    train, test = ({pair.target for pair in task.pairs(40_000, split=s)} for s in ("train", "test"))
    assert not train & test
    assert len(train | test) == 3652  # every day of ten years
    assert 0.07 < len(test) / 3652 < 0.13


def test_what_is_drawn_depends_on_the_seed_and_not_on_how_many():
    task = DateTask()
    assert task.pairs(50, seed=3)[:20] == task.pairs(20, seed=3)
    assert task.pairs(20, seed=3) != task.pairs(20, seed=4)
    assert not {*task.pairs(20, 3)} & {*task.pairs(20, 3, "test")}


def test_all_characters_are_known():
    task = DateTask()
    known = set(task.characters)
    used = {letter for pair in task.pairs(5000) for text in pair for letter in text}
    assert used == known
