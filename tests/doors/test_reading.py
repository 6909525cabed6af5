"""The estimate of the minutes that a page takes."""

from coursekit import course, form, reading
from tests.doors.conftest import CHAPTER

TIMES = "| notebook | seconds |\n|---|---|\n| chapter 02 | 60 (55–66) | 809 |\n"


def test_a_page_is_words_lines_questions_and_running_time(small):
    words = "A word of `code`, $x + y$ and [a link](https://example.org/one/two). " * 130  # 8 each
    code = "```{code-cell} ipython3\n" + "x = 1\n\n" * 24 + "```\n"
    drawing = "```{code-cell} ipython3\n:tags: [hide-input]\n" + "y = 1\n" * 99 + "```\n"
    question = ":::{admonition} Question\nWhy?\n:::\n"
    text = "\n".join([words, code, drawing, question])
    small.write("chapters/02-recurrent.md", CHAPTER.replace("Text.", text))
    (small.root / "benchmarks").mkdir()
    (small.root / "benchmarks" / "notebooks.md").write_text(TIMES, encoding="utf-8")
    (chapter,) = course.sources("chapter")
    found = reading.reading(chapter)
    assert found.words == 8 * 130 + 1 + 3  # "Why?", and the title
    assert (found.lines, found.questions, found.seconds) == (24 + 1, 1, 60)
    assert found.minutes == 10  # 8.03 + 2.08 + 1 + 1 = 12.1


def test_a_lab_is_what_its_exercises_state(small):
    text = small.root.joinpath("labs/02-recurrent.md").read_text("utf-8")
    stated = "*30 minutes · difficulty 2 of 5*\n\n*45 minutes · difficulty 5 of 5: open*\n"
    small.root.joinpath("labs/02-recurrent.md").write_text(text + stated, encoding="utf-8")
    (lab,) = course.sources("lab")
    assert reading.reading(lab).minutes == 75


def test_a_long_lab_is_advice_and_no_breach(small, capsys):
    path = small.root / "labs" / "02-recurrent.md"
    text = path.read_text("utf-8").replace("minutes: 90", "minutes: 140")
    stated = "*100 minutes · difficulty 2 of 5*\n\n*40 minutes · difficulty 5 of 5: open*\n"
    path.write_text(text + stated, encoding="utf-8")
    reading.main()
    table = capsys.readouterr().out
    assert "140     140  longer than the 120 minutes that are advised for a lab\n" in table
    (lab,) = course.sources("lab")
    assert form.report([lab]) == ""
    path.write_text(text.replace("140", "160") + stated, encoding="utf-8")
    assert "states 160 minutes; the estimate is 140" in form.report(course.sources("lab"))


def test_the_table_has_every_page(small, capsys):
    reading.main()
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["estimate", "stated"]
    assert [row.split()[:2] for row in rows] == [["Chapter", "02"], ["Lab", "02"]]
    assert [row.split()[-1] for row in rows] == ["75", "90"]
