"""A student's answer, as a judge may use it: called within limits, on copies, whatever it does.

Each way in which a call can go astray becomes `Wrong` with a sentence for the student.
"""

import copy
import inspect
import linecache
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from torch import Tensor

import lmcourse
from lmcourse.labs import guards, limits
from lmcourse.labs.values import kind, unchanged
from lmcourse.labs.verdict import Unwritten, Wrong

_COURSE = str(Path(lmcourse.__file__).parent)
_OF_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # *args, **options


class Answer:
    """What the student handed in: a function to call, or a value to read."""

    def __init__(self, given: Any, seconds: float = 5.0) -> None:
        self._given = given
        self._seconds_left = self._seconds = seconds
        self.printed = ""  # what the last call printed

    @property
    def value(self) -> Any:
        """A copy of the value that was handed in, for exercises that ask for one."""
        if self._given is ...:
            raise Unwritten
        if inspect.isroutine(self._given):
            raise Wrong(
                "The check wants the result, but was given a function: call it, and pass what it "
                "returns."
            )
        return copy.deepcopy(self._given)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function on copies of the arguments, and return what it returns.

        Raises:
            Wrong: it raises, takes other arguments, prints or yields in place of returning, runs
                too long, changes its arguments or the interpreter.
            Unwritten: it raises NotImplementedError, as the stub does.
        """
        self._check_callable(arguments)
        copies = copy.deepcopy(arguments)
        with guards.captured() as streams, guards.unpatched() as replaced, guards.usual_state():
            result, error = self._run(copies)
        printed, warned = (stream.text.strip() for stream in streams)
        self.printed = "\n".join(filter(None, (printed, warned)))
        if error is not None:
            raise self._explained(error)
        if replaced:
            raise Wrong(
                f"Your function replaces `{replaced[0]}`, which all other code uses too (the check "
                "has put it back). Give your own version a name of its own."
            )
        _check_result(result, bool(printed))
        for index, (original, used) in enumerate(zip(arguments, copies, strict=True)):
            if not unchanged(original, used):
                name = self._name(index)
                raise Wrong(
                    f"Your function changes its argument {name} in place, so whoever called it "
                    f"loses the original: {_instead(original, used, name)}."
                )
        return result

    def _run(self, arguments: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
        """The result, or what was raised; the reader's own Ctrl-C goes through."""
        started = time.monotonic()
        with limits.interrupts() as interrupted:
            try:
                result = limits.call_within(max(self._seconds_left, 0.1), self._given, *arguments)
                error: BaseException | None = None
            # SystemExit and TimeUp too: nothing that an answer raises may end the cell.
            except BaseException as raised:
                result, error = None, raised
            finally:
                self._seconds_left -= time.monotonic() - started
        if interrupted():
            raise KeyboardInterrupt
        return result, error

    def _explained(self, error: BaseException) -> Exception:
        """What the student is told about an exception."""
        if isinstance(error, limits.TimeUp):
            return Wrong(
                f"Your function was still running after {self._seconds:g} seconds and was stopped: "
                "is there a loop that never ends, or one that waits (`input()`, `time.sleep`)?"
            )
        line = _their_line(error.__traceback__)
        if isinstance(error, NotImplementedError) and line.startswith("raise NotImplementedError"):
            return Unwritten()
        if isinstance(error, RecursionError):
            return Wrong(
                "Your function calls itself without end: it needs a case in which it stops."
            )
        if isinstance(error, (SystemExit, KeyboardInterrupt)):
            return Wrong(
                f"Your function tries to end the program (`{type(error).__name__}`): use `return` "
                "to leave a function."
            )
        if isinstance(error, MemoryError):
            return Wrong("Your function ran out of memory: does a list or a tensor grow in a loop?")
        where = f" in this line of yours: `{line}`" if line else ""
        return Wrong(
            f"Your function raised `{type(error).__name__}`{where}\n{_text(error)}".rstrip()
        )

    def _check_callable(self, arguments: tuple[Any, ...]) -> None:
        if self._given is ...:
            raise Unwritten
        if not callable(self._given):
            raise Wrong(
                f"The check calls your function itself, but was given {kind(self._given)}: pass "
                "the function's name alone, without parentheses behind it."
            )
        try:
            signature = inspect.signature(self._given)
        except (TypeError, ValueError):
            return  # some compiled functions have none
        try:
            signature.bind(*arguments)
        except TypeError:
            count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
            raise Wrong(
                f"The check calls your function with {count}, which "
                f"`{_name(self._given)}{signature}` does not take: is this the right "
                "function? If it is, keep the `def` line as it was given."
            ) from None

    def _name(self, index: int) -> str:
        """What to call an argument: "`x`", or "number 3" if it has no name of its own."""
        try:
            parameters = inspect.signature(self._given).parameters.values()
        except (TypeError, ValueError):
            parameters = {}.values()
        names = [each.name for each in parameters if each.kind not in _OF_MANY]
        return f"`{names[index]}`" if index < len(names) else f"number {index + 1}"


def _check_result(result: Any, printed: bool) -> None:
    """Refuse what is no result at all."""
    if result is None:
        raise Wrong(
            "Your function returns nothing (`None`)"
            + (
                ", and it printed something: if that was the result, `return` it."
                if printed
                else ": does it end in `return ...`, on every path?"
            )
        )
    if inspect.isgenerator(result):
        expression = result.gi_code.co_name == "<genexpr>"
        raise Wrong(
            "Your function returns a generator expression, `(... for ...)` in round brackets, "
            "which holds no values yet: square brackets, `[... for ...]`, make a list of them."
            if expression
            else "Your function uses `yield`, so calling it gives a generator, not a result: use "
            "`return`."
        )
    if inspect.iscoroutine(result):
        result.close()
        raise Wrong(
            "Your function begins with `async`, so calling it gives a coroutine, not a result: "
            "use a plain `def`."
        )


def _instead(original: Any, used: Any, name: str) -> str:
    """How to leave an argument as it is, by what was changed of it; ``name`` is in backquotes."""
    if isinstance(original, (list, tuple)) and len(original) == len(used):
        for before, after in zip(original, used, strict=True):
            if isinstance(before, (Tensor, np.ndarray)) and not unchanged(before, after):
                return _instead(before, after, "")
    x = name.strip("`") if name.startswith("`") else "x"
    if isinstance(original, Tensor):
        return (
            f"`{x} *= 2`, `{x}[0] = 2` and methods whose names end in `_` write into it. Write "
            f"`{x} = {x} * 2`, or begin with `{x} = {x}.clone()`"
        )
    if isinstance(original, np.ndarray):
        return (
            f"`{x} *= 2`, `{x}[0] = 2` and methods such as `sort` write into it. Write "
            f"`{x} = {x} * 2`, or begin with `{x} = {x}.copy()`"
        )
    if isinstance(original, list):
        return (
            f"`{x}.pop()`, `{x}.append(2)`, `{x}.sort()`, `{x} += [2]` and `{x}[0] = 2` change the "
            f"list itself. Begin with `{x} = list({x})`"
        )
    return "work on a copy"


def _their_line(traceback: TracebackType | None) -> str:
    """The last line of the student's own code that an exception passed, without its indentation."""
    found = ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if _is_theirs(name):
            found = linecache.getline(
                name, traceback.tb_lineno, traceback.tb_frame.f_globals
            ).strip()
        traceback = traceback.tb_next
    return found


def _is_theirs(filename: str) -> bool:
    library = (_COURSE, sysconfig.get_path("stdlib"), "<frozen")
    return not filename.startswith(library) and "site-packages" not in filename


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # their own exception class, with a __str__ that fails
        return ""
    return text if len(text) <= 400 else text[:400] + " …"


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", "your function"))
