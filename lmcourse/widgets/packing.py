"""Arrays on their way to a browser: checked, and packed into one run of bytes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmcourse.errors import CourseError

Array = NDArray[Any]
Index = dict[str, dict[str, Any]]
WHOLE = ("uint8", "uint16")  # what stays as it is; the rest becomes float32


def as_array(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """The value as a NumPy array of finite numbers and of a shape; None stands for any length.

    Booleans become 0 and 1.

    Raises:
        CourseError: it is none; the message names the argument, and both shapes.
    """
    if hasattr(value, "detach"):  # a tensor, on whatever device
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which NumPy does not know
            value = value.float()
    try:
        array = np.asarray(value)
        array = array.astype(np.int64) if array.dtype == bool else array
        numbers = np.issubdtype(array.dtype, np.number) and not np.iscomplexobj(array)
    except (TypeError, ValueError, RuntimeError):  # rows of unequal lengths, for one
        numbers = False
    if not numbers:
        raise CourseError(
            f"{name} is not an array of real numbers.",
            "Pass a NumPy array or a tensor.",
        )
    fits = len(array.shape) == len(shape) and all(
        want in (None, got) and got > 0 for got, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise CourseError(
            f"{name} has the shape {_written(array.shape)}, where {_written(shape)} is needed.",
            f"Pass an array of that shape{'; … stands for any length from 1' * (None in shape)}.",
        )
    if not np.isfinite(array).all():
        raise CourseError(
            f"{name} holds numbers that are not finite (inf or nan).",
            "Look for a division by zero or a training that diverged before this cell.",
        )
    return array


def as_booleans(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """The value as an array of 0 and 1, uint8.

    Raises:
        CourseError: it holds something else, or has another shape.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
        plain = array.astype(np.uint8) if array.dtype == bool else array
        fits = bool(((plain == 0) | (plain == 1)).all())
    except (TypeError, ValueError, RuntimeError):
        plain, fits = value, True  # as_array says what is wrong
    if not fits:
        raise CourseError(
            f"{name} holds something other than 0 and 1.",
            "Give booleans. Of a mask that is added to the scores (0 and -inf), mask == 0 gives "
            "them.",
        )
    return as_array(name, plain, shape).astype(np.uint8)


def pack(arrays: Mapping[str, Array]) -> tuple[bytes, Index]:
    """All arrays as bytes, little-endian and row by row, and where each of them lies.

    uint8 and uint16 stay what they are; everything else becomes float32.
    """
    parts: list[bytes] = []
    index: Index = {}
    offset = 0
    for name, array in arrays.items():
        dtype = array.dtype.name if array.dtype.name in WHOLE else "float32"
        sent = single(name, array) if dtype == "float32" else array
        part = np.ascontiguousarray(sent, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()
        index[name] = {"dtype": dtype, "shape": list(array.shape), "offset": offset}
        parts.append(part)
        offset += len(part)
    return b"".join(parts), index


def single(name: str, array: Array) -> Array:
    """The array in single precision, as a browser gets it.

    Raises:
        CourseError: a number is too large for that.
    """
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32)
    if not np.isfinite(rounded).all():
        raise CourseError(
            f"{name} holds numbers too large for float32.",
            "Scale the array down, or look for a training that diverged; browsers get it in single "
            "precision.",
        )
    return rounded


def _written(shape: tuple[int | None, ...]) -> str:
    lengths = ["…" if length is None else str(length) for length in shape]
    return f"({', '.join(lengths)}{',' * (len(lengths) == 1)})"
