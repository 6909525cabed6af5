"""What measures are given, looked at first: one label, answer or number an example.

scikit-learn and SciPy refuse some of what is wrong here and go on with the rest: a NaN becomes a
class, a number is held against a string.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from lmcourse.errors import CourseError

_ONE_EACH = "Pass a list with one value an example, all numbers or all strings."


def column(name: str, values: Any) -> NDArray[Any]:
    """One value an example, as an array.

    Raises:
        CourseError: there is no value; there are several an example; they are of several kinds.
    """
    values = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    try:
        found = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise CourseError(f"{name} has rows of different lengths.", _ONE_EACH) from None
    if found.ndim != 1:
        remedy = "Of scores for each class take the best one: logits.argmax(-1)."
        raise CourseError(
            f"{name} has the shape {found.shape}.", remedy if found.ndim == 2 else _ONE_EACH
        )
    if not len(found):
        raise CourseError(f"{name} is empty.", "Pass the labels and predictions of some examples.")
    if found.dtype.kind in "OU":  # NumPy makes strings of [1, "one"] without a word
        kinds = {"str" if isinstance(value, str) else type(value).__name__ for value in values}
        if kinds != {"str"}:
            raise CourseError(f"{name} has values of type {', '.join(sorted(kinds))}.", _ONE_EACH)
        found = found.astype(str)
    return found


def finite(name: str, values: Any) -> Float[np.ndarray, " example"]:
    """One finite number an example, in float64.

    Raises:
        CourseError: as in `column`; they are no numbers; one is NaN or infinite.
    """
    found = column(name, values)
    if found.dtype.kind not in "iufb":
        raise CourseError(f"{name} has the type {found.dtype}: no numbers.", "Pass numbers.")
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        at = int(np.isfinite(found).argmin())
        raise CourseError(
            f"{name}[{at}] is {found[at]}.",
            "Find out where it comes from: a score of the rest alone would be another one.",
        )
    return found


def same_length(**columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Columns that have one value for each of the same examples.

    Raises:
        CourseError: their lengths differ.
    """
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{n:,} {name}" for name, n in lengths.items())
        raise CourseError(f"There are {told}.", "Pass one of each for every example, in one order.")
    return tuple(columns.values())
