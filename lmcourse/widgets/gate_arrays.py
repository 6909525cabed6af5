"""The arrays of Gates: their names, and the equations that they must satisfy."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.packing import Array, as_array, single

# The tolerance of a state relative to 1 + |state|. If all numbers have the relative error δ, that
# of f·c + i·g is at most δ·(3·|c| + 4): hence four times δ.
HALF = 2e-3  # half precision: δ = 2⁻¹¹
BFLOAT16 = 8e-3  # δ = 2⁻⁹


@dataclass(frozen=True)
class Kind:
    """The names of a cell's arrays."""

    name: str
    gates: str  # between 0 and 1
    candidate: str  # between −1 and 1
    keep: str  # the gate that multiplies the previous state
    state: str
    arrays: str


LSTM = Kind("LSTM", gates="fio", candidate="g", keep="f", state="c", arrays="fiogch")
GRU = Kind("GRU", gates="zr", candidate="n", keep="z", state="h", arrays="zrnh")
KINDS = (LSTM, GRU)
OTHER = ("before", "cell_clip")


def checked(
    given: Mapping[str, Any], where: str, shape: tuple[int | None, int | None] = (None, None)
) -> tuple[Kind, dict[str, Array]]:
    """Return the arrays of one direction as float32, with ``before`` and ``ends``.

    ``ends`` are the largest |state|, and its limit; 0: none.

    Args:
        given: arrays by name, possibly with ``before`` and ``cell_clip``.
        where: the direction, for messages.
        shape: (time, unit), if known.
    """
    kind = _kind(given, where)
    arrays: dict[str, Array] = {}
    for name in kind.arrays:
        array = as_array(f"{where}{name}", given[name], shape)
        shape = (array.shape[0], array.shape[1])
        if name in kind.gates + kind.candidate:
            _bounded(where + name, array, 0 if name in kind.gates else -1)
        arrays[name] = single(where + name, array)
    units, before, clip = shape[1], given.get("before"), given.get("cell_clip")
    before = np.zeros(units or 0) if before is None else before
    arrays["before"] = single(f"{where}before", as_array(f"{where}before", before, (units,)))
    if clip is not None and (not isinstance(clip, Real) or not float(clip) > 0):
        raise CourseError(f"{where}cell_clip is {clip!r}.", "Pass a positive number, or None.")
    _check_equations(kind, arrays, where, np.inf if clip is None else float(clip))
    most = np.abs(arrays[kind.state]).max() or 1.0
    arrays["ends"] = np.array([most, 0.0 if clip in (None, np.inf) else clip])
    return kind, arrays


def left(keep: Array, pin: int, by: int = 1) -> Array:
    """Return the fraction of each unit's state at ``pin`` that is left at each step; NaN before it.

    Args:
        keep: the forget gate, (time, unit).
        by: 1, or −1 for a backward layer.
    """
    shares = np.full(keep.shape, np.nan)
    after = keep[pin::by].astype(np.float64)
    after[0] = 1
    shares[pin::by] = after.cumprod(0)
    return shares


def saturation(gate: Array) -> Array:
    """Return the fractions of a gate, (time, unit), below 0.1 and above 0.9: (2, unit)."""
    return np.stack([(gate < 0.1).mean(0), (gate > 0.9).mean(0)])


def correlation(states: Array, series: Array) -> Array:
    """Return Pearson's correlation of each unit's state, (time, unit), with a series, (time).

    It is 0 if one of the two is constant.
    """
    a = states - states.mean(0, dtype=np.float64)
    b = series - series.mean(dtype=np.float64)
    size = np.sqrt((a**2).sum(0) * (b**2).sum())
    return np.divide(b @ a, size, out=np.zeros(len(size)), where=size > 0)


def _kind(given: Mapping[str, Any], where: str) -> Kind:
    if not isinstance(given, Mapping):
        raise CourseError(
            f"{where}it is of type {type(given).__name__}, not a dict of arrays.",
            "Pass the arrays by name, such as gates(layer, inputs) returns them.",
        )
    kind = GRU if "z" in given else LSTM
    missing = [name for name in kind.arrays if name not in given]
    unknown = [name for name in given if name not in (*kind.arrays, *OTHER)]
    if missing or unknown:
        wrong = [f"{it} is missing" for it in missing] + [f"{it!r} is unknown" for it in unknown]
        raise CourseError(
            f"{where}{', '.join(wrong)}.",
            "Pass f, i, o, g, c, h of an LSTM, or r, z, n, h of a GRU.",
        )
    return kind


def _bounded(name: str, array: Array, low: int) -> None:
    far = (array < low - 1e-6) | (array > 1 + 1e-6)
    if far.any():
        squashed = "sigmoid" if low == 0 else "tanh"
        raise CourseError(
            f"{name} has the value {array[far][0]:.3g}, not between {low} and 1.",
            f"Pass the outputs of the {squashed}, not its inputs.",
        )


def _tolerance(arrays: Mapping[str, Array]) -> float:
    """Return the tolerance of the equations: values from bfloat16 have 16 zero bits in float32."""
    coarse = any(not (it.view(np.uint32) & 0xFFFF).any() for it in arrays.values())
    return BFLOAT16 if coarse else HALF


def _check_equations(kind: Kind, a: dict[str, Array], where: str, clip: float) -> None:
    """Check that each step follows from the previous one, in the direction of reading."""
    state = a[kind.state]
    backward = where != ""
    start = a["before"][None]
    tolerance = _tolerance({name: a[name] for name in kind.arrays})
    before = (
        np.concatenate([state[1:], start]) if backward else np.concatenate([start, state[:-1]])
    ).astype(np.float64)
    if kind is GRU:
        _equal(
            f"{where}h",
            state,
            (1 - a["z"]) * a["n"] + a["z"] * before,
            "(1 − z)·n + z·h_before",
            tolerance,
        )
        return
    wanted = (a["f"] * before + a["i"] * a["g"]).clip(-clip, clip)
    _equal(f"{where}c", state, wanted, "f·c_before + i·g", tolerance)
    _equal(f"{where}h", a["h"], a["o"] * np.tanh(state), "o·tanh(c)", tolerance)


def _equal(name: str, found: Array, wanted: Array, equation: str, tolerance: float) -> None:
    off = np.abs(found - wanted) / (1 + np.abs(wanted))
    if off.max() > tolerance:
        t, unit = np.unravel_index(off.argmax(), off.shape)
        raise CourseError(
            f"{name}[{t}, {unit}] is {found[t, unit]:.4g}, but {equation} is "
            f"{wanted[t, unit]:.4g}.",
            "Pass arrays (time, unit) of one run, each gate by its name: PyTorch stacks an LSTM's "
            "gates as i, f, g, o and a GRU's as r, z, n. Pass an initial state as before, and "
            "the limit of a clipped cell as cell_clip.",
        )
