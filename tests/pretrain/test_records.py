"""What stands beside a checkpoint is read back as it was written, or refused."""

import math

import msgspec
import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.evaluation import gap_table
from lmcourse.evaluation.uncertainty import Score
from research.pretrain.records import POINTS, Number, Record, Scores, digest, thinned
from tests.pretrain.made import made


def test_a_record_is_read_back(tmp_path):
    record = made()
    record.write(tmp_path / "one.json")
    assert Record.read(tmp_path / "one.json") == record


def test_a_record_that_would_be_another_one_is_not_written(tmp_path):
    with pytest.raises(CourseError, match="is not the same once it is read back"):
        made(recipe={"betas": (0.9, 0.98)}).write(tmp_path / "one.json")
    assert not (tmp_path / "one.json").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "x"}', "[" * 100_000])
def test_a_damaged_record_is_refused(tmp_path, content):
    path = tmp_path / "bookworld-one.json"
    path.write_text(content)
    with pytest.raises(CourseError, match="cannot be read") as caught:
        Record.read(path)
    assert f"git checkout -- {path}" in caught.value.remedy


def test_a_missing_record_says_how_to_make_it(tmp_path):
    with pytest.raises(CourseError) as caught:
        Record.read(tmp_path / "bookworld-one.json")
    assert "lmcourse pretrain bookworld-one" in caught.value.remedy


def test_a_gap_table_becomes_scores_with_infinite_numbers_and_unknown_errors(world):
    def sure(tokens):
        found = torch.zeros(len(tokens) + 1, len(world.vocabulary))
        found[:, 0] = 1.0
        return found

    table = gap_table(sure, world, reviews=world.split("test", 3))
    scores = Scores.of(table, {"other": Score(0.5, math.nan, math.nan, math.nan)})
    row = scores.table.row()
    assert row.tokens == table.count() and scores.table.saw_targets == []
    assert row.floor.value == pytest.approx(table.floor().value, abs=0)
    assert row.models["model"].gap.value is None
    assert str(row.models["model"].gap) == "∞" == str(table.gap())
    assert scores.others["other"] == Number(0.5, None, None, None)
    assert str(scores.others["other"]) == "0.500 ± ?"
    assert msgspec.json.decode(msgspec.json.encode(scores), type=Scores) == scores


def test_a_model_that_saw_its_targets_is_named(world):
    answers = {tuple(review.tokens): review for review in world.split("test", 20)}

    def peeking(tokens):
        review = answers[tuple(tokens)]
        found = torch.full((len(tokens) + 1, len(world.vocabulary)), 1e-6)
        found[range(len(tokens) + 1), list(review.ids)] = 1.0
        return found / found.sum(1, keepdim=True)

    table = gap_table({"peeking": peeking}, world, reviews=list(answers.values()))
    assert Scores.of(table).table.saw_targets == ["peeking"]


@pytest.mark.parametrize("count", [1, 199, 200, 201, 1000, 12_345])
def test_a_thinned_curve_is_the_means_of_its_stretches(count):
    losses = [math.sin(step) + step / count for step in range(count)]
    curve = thinned(losses)
    assert len(curve) == min(count, POINTS) and curve[-1][0] == count
    lengths = [
        end - start
        for start, end in zip([0, *(e for e, _ in curve)], (e for e, _ in curve), strict=False)
    ]
    assert sum(n * mean for n, (_, mean) in zip(lengths, curve, strict=True)) == pytest.approx(
        sum(losses)
    )
    assert max(lengths) - min(lengths) <= 1


def test_a_digest_tells_values_names_and_shapes_apart():
    def of(weight, kind=nn.Linear):
        model = kind(2, 3, bias=False)
        model.load_state_dict({"weight": weight})
        return digest(model)

    torch.manual_seed(0)
    weight = torch.randn(3, 2)
    assert of(weight) == of(weight.clone())
    changed = weight.clone()
    changed[2, 1] = torch.nextafter(changed[2, 1], torch.tensor(9.0))
    assert of(changed) != of(weight)
    named = nn.Sequential(nn.Linear(2, 3, bias=False))
    named[0].load_state_dict({"weight": weight})
    assert digest(named) != of(weight)
    turned = nn.Linear(3, 2, bias=False)
    turned.load_state_dict({"weight": weight.reshape(2, 3)})
    assert digest(turned) != of(weight)
