"""`lmcourse pretrain`: lists the recipes, and trains one."""

import pytest
from typer.testing import CliRunner

from coursekit import cli
from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints
from research.pretrain import RECIPES, run
from research.pretrain.shipping import ship
from tests.pretrain.made import made


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["pretrain", *arguments], catch_exceptions=False)


def test_alone_it_lists_the_recipes_and_marks_what_is_shipped(monkeypatch, world, tmp_path):
    monkeypatch.setattr(checkpoints, "home", lambda: tmp_path)
    ship("bookworld-clm", RECIPES["bookworld-clm"].built(world), None, "untrained")
    listed = invoke().output.splitlines()
    for name, recipe in RECIPES.items():
        (line,) = [line for line in listed if name in line.split()]
        assert recipe.about in line and line.startswith("*") == (name == "bookworld-clm")


def test_it_passes_its_options_on_and_says_what_came_of_it(monkeypatch, tmp_path):
    given = {}

    def pretrain(name, **options):
        given.update(options, name=name)
        return made()

    monkeypatch.setattr(run, "pretrain", pretrain)
    folder = str(tmp_path / "run")
    shown = invoke(
        *("bookworld-mlm", "--seed", "3", "--device", "cpu", "--steps", "2"),
        *("--folder", folder, "--no-ship"),
    ).output
    assert given == {
        **{"name": "bookworld-mlm", "seed": 3, "device": "cpu", "steps": 2},
        **{"folder": tmp_path / "run", "ship": False},
    }
    assert "400 steps in 1.5 minutes" in shown and "gap 0.200 ± 0.010 nats" in shown
    invoke("bookworld-mlm")
    assert (given["ship"], given["seed"], given["device"], given["steps"]) == (True, 0, None, None)


def test_trained_again_it_is_compared_with_the_model_that_is_there(monkeypatch):
    given = {}

    def again(name, **options):
        given.update(options, name=name)
        return made(seed=1), made(digest="1")

    monkeypatch.setattr(run, "again", again)
    shown = invoke("bookworld-mlm", "--seed", "1", "--again").output
    assert given == {"name": "bookworld-mlm", "seed": 1, "device": None, "folder": None}
    assert "gap 0.200 ± 0.010 nats" in shown
    assert "gap: 0.200; others: 0.200." in shown
    with pytest.raises(CourseError, match="--again repeats a whole training"):
        invoke("bookworld-mlm", "--again", "--steps", "2")


def test_it_names_the_recipes_that_there_are():
    with pytest.raises(CourseError, match="no recipe 'bookworld-bert'") as caught:
        invoke("bookworld-bert")
    assert all(name in caught.value.remedy for name in RECIPES)


def test_ctrl_c_says_that_the_same_command_goes_on(monkeypatch):
    def interrupted(name, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "pretrain", interrupted)
    with pytest.raises(CourseError, match="interrupted, and nothing is shipped") as caught:
        invoke("bookworld-mlm")
    assert "same command again" in caught.value.remedy
