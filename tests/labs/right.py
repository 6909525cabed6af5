"""Right answers that are written differently from the master's, as `rightNN.py` lists them."""

from collections.abc import Callable
from typing import Any, NamedTuple

Function = Callable[..., Any]


class RightAnswer(NamedTuple):
    """A right answer to an exercise ("08-entry")."""

    exercise: str
    name: str
    function: Function


def rights(lab: str, into: list[RightAnswer]) -> Callable[[str], Callable[[Function], Function]]:
    """A decorator that keeps right answers to a lab's exercises: ``@right("entry")``."""

    def right(exercise: str) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            into.append(RightAnswer(f"{lab}-{exercise}", function.__name__, function))
            return function

        return add

    return right
