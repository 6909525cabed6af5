"""Checks of settings, shared by all widgets."""

import reprlib
from collections.abc import Iterable
from typing import Any, NoReturn

import traitlets

from lmcourse.errors import CourseError

_TAKEN = (
    (traitlets.Bool, "True or False"),
    (traitlets.Int, "an integer"),
    (traitlets.Float, "a number"),
    (traitlets.Unicode, "a string"),
    (traitlets.List, "a list"),
    (traitlets.Dict, "a dictionary"),
)


class Fixed(dict[str, float]):
    """An immutable dictionary: changes in place would not reach the page."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise CourseError(
            "The values of a widget cannot change in place.",
            'Assign new ones: widget.values = {**widget.values, "a": 5}.',
        )

    __setitem__ = __delitem__ = __ior__ = update = setdefault = _refuse
    pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, float]]]:
        """Return a mutable copy."""
        return dict, (dict(self),)


def within(name: str, value: int | float, low: int | float, high: int | float) -> int | float:
    """Return the value after checking that it is between ``low`` and ``high``."""
    if not low <= value <= high:  # also for NaN
        raise CourseError(
            f"{name} is {_written(value)}, not between {low:g} and {high:g}.",
            "Choose a value in that range.",
        )
    return value


def index_below(name: str, value: int | None, count: int) -> int | None:
    """Return the value after checking that it is None, or an integer from 0 to ``count`` − 1."""
    if value is None:
        return None
    if within(name, value, 0, count - 1) != int(value):
        raise CourseError(f"{name} is {value:g}, not an integer.", "Count from 0.")
    return int(value)


def one_of(name: str, value: str, choices: Iterable[str]) -> str:
    """Return the value after checking that it is one of the choices."""
    known = list(choices)
    if value not in known:
        raise CourseError(
            f"The {name} {value!r} is unknown.",
            f"Choose one of {', '.join(known)}.",
        )
    return str(value)


def plain(value: Any) -> Any:
    """Return the value with Python numbers and lists in place of arrays and tensors."""
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(it) for it in value] if isinstance(value, list | tuple) else value


def wrong_kind(trait: Any, value: Any) -> CourseError:
    """Return the error for a value of another type than the trait's.

    Args:
        trait: its ``help``, if there is one, describes its type.
    """
    kind = _kind(trait) + " or None" * trait.allow_none
    return CourseError(f"{trait.name} is {shown(value)}, not {kind}.", f"Pass {kind}.")


def shown(value: Any) -> str:
    """Return ``repr(value)``, shortened."""
    try:
        return reprlib.repr(value)
    except ValueError:  # thousands of digits
        return "a very large number"


def _kind(trait: Any) -> str:
    found = next((words for it, words in _TAKEN if isinstance(trait, it)), "another value")
    inner = getattr(trait, "_trait", None)  # of a list
    each = f" of {_kind(inner).split(' ', 1)[-1]}s" if inner and found == "a list" else ""
    return trait.help or found + each


def _written(value: float) -> str:
    try:
        return f"{value:g}"
    except OverflowError:  # an integer larger than any float
        return "too large"
