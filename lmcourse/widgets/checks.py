"""What every widget asks of its settings, each refusal with its remedy."""

import reprlib
from collections.abc import Iterable
from typing import Any, NoReturn

import traitlets

from lmcourse.errors import CourseError

_TAKEN = (
    (traitlets.Bool, "True or False"),
    (traitlets.Int, "a whole number"),
    (traitlets.Float, "a number"),
    (traitlets.Unicode, "a string"),
    (traitlets.List, "a list"),
    (traitlets.Dict, "a dictionary"),
)


class Fixed(dict[str, float]):
    """A dictionary as a setting that only a new one replaces: nobody hears of changes inside."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise CourseError(
            "These values are a widget's, and change as a whole.",
            'Give it new ones: widget.values = {**widget.values, "a": 5}.',
        )

    __setitem__ = __delitem__ = __ior__ = update = setdefault = _refuse
    pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, float]]]:
        """A copy is anybody's."""
        return dict, (dict(self),)


def within(name: str, value: int | float, low: int | float, high: int | float) -> int | float:
    """The value, which lies between ``low`` and ``high``.

    Raises:
        CourseError: it does not, or is not a number.
    """
    if not low <= value <= high:  # nan is not, either
        raise CourseError(
            f"{name} is {_written(value)}, outside of {low:g} to {high:g}.",
            "Choose a value in that range.",
        )
    return value


def whole_below(name: str, value: int | None, count: int) -> int | None:
    """The value, a whole number from 0 and below ``count``; None stays what it is.

    Raises:
        CourseError: it is outside, or between two numbers.
    """
    if value is None:
        return None
    if within(name, value, 0, count - 1) != int(value):
        raise CourseError(f"{name} is {value:g}, not a whole number.", "Count from 0.")
    return int(value)


def one_of(name: str, value: str, choices: Iterable[str]) -> str:
    """The value, which is one of the choices.

    Raises:
        CourseError: it is none of them.
    """
    known = list(choices)
    if value not in known:
        raise CourseError(
            f"The {name} {value!r} is not known.",
            f"Choose one of {', '.join(known)}.",
        )
    return str(value)


def plain(value: Any) -> Any:
    """The value with Python's own numbers and lists for those of NumPy and of tensors."""
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(it) for it in value] if isinstance(value, list | tuple) else value


def wrong_kind(trait: Any, value: Any) -> CourseError:
    """What to say of a value that a trait does not take: its ``help``, if it has one, or its type.

    Args:
        trait: one of traitlets.
        value: a number where it takes a string, say.
    """
    kind = _kind(trait) + " or None" * trait.allow_none
    return CourseError(f"{trait.name} is {shown(value)}, not {kind}.", f"Pass {kind}.")


def shown(value: Any) -> str:
    """The value as Python writes it, shortened."""
    try:
        return reprlib.repr(value)
    except ValueError:  # thousands of digits
        return "a very large number"


def _kind(trait: Any) -> str:
    found = next((words for it, words in _TAKEN if isinstance(trait, it)), "another value")
    inner = getattr(trait, "_trait", None)  # of a list
    each = f" of {_kind(inner).removeprefix('a ')}s" if inner and found == "a list" else ""
    return trait.help or found + each


def _written(value: float) -> str:
    try:
        return f"{value:g}"
    except OverflowError:  # a whole number beyond all floats
        return "too large"
