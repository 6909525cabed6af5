"""The labs' checks: what an exercise asks, how an answer is judged, the hint of each wrong answer.

``lab02`` lists the exercises of lab 02; it is beside the lab's text, in the checkout's folder
``labs``. Each exercise names its `kit.Task`: a reference, examples, and a table of slips with their
hints. `answer` calls the student's function on the examples and keeps the kernel safe from it;
`results` reads and compares what it returns.
"""

import importlib
import pkgutil

from lmcourse import checkout
from lmcourse.errors import CourseError
from lmcourse.labs.check import Exercise

__all__ = ["Exercise", "exercises"]

__path__.append(str(checkout.labs()))


def exercises(number: str) -> list[Exercise]:
    """The exercises of lab ``number`` ("02" or "2"), in order; CourseError: no such lab."""
    name = f"lab{number:0>2}"
    known = [each.name for each in pkgutil.iter_modules(__path__) if each.name.startswith("lab")]
    if name not in known:
        labs = ", ".join(lab.removeprefix("lab") for lab in known)
        raise CourseError(f"There is no lab {number!r}.", f"These labs have exercises: {labs}.")
    found: list[Exercise] = importlib.import_module(f"{__name__}.{name}").lab.exercises
    return found
