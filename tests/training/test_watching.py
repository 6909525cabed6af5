"""What is seen of a training: in a notebook, on a terminal, in a pipe; and after an error."""

import io
import re
import time
from contextlib import redirect_stderr, suppress

import pytest

from lmcourse.errors import CourseError
from lmcourse.training import watching
from lmcourse.training.fit import History
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
    ("watch", "text"), [("line", ""), ("log", "3 steps · loss 1.000\n"), ("nothing", "")]
)
def test_a_pipe_gets_a_line_at_most(watch, text):
    assert grown(watch, io.StringIO()) == text


@pytest.mark.parametrize("watch", ["line", "log", "nothing"])
def test_no_step_is_no_loss(watch):
    assert not re.search(r"loss \d|nan", grown(watch, steps=0))


@pytest.mark.parametrize("watch", ["line", "log"])
def test_a_terminal_gets_one_line_that_is_rewritten(watch):
    text = grown(watch)
    assert "\r2 steps · loss 2.000" in text and text.endswith("\r3 steps · loss 1.000\x1b[K\n")


def test_a_terminal_gets_the_number_of_steps_if_it_is_known():
    assert "\r8 of 1,000 steps · loss 1.000" in grown("log", total=1000, before=5)


@pytest.mark.parametrize("watch", ["line", "log"])
@pytest.mark.parametrize("fail", [KeyboardInterrupt(), CourseError("Bad.", "Mend it.")])
def test_an_error_leaves_the_terminal_in_order_and_the_loss(watch, fail):
    text = grown(watch, fail=fail)
    assert "3 steps" in text and "loss 1.000" in text and plain(text).endswith("\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")


def test_only_the_first_process_shows_something(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert grown("log") == grown("line") == ""


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
