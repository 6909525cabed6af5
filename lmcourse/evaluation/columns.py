"""What measures are given, looked at first: one label, answer or number an example.

scikit-learn and SciPy refuse some of what is wrong here and go on with the rest: a NaN becomes a
class, a number is held against a string.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from lmcourse.errors import CourseError

_WHENCE = "Find out where it comes from: a score of the rest alone would be another one."
_ONE_EACH = "Pass a list with one value an example, all numbers or all strings."


def as_arrays(values: Any) -> Any:
    """Tensors, or those in a list, as arrays that NumPy can hold: without gradients, on the CPU.

    NumPy has no bfloat16; in float32 nothing of it is lost.
    """
    if isinstance(values, list | tuple) and any(isinstance(each, Tensor) for each in values):
        return [as_arrays(each) for each in values]
    if not isinstance(values, Tensor):
        return values
    found = values.detach().cpu()
    small = found.is_floating_point() and found.element_size() < 4
    return (found.float() if small else found).numpy()


def column(name: str, values: Any) -> NDArray[Any]:
    """One value an example, as an array.

    Raises:
        CourseError: there is no value; there are several an example; they are of several kinds;
            one is NaN.
    """
    values = as_arrays(values)
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
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise CourseError(f"{name}[{int(np.isnan(found).argmax())}] is nan.", _WHENCE)
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
            _WHENCE,
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


def truth_values(name: str, values: Any) -> Bool[np.ndarray, " example"]:
    """Whether each example is right.

    Raises:
        CourseError: as in `column`; there are other values than True and False, or 1 and 0.
    """
    found = column(name, values)
    if found.dtype.kind not in "iufb" or not np.isin(found, (0, 1)).all():
        raise CourseError(
            f"{name} holds other values than True and False.",
            "Pass whether each answer is right: predictions == labels.",
        )
    return found.astype(bool)


def numbered(groups: Any, n: int) -> Int[np.ndarray, " example"]:
    """The group of each of n examples, by whatever name, counted from 0.

    Raises:
        CourseError: as in `column`; there are not as many.
    """
    found = column("groups", groups)
    same_length(examples=np.empty(n), groups=found)
    return np.unique(found, return_inverse=True)[1]
