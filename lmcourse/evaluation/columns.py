"""Labels, predictions and scores as arrays with one value per example."""

from typing import Any

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor


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


def column(values: Any, kind: Any = None) -> NDArray[Any]:
    """Return one number or one string per example as an array."""
    return np.asarray(as_arrays(values), kind)


def numbered(groups: Any) -> Int[np.ndarray, " example"]:
    """Return the group of each example as an integer from 0; groups may have any names."""
    return np.unique(column(groups), return_inverse=True)[1]
