"""Arrays for a browser: checked, and packed into one sequence of bytes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmcourse.errors import CourseError

Array = NDArray[Any]
Index = dict[str, dict[str, Any]]
INTEGERS = ("uint8", "uint16")  # are sent unchanged; all others as float32


def numbers(value: Any) -> Array | None:
    """Return the value as an array of numbers or booleans; None if it is not one."""
    try:
        if hasattr(value, "detach"):  # a tensor on any device
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":  # NumPy has no such type
                value = value.float()
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # rows of unequal lengths, or a meta tensor
        return None
    return array if array.dtype.kind in "fiub" else None


def as_array(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """Return the value as a NumPy array of finite numbers; booleans become 0 and 1.

    Args:
        name: the argument's name, for messages.
        shape: the required shape; None is any length.
    """
    array = numbers(value)
    if array is None:
        raise CourseError(
            f"{name} is not an array of real numbers.",
            "Pass a NumPy array or a tensor.",
        )
    array = array.astype(np.int64) if array.dtype == bool else array
    fits = len(array.shape) == len(shape) and all(
        want in (None, got) and got > 0 for got, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise CourseError(
            f"{name} has the shape {_written(array.shape)}, not {_written(shape)}.",
            f"Pass an array of that shape{'; … is any length from 1' * (None in shape)}.",
        )
    if not np.isfinite(array).all():
        raise CourseError(
            f"{name} has numbers that are not finite (inf or nan).",
            "Check for a division by zero, or a training that diverged.",
        )
    return array


def as_booleans(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """Return the value as an array of 0 and 1, uint8."""
    array = numbers(value)
    if array is not None and not np.isin(array, (0, 1)).all():
        raise CourseError(
            f"{name} has values other than 0 and 1.",
            "Pass booleans; for an additive mask of 0 and -inf, pass mask == 0.",
        )
    return as_array(name, value, shape).astype(np.uint8)


def pack(arrays: Mapping[str, Array]) -> tuple[bytes, Index]:
    """Return all arrays as little-endian bytes in row-major order, and the index of each.

    uint8 and uint16 are kept; all other types become float32.
    """
    parts: list[bytes] = []
    index: Index = {}
    offset = 0
    for name, array in arrays.items():
        dtype = array.dtype.name if array.dtype.name in INTEGERS else "float32"
        sent = single(name, array) if dtype == "float32" else array
        part = np.ascontiguousarray(sent, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()
        index[name] = {"dtype": dtype, "shape": list(array.shape), "offset": offset}
        parts.append(part)
        offset += len(part)
    return b"".join(parts), index


def single(name: str, array: Array) -> Array:
    """Return the array as float32."""
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32)
    if not np.isfinite(rounded).all():
        raise CourseError(
            f"{name} has numbers too large for float32.",
            "Scale the array down, or check whether the training diverged.",
        )
    return rounded


def _written(shape: tuple[int | None, ...]) -> str:
    lengths = ["…" if length is None else str(length) for length in shape]
    return f"({', '.join(lengths)}{',' * (len(lengths) == 1)})"


def divergence(p: Array, q: Array) -> NDArray[np.float64]:
    """Return KL(p ‖ q) in nats over the last axis; inf where p > 0 and q = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    nats: NDArray[np.float64] = np.maximum(terms.sum(-1), 0.0)  # rounding may make it negative
    return nats
