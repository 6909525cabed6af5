"""A run goes on after a kill, ships what it should, and nothing else."""

import pickle
import subprocess
import sys
from dataclasses import replace

import msgspec
import pytest

from lmcourse import checkout, hub
from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints
from lmcourse.training import BatchLosses
from research.pretrain import recipes, run
from research.pretrain.records import Record
from research.pretrain.run import pretrain

QUIET = {"device": "cpu", "watch": "nothing"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the course's models are, and where runs are kept, for a test."""
    monkeypatch.setattr(checkpoints, "home", lambda: tmp_path / "shelf")
    monkeypatch.setattr(checkout, "products", lambda: tmp_path / "_build")
    return tmp_path / "shelf"


def test_a_killed_run_gives_the_model_of_one_that_was_not(small, tmp_path):
    whole = pretrain(small.name, folder=tmp_path / "whole", ship=False, **QUIET)
    recipe, folder = tmp_path / "recipe", tmp_path / "killed"
    recipe.write_bytes(pickle.dumps(small))
    command = [sys.executable, "-m", "tests.pretrain.killed", folder, recipe, "9"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 9, ended.stderr
    assert not (folder / "model.safetensors").exists()
    assert (folder / "checkpoints" / "step-000000008.json").exists()
    resumed = pretrain(small.name, folder=folder, ship=False, **QUIET)
    assert resumed.digest == whole.digest
    assert (resumed.loss, resumed.held_out) == (whole.loss, whole.held_out)
    assert resumed.scores == whole.scores
    assert resumed.tokens == whole.tokens
    other = pretrain(small.name, seed=1, folder=tmp_path / "other", ship=False, **QUIET)
    assert other.digest != whole.digest


def test_a_run_that_is_over_is_not_repeated(small, tmp_path, monkeypatch):
    first = pretrain(small.name, folder=tmp_path, ship=False, **QUIET)

    def over(losses):
        assert losses.step == losses.steps, "trained again"
        raise StopIteration

    monkeypatch.setattr(BatchLosses, "__next__", over)
    second = pretrain(small.name, folder=tmp_path, ship=False, **QUIET)
    assert (second.digest, second.tokens) == (first.digest, first.tokens)


def test_a_run_of_another_recipe_is_not_taken_up(small, tmp_path, monkeypatch):
    pretrain(small.name, folder=tmp_path, ship=False, **QUIET)
    masks = replace(small.masks, rate=0.2)
    monkeypatch.setitem(recipes.RECIPES, small.name, replace(small, masks=masks))
    with pytest.raises(CourseError, match="another configuration"):
        pretrain(small.name, folder=tmp_path, ship=False, **QUIET)
    budget = replace(small.budget, held_out=4)  # which losses and model know nothing of
    monkeypatch.setitem(recipes.RECIPES, small.name, replace(small, budget=budget))
    with pytest.raises(CourseError, match="another configuration"):
        pretrain(small.name, folder=tmp_path, ship=False, **QUIET)
    monkeypatch.setitem(recipes.RECIPES, small.name, small)
    with pytest.raises(CourseError, match="another configuration"):
        pretrain(small.name, seed=1, folder=tmp_path, ship=False, **QUIET)


def test_what_is_shipped_loads_by_its_name_and_from_its_run(small, home):
    record = pretrain(small.name, **QUIET)
    loaded = hub.load(small.name)
    again = hub.load(run.default_folder(small.name, 0))
    assert loaded.tokenizer.to_str() == again.tokenizer.to_str()
    assert run.digest(loaded.model) == run.digest(again.model) == record.digest
    assert (home / f"{small.name}.json").is_file()


def test_no_shortened_run_and_none_that_is_told_not_to_ships(small, home):
    pretrain(small.name, steps=2, **QUIET)
    pretrain(small.name, ship=False, **QUIET)
    assert not home.exists()
    assert run.default_folder(small.name, 0, 2).is_dir()


@pytest.mark.parametrize(
    ("locked", "remedy"), [("run", "--folder"), ("shelf", "--no-ship"), ("record", "your own")]
)
def test_a_read_only_checkout_is_named_before_anything_is_trained(
    small, home, tmp_path, monkeypatch, unprivileged, locked, remedy
):
    folder = tmp_path / "run"
    if locked == "record":
        pretrain(small.name, folder=tmp_path / "first", **QUIET)
    for each in (home, folder):
        each.mkdir(exist_ok=True)
    closed = folder if locked == "run" else home

    def train(*arguments):
        raise AssertionError("it was trained")

    monkeypatch.setattr(type(small), "train", train)
    closed.chmod(0o555)
    try:
        with pytest.raises(CourseError, match=f"may not write {closed}") as caught:
            if locked == "record":
                run.again(small.name, seed=1, folder=folder, watch="nothing")
            else:
                pretrain(small.name, folder=folder, **QUIET)
    finally:
        closed.chmod(0o755)
    assert remedy in caught.value.remedy


def test_an_interrupted_run_ships_nothing_and_goes_on(small, home, monkeypatch):
    def interrupted(losses):
        if losses.step == 7:
            raise KeyboardInterrupt
        return drawn(losses)

    drawn = BatchLosses.__next__
    monkeypatch.setattr(run, "EVERY", 2)
    with monkeypatch.context() as changed:
        changed.setattr(BatchLosses, "__next__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pretrain(small.name, **QUIET)
    assert not home.exists()
    steps = []
    monkeypatch.setattr(BatchLosses, "__next__", lambda it: steps.append(it.step) or drawn(it))
    pretrain(small.name, **QUIET)
    assert steps[0] == 6
    assert small.name in checkpoints.shipped()


def test_other_seeds_stand_in_the_record_and_the_model_stays(small, home):
    record = pretrain(small.name, **QUIET)
    for seed in (2, 1):
        found, shipped = run.again(small.name, seed=seed, **QUIET)
        assert (found.seed, found.digest == record.digest) == (seed, False)
        assert shipped == Record.read(home / f"{small.name}.json")
    assert replace_again(shipped, []) == record
    assert run.digest(hub.load(small.name).model) == record.digest
    assert [one.seed for one in shipped.again] == [1, 2]
    own = record.scores.table.row().models[small.name].gap.value
    gaps = [one.scores["gap"] for one in shipped.again]
    assert own not in gaps and max(abs(gap - own) for gap in gaps) < 1
    # Its own seed is not noted twice; and shipped from a third seed, none is lost.
    same, shipped = run.again(small.name, seed=0, **QUIET)
    assert same.digest == record.digest and [one.seed for one in shipped.again] == [1, 2]
    record = pretrain(small.name, seed=3, **QUIET)
    assert [one.seed for one in record.again] == [0, 1, 2]
    assert [one.scores["gap"] for one in record.again] == [own, *gaps]


def replace_again(record, again):
    return msgspec.structs.replace(record, again=again)


def test_other_seeds_of_another_recipe_are_refused_and_forgotten(small, home, monkeypatch):
    with pytest.raises(CourseError, match="is not there"):
        run.again(small.name, seed=1, **QUIET)
    pretrain(small.name, **QUIET)
    run.again(small.name, seed=1, **QUIET)
    longer = replace(small, budget=replace(small.budget, steps=13))
    monkeypatch.setitem(recipes.RECIPES, small.name, longer)
    with pytest.raises(CourseError, match="trained by another recipe"):
        run.again(small.name, seed=2, **QUIET)
    assert not run.default_folder(small.name, 2).exists(), "trained, and then refused"
    assert pretrain(small.name, seed=4, **QUIET).again == []


def test_a_device_that_is_not_there_is_refused_before_anything_is_done(small, tmp_path):
    for device, said in (("gpu", "is no device"), ("xpu", "no device 'xpu' here")):
        with pytest.raises(CourseError, match=said):
            pretrain(small.name, device=device, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
