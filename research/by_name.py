"""What a command is given by name: a recipe, a claim, a model."""

from collections.abc import Mapping
from typing import TypeVar

from lmcourse.errors import CourseError

T = TypeVar("T")


def by_name(name: str, known: Mapping[str, T], kind: str) -> T:
    """The one of a name.

    Args:
        name: as it was given.
        known: all, by their names.
        kind: what they are, in a word.

    Raises:
        CourseError: there is no such name.
    """
    if name not in known:
        raise CourseError(f"There is no {kind} {name!r}.", f"Choose one of: {', '.join(known)}.")
    return known[name]
