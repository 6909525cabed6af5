"""Ctrl-C: the step is finished and kept, and then a training is interrupted like all else."""

import signal
import threading

import pytest
import torch
from torch import nn

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.training.loop import train
from research.runs import Checkpoints
from research.runs.stopping import EarlyStopping
from tests.training.small_runs import Regression, digest, small_run


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def _python_s_own_handler():
    """What Python does on Ctrl-C; and it does it again after each test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, before)
    assert after is signal.default_int_handler


class Pressed(Regression):
    """Losses in the midst of which someone presses Ctrl-C so many times."""

    at_loss, times = 34, 1

    def __iter__(self):
        for loss in super().__iter__():
            for _ in range(self.times if self.at == self.at_loss else 0):
                signal.raise_signal(signal.SIGINT)
            yield loss


Pressed.__name__ = "Regression"


@pytest.fixture
def pressed(monkeypatch):
    """Press Ctrl-C while a small run computes the second of the two losses of its 17th step."""

    def press(times: int = 1, at: int = 34) -> None:
        monkeypatch.setattr(Pressed, "times", times)
        monkeypatch.setattr(Pressed, "at_loss", at)
        monkeypatch.setattr(
            "tests.training.small_runs.Regression", Pressed if times else Regression
        )

    return press


@pytest.mark.parametrize("at", [1, 33, 34, 40, 60])
def test_ctrl_c_keeps_the_step_and_running_again_goes_on(tmp_path, pressed, at):
    """Step 20, of losses 39 and 40, is looked at too; and 60 is the last loss of all."""
    whole = digest(*small_run(None))
    pressed(at=at)
    with pytest.raises(KeyboardInterrupt):
        small_run(tmp_path, every=1000)
    newest = sorted(tmp_path.glob("*.json"))[-1].stem
    assert newest == f"step-{(at + 1) // 2:09d}"
    pressed(0)
    assert digest(*small_run(tmp_path, every=1000)) == whole


def test_a_second_ctrl_c_interrupts_at_once(tmp_path, pressed):
    pressed(2)
    with pytest.raises(KeyboardInterrupt):
        small_run(tmp_path, every=1000)
    assert [path.stem for path in tmp_path.glob("*.json")] == ["step-000000000"]


def test_ctrl_c_gives_the_best_parameters_back(tmp_path):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    scores = iter([3.0, 1.0, 2.0, 0.0])
    stop = EarlyStopping(lambda model: next(scores), every=2)

    def losses():
        for step in range(1, 100):
            if step == 7:
                signal.raise_signal(signal.SIGINT)
            yield -model(torch.ones(1, 1)).sum()

    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    with pytest.raises(KeyboardInterrupt):
        train(model, losses(), optimizer=sgd, clip=None, stop=stop, watch="nothing")
    assert model.weight.item() == stop.best_step == 4
    assert [step for step, _ in stop.scores] == [2, 4, 6]  # an uninterrupted run looks at no 7th


def test_an_error_in_the_same_step_does_not_swallow_ctrl_c():
    model = nn.Linear(1, 1)

    def losses():
        signal.raise_signal(signal.SIGINT)
        raise CourseError("Broken.", "Mend it.")
        yield

    with pytest.raises(KeyboardInterrupt) as interrupted:
        train(model, losses(), watch="nothing")
    assert isinstance(interrupted.value.__context__, CourseError)


def test_a_handler_that_is_not_python_s_is_left_alone():
    heard, model = [], nn.Linear(1, 1)

    def losses():
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
            yield model(torch.ones(1, 1)).sum()

    for handler in (lambda number, frame: heard.append(number), signal.SIG_IGN):
        before = signal.signal(signal.SIGINT, handler)
        try:
            assert len(train(model, losses(), watch="nothing").losses) == 3
            assert signal.getsignal(signal.SIGINT) is handler
        finally:
            signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT] * 3


def test_a_thread_trains_without_the_signal():
    model, found = nn.Linear(1, 1), []

    def losses():
        for _ in range(3):
            found.append(signal.getsignal(signal.SIGINT))
            yield model(torch.ones(1, 1)).sum()

    thread = threading.Thread(target=lambda: train(model, losses(), watch="nothing"))
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler] * 3


def test_a_training_that_is_interrupted_before_its_first_step_is_no_training_of_no_steps(tmp_path):
    model = nn.Linear(4, 1)

    class Begins(Checkpoints):
        def _begin(self, run):
            super()._begin(run)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(model, Regression(model, 3), checkpoints=Begins(tmp_path), watch="nothing")
    assert [path.stem for path in tmp_path.glob("*.json")] == ["step-000000000"]
