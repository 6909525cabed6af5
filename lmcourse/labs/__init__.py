"""The labs' checks: what an exercise asks, how an answer is judged, what each wrong answer is told.

``lab02`` lists the exercises of lab 02, each with a judge in a module of its own. A judge is short:
it calls the answer on random probes (`answer.py` keeps the kernel safe from it), reads what came
back (`values.py`), and either returns a fact worth knowing or raises `Wrong("the likely cause")`.
"""

import importlib
import pkgutil

from lmcourse.errors import CourseError
from lmcourse.labs.check import Exercise

__all__ = ["Exercise", "exercises"]


def exercises(number: str) -> list[Exercise]:
    """The exercises of lab ``number`` ("02" or "2"), in order; CourseError: no such lab."""
    name = f"lab{number:0>2}"
    known = sorted(
        found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith("lab")
    )
    if name not in known:
        labs = ", ".join(lab.removeprefix("lab") for lab in known)
        raise CourseError(f"There is no lab {number!r}.", f"These labs have exercises: {labs}.")
    module = importlib.import_module(f"{__name__}.{name}")
    found = [value for value in vars(module).values() if isinstance(value, Exercise)]
    return sorted(found, key=lambda exercise: exercise.name)
