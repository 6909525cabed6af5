"""What every widget asks of its settings, each refusal with its remedy."""

from collections.abc import Iterable

from lmcourse.errors import CourseError


def within(name: str, value: float, low: float, high: float) -> float:
    """The value, which lies between ``low`` and ``high``.

    Raises:
        CourseError: it does not, or is not a number.
    """
    if not low <= value <= high:  # nan is not, either
        raise CourseError(
            f"{name} is {value:g}, outside of {low:g} to {high:g}.",
            "Choose a value in that range.",
        )
    return value


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
