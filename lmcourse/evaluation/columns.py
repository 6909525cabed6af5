"""Conversion of labels, predictions and scores to arrays with one value per example.

scikit-learn and SciPy accept some mistakes silently: NumPy turns ``[1, "one"]`` into strings, and a
NaN becomes a class of its own.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from lmcourse.errors import CourseError


def as_arrays(values: Any) -> Any:
    """Convert tensors, or those in a list, to NumPy arrays (detached, on the CPU).

    NumPy has no bfloat16; half precision becomes float32, without loss.
    """
    if isinstance(values, list | tuple) and any(isinstance(each, Tensor) for each in values):
        return [as_arrays(each) for each in values]
    if not isinstance(values, Tensor):
        return values
    values = values.detach().cpu()
    half = values.is_floating_point() and values.element_size() < 4
    return (values.float() if half else values).numpy()


def column(name: str, values: Any) -> NDArray[Any]:
    """Return one number or one string per example as an array."""
    values = as_arrays(values)
    array = np.array(values, object) if _mixed(values) else np.asarray(values)
    if array.ndim != 1 or not len(array) or array.dtype.kind == "O":
        what = "values of several types" if array.dtype.kind == "O" else f"the shape {array.shape}"
        raise CourseError(
            f"{name} has {what}.",
            "Pass one value per example, all numbers or all strings; of one score per class, "
            "scores.argmax(-1).",
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise CourseError(
            f"{name}[{int(np.isnan(array).argmax())}] is nan.",
            "Find out where it comes from: the score of the remaining examples is another score.",
        )
    return array


def _mixed(values: Any) -> bool:
    """Whether a list holds strings and other values, which NumPy would make strings."""
    kinds = {isinstance(it, str) for it in values} if isinstance(values, list | tuple) else set()
    return len(kinds) > 1


def finite(name: str, values: Any) -> Float[np.ndarray, " example"]:
    """Return one finite number per example in float64."""
    array = column(name, values)
    if array.dtype.kind not in "iufb":
        raise CourseError(f"{name} has the type {array.dtype}.", "Pass numbers.")
    if not np.isfinite(array).all():
        at = int(np.isfinite(array).argmin())
        raise CourseError(f"{name}[{at}] is {array[at]}.", "Find out where it comes from.")
    return array.astype(np.float64)


def same_length(**columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the columns if they have one value for each of the same examples."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{n:,} {name}" for name, n in lengths.items())
        raise CourseError(f"There are {listed}.", "Pass one of each per example, in one order.")
    return tuple(columns.values())


def numbered(groups: Any, n: int) -> Int[np.ndarray, " example"]:
    """Return the group of each of n examples as an integer from 0; groups may have any names."""
    names = column("groups", groups)
    same_length(examples=np.empty(n), groups=names)
    return np.unique(names, return_inverse=True)[1]
