"""A student's answer, as a check may use it: called within limits, on copies, whatever it does.

Each way in which a call can fail becomes `Wrong` with a sentence for the student.
"""

import copy
import inspect
import linecache
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

import lmcourse
from lmcourse import checkout
from lmcourse.labs import guards, limits
from lmcourse.labs.results import left_a_gradient, unchanged, with_article
from lmcourse.labs.verdict import Unwritten, Wrong

_COURSE = str(Path(lmcourse.__file__).parent), str(checkout.labs())  # folders of our own code
_OF_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # *args, **options
T = TypeVar("T")


class Answer:
    """A student's function.

    Args:
        function: what was passed to the check.
        seconds: the time limit of one call; three times as much for a function of `torch.compile`,
            whose first call runs a compiler.
    """

    def __init__(self, function: Any, seconds: float = 20.0) -> None:
        compiled = hasattr(function, "_torchdynamo_orig_callable")
        self._function, self._seconds = function, seconds * (3 if compiled else 1)
        self.printed = ""  # what the last call printed

    def call(self, arguments: tuple[Any, ...], read: Callable[[Any, tuple[Any, ...]], T]) -> T:
        """Call the function on copies of the arguments, and read what it returns.

        Args:
            arguments: of the call.
            read: gets the value and the copies, within the same limits: a value may be an object
                of the student's own class, which runs their code when it is read.

        Raises:
            Wrong: it raises, takes other arguments, prints or yields instead of returning, runs
                too long, needs too much memory, changes its arguments or the interpreter.
            Unwritten: it raises NotImplementedError, as the stub does.
        """
        self._check_callable(arguments)
        copies = copy.deepcopy(arguments)
        with guards.captured() as streams, guards.unpatched() as replaced, guards.usual_state():
            result, error = self._run(arguments, copies, read, streams[0])
        printed, warned = (stream.getvalue().strip() for stream in streams)
        self.printed = "\n".join(filter(None, (printed, warned)))
        if error is not None:
            raise self._explained(error)
        if replaced:
            raise Wrong(
                f"Your function replaces `{replaced[0]}`, which all other code uses too (the check "
                "has restored it). Define your own version under another name.",
                "patched",
            )
        assert result is not None
        return result

    def _run(
        self,
        arguments: tuple[Any, ...],
        copies: tuple[Any, ...],
        read: Callable[[Any, tuple[Any, ...]], T],
        printed: guards.Printed,
    ) -> tuple[T | None, BaseException | None]:
        """The result, or what was raised; the reader's own Ctrl-C goes through."""

        def call_and_read() -> T:
            value, unread = self._function(*copies), None
            try:
                _check_returned(value, bool(printed.getvalue().strip()))
                result = read(value, copies)
            except Wrong as wrong:  # a changed argument may be why
                unread = wrong
            for at, (original, used) in enumerate(zip(arguments, copies, strict=True)):
                if not _kept(original, used):
                    raise Wrong(_changed(original, used, self._name(at)), "changed")
            if unread is not None:
                raise unread
            return result

        try:
            with limits.memory():
                return limits.call_within(self._seconds, call_and_read), None
        except limits.Interrupted:
            raise KeyboardInterrupt from None
        # SystemExit and TimeUp too: nothing that an answer raises may end the cell.
        except BaseException as raised:
            return None, raised

    def _explained(self, error: BaseException) -> Exception:
        """What the student reads about an exception."""
        if isinstance(error, limits.TimeUp):
            return Wrong(
                f"Your function was still running after {error}, and was stopped: is there a loop "
                "that never ends, or one that waits (`input()`, `time.sleep`)?",
                "time",
            )
        line = _their_line(error.__traceback__)
        if isinstance(error, Wrong) and not line.startswith("raise"):
            return error  # of our own reading, which runs inside the limits
        if isinstance(error, NotImplementedError) and line.startswith("raise NotImplementedError"):
            return Unwritten("Write your answer in the cell above, run that cell, then this one.")
        text, kind = text_of(error), "raised"
        if isinstance(error, RecursionError):
            hint = "Your function calls itself without end: it needs a case in which it stops."
        elif isinstance(error, (SystemExit, KeyboardInterrupt)):
            name, kind = type(error).__name__, "exit"
            hint = f"Your function tries to end the program (`{name}`): use `return` to leave it."
        elif isinstance(error, MemoryError) or "can't allocate memory" in text:
            hint, kind = "Your function ran out of memory: does a list or a tensor grow?", "memory"
        else:
            where = f" in this line of yours: `{line}`" if line else ""
            hint = f"Your function raised `{type(error).__name__}`{where}\n{text}".rstrip()
            if isinstance(error, NameError):
                hint += "\nAfter a restart of the kernel, first run the cell with the imports."
        return Wrong(hint, kind, error)

    def _check_callable(self, arguments: tuple[Any, ...]) -> None:
        if not callable(self._function):
            raise Wrong(
                "The check calls your function itself, but was given "
                f"{with_article(self._function)}: pass the function without parentheses.",
                "call",
            )
        signature = self._signature()
        try:
            if signature is not None:
                signature.bind(*arguments)
        except TypeError:
            count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
            name = getattr(self._function, "__name__", "your function")
            raise Wrong(
                f"The check calls your function with {count}, which `{name}{signature}` does not "
                "take. If it is the right function, keep its `def` line as it was.",
                "call",
            ) from None

    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self._function)
        except (TypeError, ValueError):
            return None  # some compiled functions have none

    def _name(self, index: int) -> str:
        """What to call an argument: "`x`", or "number 3" if it has no name of its own."""
        signature = self._signature()
        parameters = signature.parameters.values() if signature is not None else ()
        names = [each.name for each in parameters if each.kind not in _OF_MANY]
        return f"`{names[index]}`" if index < len(names) else f"number {index + 1}"


def _check_returned(result: Any, printed: bool) -> None:
    """Refuse what is no result at all."""
    text = ""
    if result is None:
        text = "Your function returns nothing (`None`)" + (
            ", and it printed something: if that was the result, `return` it."
            if printed
            else ": does it end in `return ...`, on every path?"
        )
    elif inspect.isgenerator(result):
        text = (
            "Your function returns a generator, which holds no values yet. It has a `yield` where "
            "`return` is needed, or `(... for ...)` in round brackets, not square ones."
        )
    elif inspect.iscoroutine(result):
        result.close()
        text = "Your function begins with `async` and returns a coroutine: use a plain `def`."
    if text:
        raise Wrong(text, "type")


def _kept(original: Any, used: Any) -> bool:
    """Whether an argument is unchanged; one that can no longer be compared is not."""
    try:
        return unchanged(original, used)
    except Exception:
        return False


def _changed(original: Any, used: Any, name: str) -> str:
    """That an argument was changed, and how to leave it as it is; ``name`` is in backquotes."""
    x = name.strip("`") if name.startswith("`") else "x"
    if left_a_gradient(original, used):
        copied = f"{x}.detach().clone()" if isinstance(original, Tensor) else f"copy.deepcopy({x})"
        return (
            f"Your function leaves a gradient in its argument {name}: a second call would add to "
            f"it. Begin with `{x} = {copied}`."
        )
    ways, copied = "", f"copy.deepcopy({x})"
    if isinstance(original, Tensor):
        ways, copied = f"`{x} *= 2`, `{x}[0] = 2`, `{x}.add_(2)`", f"{x}.clone()"
    elif isinstance(original, np.ndarray):
        ways, copied = f"`{x} *= 2`, `{x}[0] = 2`, `{x}.sort()`", f"{x}.copy()"
    elif isinstance(original, list) and any(isinstance(each, Tensor) for each in original):
        ways, copied = f"`{x}[0] *= 2`, `{x}[0].add_(2)`", f"[each.clone() for each in {x}]"
    elif isinstance(original, list):
        ways, copied = f"`{x} += [2]`, `{x}[0] = 2`, `{x}.pop()`, `{x}.sort()`", f"list({x})"
    return (
        f"Your function changes its argument {name} in place{f' ({ways})' if ways else ''}, so its "
        f"caller loses the original. Begin with `{x} = {copied}`."
    )


def _their_line(traceback: TracebackType | None) -> str:
    """The last line of the student's own code that an exception passed, without its indentation."""
    found = ""
    while traceback is not None:
        frame = traceback.tb_frame
        name = frame.f_code.co_filename
        if not guards.is_library(name) and not name.startswith(_COURSE):
            found = linecache.getline(name, traceback.tb_lineno, frame.f_globals).strip()
        traceback = traceback.tb_next
    return found


def text_of(error: BaseException) -> str:
    """An exception's text, at most 400 characters of it; "" if their own class fails to give it."""
    try:
        text = limits.call_within(1.0, lambda: str(error))
    except limits.Interrupted:
        raise KeyboardInterrupt from None
    except BaseException:
        return ""
    return text if len(text) <= 400 else text[:400] + " …"
