"""What a check says, and how it looks: HTML in a notebook, text elsewhere, data for programs."""

import contextlib
import html
import sys
import threading
import uuid
from dataclasses import dataclass
from typing import Any

from lmcourse.show import prose

MIME = "application/vnd.lmcourse.check+json"
_PATIENCE = 3.0  # seconds until a check says that it is running

# Of each state its mark, its words, and its color (Okabe-Ito). The text keeps the page's own color,
# and the tint is transparent: both light and dark pages stay readable.
_LOOKS = {
    "right": ("✔", "Right: {0}", "0,158,115"),
    "wrong": ("✎", "Not yet: {0}", "230,159,0"),
    "unwritten": ("○", "Not written yet: {0}", "86,180,233"),
    "broken": ("⚠", "This check failed, not you: {0}", "213,94,0"),
}


class Wrong(Exception):
    """A check's finding: its text is the hint that the student reads.

    Args:
        hint: the text.
        kind: what went wrong: "value", "shape", "type", "nan", "raised", "time", "memory", "exit",
            "changed" (an argument), "patched" (a library), "autograd", "call".
        error: the exception that the answer raised, if it raised one.
    """

    def __init__(self, hint: str, kind: str = "value", error: BaseException | None = None) -> None:
        super().__init__(hint)
        self.kind, self.error = kind, error


class Unwritten(Exception):
    """The stub is as it was handed out, or there is no function; the text says what to do."""


class CheckFailed(AssertionError):
    """A failed check under LMCOURSE_STRICT=1 (tests, builds); shown without our traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckFailed: {self}"]


@dataclass(frozen=True)
class Verdict:
    """What came out of one check."""

    exercise: str  # "02.1"
    title: str
    state: str  # "right", "wrong", "unwritten", or "broken" (the check itself has a fault)
    message: str
    printed: str = ""  # what the student's function printed meanwhile
    notice: str = ""  # something about the progress file

    @property
    def passed(self) -> bool:
        return self.state == "right"

    @property
    def headline(self) -> str:
        mark, words, _ = _LOOKS[self.state]
        stop = "" if self.title.endswith("?") else "."
        return f"{mark} {words.format(f'{self.exercise} {self.title}{stop}')}"

    def __str__(self) -> str:
        printed = f"Your function printed:\n{self.printed}" if self.printed else ""
        lines = (f"{self.headline} {self.message}".rstrip(), printed, self.notice)
        return "\n".join(filter(None, lines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        data = {"exercise": self.exercise, "passed": self.passed, "hint": self.message}
        return {"text/plain": str(self), "text/html": self._html(), MIME: data}

    def _html(self) -> str:
        color = _LOOKS[self.state][2]
        parts = [f"<strong>{html.escape(self.headline)}</strong> {prose(self.message)}"]
        if self.printed:
            parts.append(
                "<details><summary>▸ What your function printed</summary>"
                f"<pre>{html.escape(self.printed)}</pre></details>"
            )
        if self.notice:
            parts.append(f"<div><small>{prose(self.notice)}</small></div>")
        style = (
            f"border-left:4px solid rgb({color});background-color:rgba({color},.14);"
            "padding:8px 12px;max-width:72ch"
        )
        return f'<div style="{style}">{"".join(parts)}</div>'

    def show(self, notice: "Notice | None" = None) -> None:
        """Display it in a notebook; print it elsewhere, and wherever it cannot be displayed.

        Args:
            notice: that the answer is running; if it was shown, the verdict takes its place.
        """
        if in_notebook():
            # IPython's machinery may be broken: the verdict is worth more than its looks.
            with contextlib.suppress(Exception):
                from IPython.display import display

                shown = (
                    {"display_id": notice.name, "update": True} if notice and notice.name else {}
                )
                display(self._repr_mimebundle_(), raw=True, **shown)
                return
        encoding = sys.stdout.encoding or "utf-8"  # a Windows console may not know the marks
        print(str(self).encode(encoding, "replace").decode(encoding))


class Notice:
    """Says after some seconds that an answer is running, so that the cell does not look dead.

    A context: it ends with the answer. The output is the one at its beginning, since a check
    captures what the answer prints.

    Args:
        seconds: that a call of the answer may compute.
    """

    def __init__(self, seconds: float) -> None:
        self.name = ""  # of the output in a notebook, once it is there
        self._text = f"… Your function is running. A call may compute for {seconds:g} seconds."
        self._out = sys.stdout
        self._publisher: Any = None
        if in_notebook():
            self._publisher = sys.modules["IPython"].get_ipython().display_pub
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> "Notice":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def _show(self) -> None:
        with contextlib.suppress(Exception):  # it is no more than a courtesy
            if self._publisher is None:
                print(self._text, file=self._out, flush=True)
                return
            name = uuid.uuid4().hex
            self._publisher.publish({"text/plain": self._text}, transient={"display_id": name})
            self.name = name


def in_notebook() -> bool:
    """Whether we run in a Jupyter kernel (never imports IPython: if we do, it is loaded)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
