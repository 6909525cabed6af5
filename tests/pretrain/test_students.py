"""Students: they need their teacher, start from it, learn from it, and leave it as it was."""

from dataclasses import replace

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.deberta import DebertaConfig, DebertaForMaskedLM
from lmcourse.tokenizers import words
from research.pretrain import RECIPES, pretrain, recipes
from research.pretrain.encoders import ENCODER, NO_DROPOUT
from research.pretrain.records import digest
from research.pretrain.shipping import ship
from research.pretrain.students import TEACHER, StudentRecipe

REAL = StudentRecipe.teacher_model  # conftest puts an untrained one in its place
SIZES = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4}
SMALL = SIZES | {"intermediate_size": 16, "max_position_embeddings": 448}
STUDENTS = "bookworld-distilbert", "bookworld-tinybert"


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """A folder in place of ``data/checkpoints``."""
    monkeypatch.setattr(StudentRecipe, "teacher_model", REAL)
    monkeypatch.setattr(checkpoints, "home", lambda: tmp_path / "shelf")
    return tmp_path / "shelf"


def shipped(world, shelf, seed=0):
    torch.manual_seed(seed)
    config = BertConfig(vocab_size=words.size(world), **SMALL, **ENCODER, **NO_DROPOUT)
    teacher = BertForMaskedLM(config).eval()
    ship(TEACHER, teacher, words.words(world), "a small one", shelf)
    return teacher


@pytest.mark.parametrize("name", STUDENTS)
def test_without_a_teacher_it_says_what_to_do_first(name, shelf, tmp_path):
    with pytest.raises(CourseError, match="does not come with this checkout") as caught:
        pretrain(name, steps=2, folder=tmp_path / "run", ship=False, watch="nothing")
    assert f"lmcourse pretrain {TEACHER}" in caught.value.remedy


@pytest.mark.parametrize("name", STUDENTS)
def test_a_teacher_with_other_layers_is_refused(name, world, shelf):
    config = DebertaConfig(vocab_size=words.size(world), **SMALL, **NO_DROPOUT)
    ship(TEACHER, DebertaForMaskedLM(config), words.words(world), "another", shelf)
    with pytest.raises(CourseError, match="is a DebertaForMaskedLM"):
        RECIPES[name].network(world)


def test_distilbert_starts_from_the_first_and_the_last_layer(world, shelf):
    teacher = shipped(world, shelf)
    distiller = RECIPES["bookworld-distilbert"].network(world)
    own, theirs = distiller.student.state_dict(), teacher.state_dict()
    assert len(distiller.student.bert.encoder.layers) == 2
    for name, tensor in own.items():
        source = name.replace("encoder.layers.1.", "encoder.layers.3.")
        assert torch.equal(tensor, theirs[source]), name


def test_what_a_student_becomes_depends_on_its_teacher(world, shelf):
    recipe = RECIPES["bookworld-tinybert"]
    assert recipe.config["teacher"] == {"name": TEACHER, "sha256": None}
    shipped(world, shelf)
    first = recipe.config
    shipped(world, shelf, seed=1)
    assert recipe.config != first and recipe.config["stage"] == "general"


@pytest.mark.parametrize("name", STUDENTS)
def test_a_student_learns_and_its_teacher_does_not(name, world, shelf, tmp_path, monkeypatch):
    teacher = shipped(world, shelf)
    record = pretrain(
        name, steps=3, folder=tmp_path / "run", ship=shelf, device="cpu", watch="nothing"
    )
    assert digest(REAL(RECIPES[name])) == digest(teacher)
    torch.manual_seed(0)
    untrained = RECIPES[name].kept(RECIPES[name].network(world))
    assert digest(untrained) != record.digest
    assert record.architecture == type(untrained).__name__
    assert len(record.loss) == 3 and record.held_out
    if name == "bookworld-distilbert":
        assert record.scores.table is not None
        assert set(record.scores.table.row().models) == {name, TEACHER}
    else:
        assert record.scores.table is None and type(untrained) is Bert
        asked = "word sense by the nearest neighbor"
        assert {f"{asked}, layer 2", f"{asked}, teacher"} < set(record.scores.others)


def test_tinybert_learns_to_predict_too_where_it_is_asked_to(world, shelf, tmp_path, monkeypatch):
    shipped(world, shelf)
    recipe = replace(RECIPES["bookworld-tinybert"], name="bookworld-all", stage="all")
    monkeypatch.setitem(recipes.RECIPES, recipe.name, recipe)
    record = pretrain(
        recipe.name, steps=2, folder=tmp_path / "run", ship=False, device="cpu", watch="nothing"
    )
    assert record.architecture == "BertForMaskedLM"
    assert record.scores.table is not None
    assert set(record.scores.table.row().models) == {recipe.name, TEACHER}
