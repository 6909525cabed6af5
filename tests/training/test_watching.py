"""What is seen of a training: in a notebook, on a terminal, in a pipe; and after an error."""

import io
import re
import time
from contextlib import redirect_stderr, suppress

import numpy as np
import pytest

from lmcourse.errors import CourseError
from lmcourse.training import loss_figure, watching
from lmcourse.training.fit import History
from lmcourse.training.loss_figure import describe, draw, envelope, smooth
from lmcourse.training.watching import Watcher


def plain(text: str) -> str:
    """The text without what moves the cursor and colors it."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """Each step is shown, on a terminal that is like any other."""
    monkeypatch.setattr(watching.Line, "seconds", 0.0)
    monkeypatch.setattr(watching, "_SHARE", 1e9)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)


def grown(watch, written=None, steps=3, total=None, fail=None, before=0):
    """Watch a history that grows, and return what was written."""
    written = Terminal() if written is None else written
    history = History([9.0] * before, [1.0] * before)
    with redirect_stderr(written), suppress(type(fail) if fail else ZeroDivisionError):
        with watching.watching(watch, history, total) as watcher:
            for step in range(steps):
                history.record(3.0 - step, 0.5)
                watcher.tick()
            if fail is not None:
                raise fail
        assert fail is None
    return written.getvalue()


@pytest.mark.parametrize(
    ("watch", "text"), [("line", ""), ("plot", "3 steps · loss 1.000\n"), ("nothing", "")]
)
def test_a_pipe_gets_a_line_at_most(watch, text):
    assert grown(watch, io.StringIO()) == text


@pytest.mark.parametrize("watch", ["line", "plot", "nothing"])
def test_no_step_is_no_loss(watch):
    assert not re.search(r"loss \d|nan", grown(watch, steps=0))


@pytest.mark.parametrize("watch", ["line", "plot"])
def test_a_terminal_gets_one_line_that_is_rewritten(watch):
    text = grown(watch)
    assert "\r2 steps · loss 2.000" in text and text.endswith("\r3 steps · loss 1.000\x1b[K\n")


def test_a_terminal_gets_the_number_of_steps_if_it_is_known():
    assert "\r8 of 1,000 steps · loss 1.000" in grown("plot", total=1000, before=5)


@pytest.mark.parametrize("watch", ["line", "plot"])
@pytest.mark.parametrize("fail", [KeyboardInterrupt(), CourseError("Bad.", "Mend it.")])
def test_an_error_leaves_the_terminal_in_order_and_the_loss(watch, fail):
    text = grown(watch, fail=fail)
    assert "3 steps" in text and "loss 1.000" in text and plain(text).endswith("\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")


def test_only_the_first_process_shows_something(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert grown("plot") == grown("line") == ""


@pytest.mark.bad_input
def test_another_way_to_watch_is_refused():
    with pytest.raises(CourseError, match=r"'graph' is not a way.*'line', 'plot', 'nothing'"):
        grown("graph")


@pytest.mark.parametrize("count", [1, 2, 19, 20, 21, 40, 41, 333])
def test_the_running_mean_is_that_of_the_steps_around(count):
    values = np.random.default_rng(count).normal(size=count)
    half = count // 40
    wanted = [values[max(at - half, 0) : at + half + 1].mean() for at in range(count)]
    np.testing.assert_allclose(smooth(values), wanted, atol=1e-12)


def test_many_steps_keep_their_spikes_and_order():
    values = np.random.default_rng(0).normal(size=123_457)
    values[[0, 77_777, 123_456]] = 50.0, -60.0, 70.0
    values[5000:8000] = np.nan
    values[9001:9003] = np.nan, 40.0  # in one column
    steps, few = envelope(values)
    assert len(steps) == len(few) <= loss_figure._POINTS
    assert (np.diff(steps) >= 0).all() and steps[0] == 0 and steps[-1] < 123_457
    assert {50.0, -60.0, 70.0, 40.0} <= set(few)
    assert 0 < np.isnan(few).sum() < 20
    for few_values in (values[:1], values[:600]):
        np.testing.assert_array_equal(envelope(few_values)[1], few_values)


def test_the_figure_shows_loss_mean_and_norm():
    losses, norms = np.linspace(3, 1, 50), np.full(50, 0.25)
    above, below = draw(losses, norms).axes
    np.testing.assert_array_equal(above.lines[0].get_ydata(), losses)
    np.testing.assert_allclose(above.lines[1].get_ydata(), smooth(losses))
    np.testing.assert_array_equal(below.lines[0].get_ydata(), norms)
    assert above.get_ylabel() == "loss in nats" and below.get_yscale() == "linear"
    assert draw(losses, np.linspace(0.1, 2, 50)).axes[1].get_yscale() == "log"


@pytest.mark.parametrize("norms", [[0.0, 0.0], [np.inf, np.nan], [np.inf, 2.0]])
def test_norms_without_a_logarithm_are_left_out(norms):
    losses, norms = np.array([2.0, 1.0]), np.array(norms)
    figure = draw(losses, norms)
    seen = figure.axes[1].lines[0].get_ydata()
    assert seen[~np.isnan(seen)].tolist() == [norm for norm in norms if 0 < norm < np.inf]
    figure.savefig(io.BytesIO())
    assert "nan" not in describe(losses, norms) and "inf" not in describe(losses, norms)


def test_the_words_have_the_numbers():
    losses = np.concatenate([np.linspace(4, 1, 31), np.linspace(1, 2, 11)[1:]])
    norms = np.resize([0.5, np.inf, 3.0], 41)
    text = describe(losses, norms)
    assert "over 41 steps: 4.000 nats" in text and "ends at 1.950" in text
    assert "lowest, 1.067, at step 30." in text and "from 0.5 to 3." in text


def test_drawing_takes_its_share_of_the_time_at_most(monkeypatch):
    monkeypatch.setattr(watching, "_SHARE", 0.02)  # so that 0.1 s of drawing take 5 s
    clock, drawn = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    class Slow:
        seconds = 2.0

        def draw(self):
            drawn.append(clock[0])
            clock[0] += 0.1

        def close(self):
            raise AssertionError

    watcher = Watcher(Slow())
    for _ in range(2000):
        clock[0] += 0.01
        watcher.tick()
    assert drawn == pytest.approx([2.0, 7.1, 12.2, 17.3], abs=0.03)
