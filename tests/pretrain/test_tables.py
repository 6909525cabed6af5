"""The page of the models: made of their records, and only if none lies below the floor."""

import pytest

from data import models
from lmcourse.errors import CourseError
from lmcourse.tokenizers import words
from research.pretrain import RECIPES
from research.pretrain.records import Again, Machine, Scores
from research.pretrain.shipping import ship
from research.pretrain.tables import check_floor, page, shipped_records
from tests.pretrain.made import made, number, table


def rows(text, name):
    """The cells of the lines that begin with a name."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return [line for line in cells if line and line[0] == name]


def test_the_page_is_what_its_command_writes():
    written = page(shipped_records(models.PAGE.parent))
    assert models.PAGE.read_text(encoding="utf-8") == written, "run `python -m data.models`"


def test_a_model_stands_in_the_overview_and_in_a_section_of_its_own():
    text = page([made(), made("bookworld-two", best_step=200)])
    (overview,) = rows(text, "[bookworld-one](#bookworld-one)")
    assert overview[1:] == [
        *("BertForMaskedLM", "12,345", "50", "1.5", "2.5", "CPU, 2 threads", "1.9 M"),
        *("1.110 ± 0.010", "0.900 ± 0.010 (masked)", "0.200 ± 0.010", "—"),
    ]
    assert "Together they have 0.1 MB." in text
    one, two = text.split("\n## ")[1:]
    assert rows(one, "names") == [
        ["names", "80"] + [f"{it} ± 0.010" for it in ("0.900", "1.110", "0.210", "0.200")]
    ]
    assert "3.000 (100), 2.000 (200), 1.100 (400)" in one
    assert "`lmcourse pretrain bookworld-one --seed 0`: 400 steps, on CPU" in one
    assert "the best being step 200" in two and "was the best" not in one


def test_a_warm_up_phase_for_copying_is_reported():
    (with_one,) = page([made(recipe={"budget": {"repeats": 0.1}})]).split("\n## ")[1:]
    assert "warm-up phase for copying: in the first 10% of the steps, rare words" in with_one
    (without,) = page([made(recipe={"budget": {"repeats": 0.0}})]).split("\n## ")[1:]
    assert "warm-up phase" not in without


def test_what_predicts_no_words_has_no_gap():
    scores = Scores(None, {"analogies": number(0.8)})
    text = page([made(scores=scores)])
    (overview,) = rows(text, "[bookworld-one](#bookworld-one)")
    assert overview[-4:] == ["—"] * 4
    assert rows(text, "analogies") == [["analogies", "0.800 ± 0.010"]]
    assert "None of them has a gap." in text


def test_the_gap_of_a_part_is_the_models():
    text = page([made(scores=Scores(table("bookworld-one, forward direction")))])
    (overview,) = rows(text, "[bookworld-one](#bookworld-one)")
    assert overview[-2] == "0.200 ± 0.010"
    assert rows(text, "bookworld-one, forward direction")  # the head of its table


def test_the_gap_of_what_is_thrown_away_is_not_the_models():
    text = page([made(scores=Scores(table("generator")))])
    (overview,) = rows(text, "[bookworld-one](#bookworld-one)")
    assert overview[-2:] == ["—"] * 2
    assert "the least gap is that of generator, 0.200 ± 0.010" in text


def test_other_seeds_are_told_with_their_spread():
    again = [Again(seed, "cpu", 60.0, {"gap": gap}) for seed, gap in ((1, 0.21), (2, 0.25))]
    text = page([made(again=again)])
    assert rows(text, "score")[0][1:4] == ["seed 0", "seed 1", "seed 2"]
    (gap,) = rows(text, "gap")
    assert gap == ["gap", "0.200", "0.210", "0.250", "0.220", "0.026", "0.089 to 0.351"]
    (overview,) = rows(text, "[bookworld-one](#bookworld-one)")
    assert overview[-1] == "0.220 ± 0.026 (3)"
    assert "| seed 0" not in page([made()])


def test_what_is_the_same_from_all_seeds_is_told_without_a_table():
    same = [Again(seed, "cpu", 60.0, {"gap": 0.2}) for seed in (1, 2)]
    text = page([made(again=same)])
    assert rows(text, "gap") == [] and "| seed 0" not in text
    assert "The same from seeds 0, 1 and 2: gap 0.200." in text
    name = "well-read words, selectivity"
    below = Scores(None, {name: number(-0.2)})
    same = [Again(seed, "cpu", 60.0, {name: -0.2}) for seed in (1, 2)]
    assert f"{name} −0.200." in page([made(scores=below, again=same)])
    assert "The same" not in page([made(again=[Again(1, "cpu", 60.0, {"gap": 0.3})])])


def test_a_long_curve_is_told_by_its_ends_and_a_few_points_between():
    curve = [(step, 1 / step) for step in range(1, 22)]
    assert "1.000 (1), 0.167 (6), 0.091 (11), 0.062 (16), 0.048 (21)" in page(
        [made(held_out=curve)]
    )


def test_an_accelerator_is_named():
    text = page([made(machine=Machine("NVIDIA H200", 16, "3.11.7", "2.13.0", "0.1.0"))])
    assert "| NVIDIA H200 |" in text and "16 threads" not in text


@pytest.mark.parametrize(
    "wrong",
    [
        {"saw_targets": ["bookworld-one"]},
        {"difference": -0.06},
        {"gap": -0.001},
    ],
)
def test_a_page_with_a_model_below_the_floor_is_not_written(wrong):
    record = made(scores=Scores(table("bookworld-one", **wrong)))
    with pytest.raises(CourseError, match="bookworld-one lies below BookWorld's floor"):
        page([made(), record])


@pytest.mark.parametrize("chance", [{"difference": -0.04}, {"gap": 0.0}, {"gap": None}])
def test_what_chance_can_do_is_no_offense(chance):
    check_floor([made(scores=Scores(table("bookworld-one", **chance)))])


def test_a_record_belongs_to_the_model_beside_it(world, tmp_path):
    name = "bookworld-albert"
    model, tokenizer = RECIPES[name].built(world), words.words(world)
    size = ship(name, model, tokenizer, "untrained", tmp_path).model.size
    with pytest.raises(CourseError, match="is not there"):
        shipped_records(tmp_path)
    made(name, bytes=size).write(tmp_path / f"{name}.json")
    assert [record.name for record in shipped_records(tmp_path)] == [name]
    made(name, bytes=size + 1).write(tmp_path / f"{name}.json")
    with pytest.raises(CourseError, match="is not of the model beside it"):
        shipped_records(tmp_path)


def test_the_command_writes_the_page_or_says_why_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "PAGE", tmp_path / "shelf" / "README.md")
    assert models.main() == 0
    empty = models.PAGE.read_text(encoding="utf-8")
    assert "None is here yet." in empty
    below = made(scores=Scores(table("bookworld-one", difference=-1.0)))
    monkeypatch.setattr(models, "shipped_records", lambda folder: [below])
    assert models.main() == 1
    assert "below BookWorld's floor" in capsys.readouterr().err
    assert models.PAGE.read_text(encoding="utf-8") == empty
