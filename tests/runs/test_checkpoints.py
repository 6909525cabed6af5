"""Checkpoints: a run that is left at any moment goes on as if nothing had been."""

import errno
import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import torch
from filelock import FileLock
from torch import nn

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.training.distributed import Processes
from lmcourse.training.fit import History
from lmcourse.training.loop import Run, train
from research.runs import Checkpoints
from research.runs.state_files import Damaged, differences, read_state, write_state
from research.runs.states import RunState
from research.runs.stopping import EarlyStopping
from tests.training.small_runs import Regression, digest, held_out, small_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    """What a process wrote is there, even when it is killed: fsync is for power failures."""
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: None)


class Cut(Exception):
    """What ends a run in the middle."""


class Cutting:
    """Losses that end with an error."""

    def __init__(self, *arguments, cut: int) -> None:
        super().__init__(*arguments)
        self.cut = cut

    def __iter__(self):
        for loss in super().__iter__():
            if self.at > self.cut:
                raise Cut
            yield loss


class CutRegression(Cutting, Regression):
    pass


CutRegression.__name__ = "Regression"  # the same losses, as far as a configuration tells


@pytest.fixture
def cut(monkeypatch):
    """Let small runs end with an error after so many losses, two of which make a step."""

    def cut_after(losses: int | None) -> None:
        kind = Regression if losses is None else lambda *a: CutRegression(*a, cut=losses)
        monkeypatch.setattr("tests.training.small_runs.Regression", kind)

    return cut_after


@pytest.fixture(scope="module")
def whole():
    """The digest of the run that was never interrupted."""
    return digest(*small_run(None))


def left_at(folder, cut, losses=33, **settings) -> None:
    cut(losses)
    with pytest.raises(Cut):
        small_run(folder, **settings)
    cut(None)


def names(folder) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.name != ".lock")


def test_a_run_killed_at_20_moments_ends_like_one_that_was_not(tmp_path):
    command = [sys.executable, "-m", "tests.runs.killed_run", str(tmp_path), "20", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    runs, reached, same = done.stdout.split()
    assert same == "True"
    assert int(runs) >= 1 and int(reached) >= 10  # kills struck in the midst of runs


@pytest.mark.parametrize("losses", [1, 6, 31])
def test_a_run_goes_on_where_it_was_left(tmp_path, cut, whole, losses):
    left_at(tmp_path, cut, losses)
    assert digest(*small_run(tmp_path)) == whole


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [
        ("SGD", "OneCycleLR"),
        ("Adagrad", "MultiStepLR"),
        ("NAdam", "SequentialLR"),
    ],
)
def test_every_optimizer_and_schedule_goes_on(tmp_path, kind, schedule):
    def run(folder, cut=None):
        torch.manual_seed(0), np.random.seed(0)
        model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Dropout(0.2), nn.Linear(5, 1))
        more = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01, **more)
        rates = torch.optim.lr_scheduler
        scheduler = {
            "OneCycleLR": lambda: rates.OneCycleLR(optimizer, 0.1, total_steps=20),
            "MultiStepLR": lambda: rates.MultiStepLR(optimizer, [3, 9, 9]),
            "SequentialLR": lambda: rates.SequentialLR(
                optimizer, [rates.LinearLR(optimizer), rates.ExponentialLR(optimizer, 0.9)], [8]
            ),
        }[schedule]()
        losses = Twos(model, 20) if cut is None else CutTwos(model, 20, cut=cut)
        kept = folder and Checkpoints(folder, every=4)
        parts = {"optimizer": optimizer, "scheduler": scheduler, "checkpoints": kept}
        parts |= {"watch": "nothing"}
        stop = EarlyStopping(held_out, every=50)
        if cut is not None:
            with pytest.raises(Cut):
                train(model, losses, **parts)
            assert kept.resumed is None
            history = train(model, Twos(model, 20), **parts)  # the same objects, in one session
            assert kept.resumed == cut // 4 * 4
        else:
            history = train(model, losses, **parts)
        return digest(model, optimizer, stop, history)

    assert run(tmp_path, cut=10) == run(None)


class Twos(Regression):
    """Batches of at least two, as batch normalization needs."""

    def __iter__(self):
        while self.at < self.count:
            self.at += 1
            x = torch.randn(3, 4)
            yield (self.model(x)[:, 0] - x.sum(1)).square().mean()


class CutTwos(Cutting, Twos):
    pass


CutTwos.__name__ = "Twos"


@pytest.mark.bad_input  # not under the type checker, which draws from Python's random numbers
def test_all_random_numbers_go_on(tmp_path, cut):
    def drawn():
        return random.random(), random.gauss(), np.random.normal(), torch.rand(2).tolist()

    random.seed(1)
    random.gauss()  # it makes two, and keeps the second
    np.random.normal()
    small_run(tmp_path, 3)
    expected = drawn()
    random.seed(2), drawn()
    small_run(tmp_path, 3)
    assert drawn() == expected


@pytest.mark.parametrize("part", ["model", "optimizer", "scheduler", "losses", "stop", "random"])
def test_a_run_that_forgets_a_part_goes_another_way(tmp_path, cut, whole, monkeypatch, part):
    """What the digests above are worth."""
    left_at(tmp_path, cut)
    load = RunState.load_state_dict

    def forget(there, state):
        fresh = there.state_dict()
        if part == "random":
            np.random.seed(7), torch.manual_seed(7)
            fresh = there.state_dict()
        load(there, {**state, part: fresh[part]})

    monkeypatch.setattr(RunState, "load_state_dict", forget)
    assert digest(*small_run(tmp_path)) != whole


def test_a_run_that_is_there_to_its_end_is_not_repeated(tmp_path, whole, monkeypatch):
    small_run(tmp_path)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)}

    def refuse(*arguments):
        raise AssertionError("nothing is left to compute")

    monkeypatch.setattr(nn.Sequential, "forward", refuse)
    assert digest(*small_run(tmp_path)) == whole
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)} == before


def test_a_last_look_is_kept_beside_what_was_whole(tmp_path, whole):
    """The last step was kept before the last look; a kill in between must not cost both."""
    small_run(tmp_path)
    assert sorted(p.stem for p in tmp_path.glob("*.json")) == [
        "step-000000030",
        "step-000000030-end",
    ]
    for path in tmp_path.glob("*-end.*"):
        path.unlink()
    assert digest(*small_run(tmp_path)) == whole


def test_a_run_that_stopped_early_stays_stopped(tmp_path):
    score = iter([3.0, 1.0, 2.0, 2.0])
    stop = EarlyStopping(lambda model: next(score), every=2, patience=2)
    *_, first = small_run(tmp_path, stop=stop)
    again = EarlyStopping(lambda model: next(score), every=2, patience=2)
    *_, second = small_run(tmp_path, stop=again)
    assert first == second and len(first.losses) == 8
    assert again.scores == stop.scores and again.best_step == 4


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path):
    """The steps are the losses' affair; here, what they are does not depend on how many come."""
    small_run(tmp_path, 12, stop=None)
    assert small_run(tmp_path, 30, stop=None)[-1] == small_run(None, 30, stop=None)[-1]


@pytest.mark.parametrize(("every", "losses"), [(3, 18), (4, 19), (5, 20), (1000, 19)])
def test_losses_that_were_left_over_are_read_again(tmp_path, every, losses):
    """One more loss, and dropout's random numbers with it, must not be lost for the next step."""

    def run(folder, count):
        torch.manual_seed(0), np.random.seed(0)
        model = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.4), nn.Linear(5, 1))
        kept = folder and Checkpoints(folder, every=every)
        given = {"accumulate": 3, "checkpoints": kept, "watch": "nothing"}
        return train(model, Regression(model, count), **given), kept

    first, _ = run(tmp_path, losses)
    assert len(first.losses) == 6
    longer, kept = run(tmp_path, 40)
    assert kept.resumed == 6 and longer == run(None, 40)[0]


@pytest.mark.parametrize("keep", [1, 4])
def test_the_last_few_checkpoints_stay(tmp_path, keep):
    model = nn.Linear(4, 1)
    kept = Checkpoints(tmp_path, every=5, keep=keep)
    train(model, Regression(model, 23), checkpoints=kept, watch="nothing")
    steps = [0, 5, 10, 15, 20, 23][-keep:]
    assert names(tmp_path) == sorted(
        f"step-{step:09d}.{end}" for step in steps for end in ("json", "safetensors")
    )


@pytest.mark.parametrize("deletions", range(4))
def test_what_is_deleted_is_no_checkpoint_before_its_tensors_are_gone(
    tmp_path, monkeypatch, deletions
):
    model, left = nn.Linear(4, 1), iter(range(deletions, -1, -1))
    unlink = Path.unlink

    def killed(path, **options):
        if path.stem.startswith("step-") and next(left) == 0:
            raise Cut
        unlink(path, **options)

    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(Path, "unlink", killed)
        kept = Checkpoints(tmp_path, every=1, keep=1)
        train(model, Regression(model, 5), checkpoints=kept, watch="nothing")
    entries = [path.stem for path in tmp_path.glob("*.json")]
    assert entries and all(read_state(tmp_path, name) for name in entries)


def test_processes_agree_whether_a_step_was_kept(tmp_path, monkeypatch):
    """Where the first process finds the disk full, the others must save with it once more."""
    heard = []

    class Second(Processes):
        """One that writes nothing, and is told that the first one could not write, or could."""

        def summed(self, values):
            heard.append(values)
            return [float(len(heard) == 1)]

    model = nn.Linear(4, 1)
    adam = torch.optim.Adam(model.parameters())
    processes = Second(model)
    processes.rank = 1
    losses, history = Regression(model, 3), History()
    run = Run(model, adam, None, losses, None, history, processes, {})
    kept = Checkpoints(tmp_path)
    kept._config, kept._state = {}, RunState(run)
    history.record(1.0, 1.0)
    kept.save(run)
    assert kept._saved is None and heard == [[0.0]]
    kept.save(run)
    assert kept._saved == (1, 0)


@pytest.mark.parametrize(("every", "count"), [(timedelta(0), 7), (timedelta(hours=1), 2)])
def test_checkpoints_by_the_clock(tmp_path, every, count):
    model = nn.Linear(4, 1)
    kept = Checkpoints(tmp_path, every=every, keep=100)
    train(model, Regression(model, 6), checkpoints=kept, watch="nothing")
    assert len(names(tmp_path)) == 2 * count  # the beginning and the end, and each step or none


def test_what_a_killed_run_left_half_done_is_deleted_and_nothing_else(tmp_path, cut, whole):
    left_at(tmp_path, cut)
    (tmp_path / "step-000000099.safetensors").write_bytes(b"without an entry")
    (tmp_path / ".lmcourse-step-000000099.json-7.tmp").write_bytes(b"half of it")
    mine = [tmp_path / "notes.md", tmp_path / "step-by-step.safetensors"]
    for path in mine:
        path.write_text("mine")
    assert digest(*small_run(tmp_path)) == whole
    assert all(path.read_text() == "mine" for path in mine)
    assert not list(tmp_path.glob("*099*")) and not list(tmp_path.glob("*.tmp"))


def flipped(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << (at % 8)
    path.write_bytes(content)


def in_place(path: Path) -> None:
    path.write_bytes(pickle.dumps({"model": [1, 2]}))


def torch_saved(path: Path) -> None:
    torch.save({"model": torch.ones(2)}, path)


SPOILED = {
    "a flipped byte": lambda path: flipped(path, path.stat().st_size // 2),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "empty": lambda path: path.write_bytes(b""),
    "a pickle": in_place,
    "a file of torch.save": torch_saved,
    "of another step": lambda path: path.write_bytes(
        (path.parent / f"step-000000012{path.suffix}").read_bytes()
    ),
}


@pytest.mark.parametrize(
    ("how", "suffix"),
    [*((how, ".safetensors") for how in SPOILED)]
    + [(how, ".json") for how in ("cut", "a pickle", "of another step")],
)
def test_a_damaged_checkpoint_is_refused_and_the_one_before_goes_on(
    tmp_path, cut, whole, how, suffix
):
    left_at(tmp_path, cut)  # after step 16: the checkpoints are of steps 12 and 15
    path = tmp_path / f"step-000000015{suffix}"
    SPOILED[how](path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(CourseError, match="damaged") as error:
        small_run(tmp_path)
    assert str(tmp_path / "step-000000015.") in error.value.cause
    assert ("pickle" in error.value.cause) == (how in ("a pickle", "a file of torch.save"))
    assert "of step 12, is complete" in error.value.remedy
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before
    (tmp_path / "step-000000015.json").unlink()  # as the remedy says
    assert digest(*small_run(tmp_path)) == whole


def test_every_byte_of_a_checkpoint_counts(tmp_path):
    state = {"a": torch.arange(3.0), "b": (1, 2.5, "text", None)}
    write_state(tmp_path, "state", state)
    for name in ("state.safetensors", "state.json"):
        content = (tmp_path / name).read_bytes()
        for at in range(len(content)):
            flipped(tmp_path / name, at)
            try:
                again = read_state(tmp_path, "state")
            except Damaged:
                continue
            finally:
                (tmp_path / name).write_bytes(content)
            assert name == "state.json" and content[at : at + 1].isspace()  # between two words
            assert again["b"] == state["b"] and torch.equal(again["a"], state["a"])


def test_where_no_checkpoint_is_whole_the_reader_is_told(tmp_path, cut):
    left_at(tmp_path, cut)
    for path in tmp_path.glob("*.safetensors"):
        flipped(path, 100)
    with pytest.raises(CourseError, match="No other one is complete"):
        small_run(tmp_path)
    (tmp_path / "step-000000015.safetensors").unlink()
    with pytest.raises(CourseError, match="is missing"):
        small_run(tmp_path)


OTHERS = [
    ({"rate": 2e-2}, r"optimizer\.groups\[0\]\.initial_lr was 0.01 and is 0.02"),
    ({"width": 7}, r"model\.parameters\.0\.bias\[0\] was 6 and is 7"),
    ({"seed": 5}, r"losses\.config\.seed was 0 and is 5"),
    ({"warmup": 9}, r"scheduler\.curves\[0\]\[0\] was 0.2 and is 0.1"),
    ({"scheduler": None}, "scheduler was .* and is None"),
    ({"accumulate": 1}, r"loop\.accumulate was 2 and is 1"),
    ({"clip": None}, r"loop\.clip was 1.0 and is None"),
    ({"stop": EarlyStopping(held_out, every=5)}, r"stop\.config\.every was 4 and is 5"),
    ({"config": {"data": "other"}}, r"config\.data was 'one' and is 'other'"),
]


def test_another_configuration_is_refused_by_name(tmp_path):
    small_run(tmp_path, 4, config={"data": "one"})
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    for changed, named in OTHERS:
        with pytest.raises(CourseError, match=named) as error:
            small_run(tmp_path, 4, **{"config": {"data": "one"}, **changed})
        assert "another folder" in error.value.remedy
        assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_difference_is_shown_where_it_is():
    """Two long texts may have the same beginning, as those of two ways of masking do."""
    long = (
        "Masking(mask_id=4, vocab_size=100, select=Tokens(exact=True, share={}), keep=0.1)"
        + "." * 80
    )
    there, here = {"m": long.format(0.15), "n": 1}, {"m": long.format(0.3), "n": 2}
    (first, one), (second, other) = differences(there, here)
    assert (first, second, other) == ("m", "n", "n was 1 and is 2")
    assert "share=0.15)" in one.split(" and is ")[0] and "share=0.3)" in one.split(" and is ")[1]
    assert one.startswith("m was …") and one.endswith("…") and len(one) < 150
    ((_, text),) = differences("a" * 50, "a" * 50 + "b" * 100)
    short, cut = "a" * 50, "a" * 30 + "b" * 30
    assert text == f" was {short!r} and is …{cut}…"  # what is short is shown in full
    ((_, text),) = differences(None, {"class": "LambdaLR", "curves": [[0.5] * 50]})
    assert text.strip().startswith("was None and is {'class': 'LambdaLR'")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("order", r"optimizer\.groups\[0\]\.parameters\[0\] was '0\.weight' and is '1\.weight'"),
        ("frozen", r"model\.frozen was \[\] and is \['0\.bias'\]"),
        ("fewer", r"optimizer\.groups\[0\]\.parameters was "),
    ],
)
def test_other_parameters_in_the_same_places_are_refused(tmp_path, changed, named):
    """Adam's averages belong to parameters by their place: two of one shape are easily swapped."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))

    class Seen(Regression):
        def __iter__(self):
            yield from (loss for loss, _ in super().__iter__())

    def run(parameters, steps):
        adam = torch.optim.Adam(parameters)
        kept = Checkpoints(tmp_path, changed=("model", "optimizer"))
        train(model, Seen(model, steps), optimizer=adam, checkpoints=kept, watch="nothing")

    there = list(model.parameters())
    run(there, 3)
    one, bias, other, *rest = there
    model[0].bias.requires_grad_(changed != "frozen")
    here = {
        "order": [other, bias, one, *rest],
        "fewer": there[1:],
    }.get(changed, there)
    with pytest.raises(CourseError, match=named):
        run(here, 6)


def test_losses_that_cannot_be_taken_up_are_refused_before_the_first_step(tmp_path):
    model = nn.Linear(1, 1)
    seen = []
    losses = (seen.append(1) or model(torch.ones(1, 1)).sum() for _ in range(3))
    with pytest.raises(CourseError, match="a generator has neither"):
        train(model, losses, checkpoints=Checkpoints(tmp_path))
    assert seen == [] and names(tmp_path) == []


@pytest.mark.bad_input
def test_a_state_that_no_file_can_hold_is_refused_before_the_first_step(tmp_path):
    model = nn.Linear(4, 1)
    losses = Regression(model, 5)
    losses.state_dict = lambda: {"at": {"place": {1, 2}}}
    with pytest.raises(CourseError, match=r"cannot contain state\.run\.losses\.at\.place"):
        train(model, losses, checkpoints=Checkpoints(tmp_path))
    assert losses.at == 0


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(CourseError, match="is a file"):
        small_run(tmp_path / "file")


def test_two_runs_do_not_share_a_folder(tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(CourseError, match="A run in progress"):
        small_run(tmp_path)
    small_run(tmp_path, 3)
    small_run(tmp_path, 3)  # nothing holds it any more
    torch_saved(tmp_path / "x.pt")
    small_run(tmp_path, 3)  # nor does the reader's own file beside checkpoints matter


def full(monkeypatch, writes: range) -> None:
    """Let the disk be full in these writes of files, counted from 0."""
    count = iter(range(10**6))

    def fsync(descriptor):
        if next(count) in writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", fsync)


def test_a_disk_that_is_full_at_the_start_is_said_before_the_first_step(tmp_path, monkeypatch):
    full(monkeypatch, range(1))
    with pytest.raises(CourseError, match="disk is full"):
        small_run(tmp_path)
    assert names(tmp_path) == []


def test_a_disk_that_is_full_for_a_while_costs_no_step(tmp_path, monkeypatch, whole):
    full(monkeypatch, range(7, 10))  # the second file of step 9, then the first of 12 and of 15
    with pytest.warns(RuntimeWarning, match="disk is full") as said:
        assert digest(*small_run(tmp_path)) == whole
    assert len(said) == 3
    assert "Step 9 is not saved" in str(said[0].message)
    assert "The run continues, and that of step 6 is complete" in str(said[0].message)
    assert digest(*small_run(tmp_path)) == whole


def test_a_disk_that_stays_full_leaves_the_old_checkpoints_whole(tmp_path, monkeypatch, whole):
    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="disk is full"):
        full(patch, range(7, 10**6))
        assert digest(*small_run(tmp_path)) == whole  # the history came back, with a warning
    assert not list(tmp_path.glob("*.tmp"))
    assert [p.stem for p in sorted(tmp_path.glob("*.json"))] == ["step-000000003", "step-000000006"]
    assert digest(*small_run(tmp_path)) == whole


class Broken(Regression):
    """Losses of which one, the 17th, is not finite where the data is not tamed."""

    factor = float("nan")

    def __iter__(self):
        for mean, weight in super().__iter__():
            yield mean * (self.factor if self.at == 17 else 1.0), weight


Broken.__name__ = "Regression"


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setattr("tests.training.small_runs.Regression", Broken)


def test_the_step_before_one_that_is_not_finite_is_kept(tmp_path, broken, monkeypatch, whole):
    """That is all that there was before that step: the losses and random numbers, too."""
    for _ in range(2):  # the second one is taken up there, and ends in the same place
        with pytest.raises(CourseError, match="Step 8 has a loss of nan") as error:
            small_run(tmp_path, every=5)
        assert f"Step 8 is saved in {tmp_path}" in error.value.remedy
        assert names(tmp_path)[-1] == "step-000000008.safetensors"
    monkeypatch.setattr(Broken, "factor", 1.0)
    assert digest(*small_run(tmp_path, every=5)) == whole


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [("SGD", None), ("SGD", "OneCycleLR"), ("AdamW", "SequentialLR")],
)
def test_a_change_that_is_named_goes_on_with_all_else(tmp_path, kind, schedule):
    """A rate that is changed on the way is as if each step from there were taken with it."""
    half, begun = 0.5, 8

    def run(folder, rate, until=None, changed=()):
        torch.manual_seed(0), np.random.seed(0)
        model = nn.Linear(4, 1)
        more = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=rate, **more)
        rates = torch.optim.lr_scheduler
        scheduler = {
            None: lambda: None,
            "OneCycleLR": lambda: rates.OneCycleLR(optimizer, 10 * rate, total_steps=20),
            "SequentialLR": lambda: rates.SequentialLR(
                optimizer, [rates.LinearLR(optimizer), rates.ExponentialLR(optimizer, 0.9)], [9]
            ),
        }[schedule]()
        kept = folder and Checkpoints(folder, every=1000, changed=changed)
        used = []

        class Watched(Regression):
            def __iter__(self):
                for loss in super().__iter__():
                    used.append(optimizer.param_groups[0]["lr"])
                    yield loss

        Watched.__name__ = "Regression"
        parts = {"optimizer": optimizer, "scheduler": scheduler, "checkpoints": kept}
        parts |= {"watch": "nothing"}
        history = train(model, Watched(model, until or 20), **parts)
        return history, used

    _, full = run(None, 0.01)
    before, _ = run(tmp_path, 0.01, begun)
    with pytest.raises(CourseError, match="another configuration") as error:
        run(tmp_path, 0.01 * half)
    assert "changed=['optimizer.groups[0]." in error.value.remedy
    history, used = run(tmp_path, 0.01 * half, changed=("optimizer.groups", "scheduler"))
    assert used == pytest.approx([rate * half for rate in full[begun:]])
    assert history.losses[:begun] == before.losses and len(history.losses) == 20
    history, used = run(tmp_path, 0.01 * half)  # the change is kept, and at its end
    assert used == [] and len(history.losses) == 20


def test_a_curve_that_is_changed_holds_from_the_first_step_on(tmp_path):
    model = nn.Linear(4, 1)
    for steps, curve in ((3, lambda t: 1.0), (5, lambda t: 0.5**t)):
        sgd = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.LambdaLR(sgd, curve)
        kept, used = Checkpoints(tmp_path, changed="scheduler.curves"), []

        class Watched(Regression):
            def __iter__(self, used=used, sgd=sgd):
                for loss in super().__iter__():
                    used.append(sgd.param_groups[0]["lr"])
                    yield loss

        parts = {"optimizer": sgd, "scheduler": scheduler, "checkpoints": kept, "watch": "nothing"}
        train(model, Watched(model, steps), **parts)
    assert used == [0.01 * 0.5**3, 0.01 * 0.5**4]


def test_the_loop_s_own_settings_and_the_data_can_be_changed(tmp_path):
    small_run(tmp_path, 6, stop=None)
    changes = {"clip": 0.01, "accumulate": 1, "seed": 4, "stop": None}
    with pytest.raises(CourseError, match="another configuration"):
        small_run(tmp_path, 12, changed="loop", **changes)
    *_, history = small_run(tmp_path, 12, changed=("loop", "losses.config"), **changes)
    assert len(history.losses) == 6 + 12  # of the 24 losses, 12 were read in twos


@pytest.mark.parametrize(
    ("change", "place"),
    [({"width": 7}, "model"), ({"scheduler": None}, "scheduler"), ({"stop": None}, "stop")],
)
def test_what_a_checkpoint_is_made_of_cannot_be_changed(tmp_path, change, place):
    small_run(tmp_path, 4)
    with pytest.raises(CourseError, match=f"{place}.* was ") as error:
        small_run(tmp_path, 4, changed=("model", "scheduler", "stop", "optimizer"), **change)
    assert "changed=" not in error.value.remedy


def test_statistics_that_a_bad_batch_spoiled_are_not_kept(tmp_path):
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 1))

    class Spoiled(Twos):
        def __iter__(self):
            for at, loss in enumerate(super().__iter__()):
                if at == 4:
                    loss = self.model(torch.full((3, 4), torch.nan)).mean()
                yield loss

    kept = Checkpoints(tmp_path, every=3)
    with pytest.raises(CourseError, match="Step 4 has a loss of nan") as error:
        train(model, Spoiled(model, 20), checkpoints=kept, watch="nothing")
    assert f"Step 3 is saved in {tmp_path}" in error.value.remedy
    assert sorted(tmp_path.glob("*.json"))[-1].stem == "step-000000003"


def test_parameters_that_are_not_finite_are_not_kept(tmp_path):
    model = nn.Linear(4, 1)
    sgd = torch.optim.SGD(model.parameters(), lr=1e38)
    kept = Checkpoints(tmp_path, every=1)
    with pytest.raises(CourseError, match="is not finite: that step is not saved"):
        losses = Regression(model, 20)
        train(model, losses, optimizer=sgd, clip=None, checkpoints=kept, watch="nothing")
    names_kept = [path.stem for path in tmp_path.glob("*.json")]
    assert "step-000000000" in names_kept


def test_tied_weights_are_stored_once_and_come_back_tied(tmp_path):
    def run(folder):
        torch.manual_seed(0), np.random.seed(0)
        model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Linear(4, 1))
        model[2].weight = model[0].weight
        kept = folder and Checkpoints(folder, every=3)
        history = train(model, Regression(model, 7), checkpoints=kept, watch="nothing")
        return model, history

    (one, first), (other, second) = run(tmp_path), run(tmp_path)
    assert first == second and torch.equal(one[2].weight, other[2].weight)
    assert other[2].weight is other[0].weight
    entry = json.loads((tmp_path / "step-000000007.json").read_text())["state"]["run"]["model"]
    assert entry["0.weight"] == entry["2.weight"]


def same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=True)
        return type(one) is type(other) and all(k == j and same(v, w) for (k, v), (j, w) in pairs)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(map(same, one, other)) and len(one) == len(other)
    return type(one) is type(other) and repr(one) == repr(other)


def random_tree(draw: random.Random, depth: int = 0):
    """A tree as a state may be, with names that the file's own layout uses too."""
    leaves = [
        lambda: draw.choice(
            [None, True, False, 0, -(10**20), 0.1, -0.0, "", "tensor", "é\u2028\0"]
        ),
        lambda: draw.choice([float("inf"), float("nan"), 5e-324, 1e308]),
        lambda: torch.randn(draw.choice([(), (0,), (2, 0), (3,), (2, 3)])),
        lambda: torch.randn(4, 3).t(),
        lambda: torch.ones(3, dtype=draw.choice([torch.bfloat16, torch.float16, torch.float64])),
        lambda: torch.tensor([True, False]),
        lambda: np.arange(draw.randrange(4), dtype=draw.choice(["u4", "i8", "f8"])),
        lambda: Counter({3: 2, 9: 1}),
    ]
    if depth > 3 or draw.random() < 0.4:
        return draw.choice(leaves)()
    parts = [random_tree(draw, depth + 1) for _ in range(draw.randrange(4))]
    keys = draw.sample(["tensor", "tuple", "dict", "a", "a.b", "", 0, 1, -5], len(parts))
    return draw.choice([list, tuple, lambda p: dict(zip(keys, p, strict=True))])(parts)


def test_a_state_comes_back_as_it_was(tmp_path):
    for seed in range(60):
        torch.manual_seed(seed)
        tree = {"root": random_tree(random.Random(seed))}
        write_state(tmp_path, "state", tree)
        assert same(tree, read_state(tmp_path, "state")), f"seed {seed}"


def test_two_places_with_one_name_are_two_places(tmp_path):
    tree = {"a": {"b": torch.zeros(2), "c": np.zeros(1)}, "a.b": torch.ones(2), "a.c": np.ones(1)}
    write_state(tmp_path, "state", tree)
    assert same(tree, read_state(tmp_path, "state"))
