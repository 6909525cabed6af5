"""The arrays that Gates takes: their names, and the equations that they must obey."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.packing import Array, as_array, single

# How far a state may be from what its equation gives, as a share of 1 + its modulus. Where all
# numbers are rounded by a share of δ, f·c + i·g is off by at most δ·(3·|c| + 4): four times δ.
HALF = 2e-3  # half precision: δ = 2⁻¹¹
BFLOAT16 = 8e-3  # δ = 2⁻⁹


@dataclass(frozen=True)
class Kind:
    """What the arrays of one kind of cell are called."""

    name: str
    gates: str  # between 0 and 1
    candidate: str  # between −1 and 1
    keep: str  # the gate that the state passes through
    state: str
    arrays: str


LSTM = Kind("LSTM", gates="fio", candidate="g", keep="f", state="c", arrays="fiogch")
GRU = Kind("GRU", gates="zr", candidate="n", keep="z", state="h", arrays="zrnh")
KINDS = (LSTM, GRU)
OTHER = ("before", "cell_clip")


def checked(
    given: Mapping[str, Any], where: str, shape: tuple[int | None, int | None] = (None, None)
) -> tuple[Kind, dict[str, Array]]:
    """The arrays of one direction, in single precision, with ``before`` and ``ends``.

    ``ends`` are the largest modulus of a state, and that which it may have; 0: any.

    Args:
        given: arrays by name, ``before`` and ``cell_clip`` among them or not.
        where: the direction, for messages.
        shape: (time, unit), where it is known.

    Raises:
        CourseError: names, shapes or numbers do not fit.
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
    _obeys(kind, arrays, where, np.inf if clip is None else float(clip))
    most = np.abs(arrays[kind.state]).max() or 1.0
    arrays["ends"] = np.array([most, 0.0 if clip in (None, np.inf) else clip])
    return kind, arrays


def left(keep: Array, pin: int, by: int = 1) -> Array:
    """The share of each unit's state at ``pin`` that is left at each step; NaN before it.

    Args:
        keep: the forget gate, (time, unit).
        by: 1, or −1 where the layer reads from the end.
    """
    shares = np.full(keep.shape, np.nan)
    after = keep[pin::by].astype(np.float64)
    after[0] = 1
    shares[pin::by] = after.cumprod(0)
    return shares


def saturation(gate: Array) -> Array:
    """How often each unit of a gate, (time, unit), is below 0.1, and above 0.9: (2, unit)."""
    return np.stack([(gate < 0.1).mean(0), (gate > 0.9).mean(0)])


def correlation(states: Array, series: Array) -> Array:
    """Pearson's, of each unit's states, (time, unit), with a series, (time).

    0 where one of the two stands still.
    """
    a = states - states.mean(0, dtype=np.float64)
    b = series - series.mean(dtype=np.float64)
    size = np.sqrt((a**2).sum(0) * (b**2).sum())
    return np.divide(b @ a, size, out=np.zeros(len(size)), where=size > 0)


def _kind(given: Mapping[str, Any], where: str) -> Kind:
    if not isinstance(given, Mapping):
        raise CourseError(
            f"{where}it is of type {type(given).__name__}, not a dict of arrays.",
            "Pass the arrays by name, such as gates(layer, inputs) gives them.",
        )
    kind = GRU if "z" in given else LSTM
    missing = [name for name in kind.arrays if name not in given]
    strange = [name for name in given if name not in (*kind.arrays, *OTHER)]
    if missing or strange:
        said = [f"{it} is missing" for it in missing] + [f"{it!r} is not known" for it in strange]
        raise CourseError(
            f"{where}{', '.join(said)}.",
            "Pass f, i, o, g, c, h of an LSTM, or r, z, n, h of a GRU.",
        )
    return kind


def _bounded(name: str, array: Array, low: int) -> None:
    far = (array < low - 1e-6) | (array > 1 + 1e-6)
    if far.any():
        squashed = "sigmoid" if low == 0 else "tanh"
        raise CourseError(
            f"{name} holds {array[far][0]:.3g}, outside of {low} to 1.",
            f"Pass what the {squashed} gave, not what it was given.",
        )


def _tolerance(arrays: Mapping[str, Array]) -> float:
    """How far a state may be from what its equation gives.

    A tensor in bfloat16 comes as float32 with its last 16 bits empty, whoever made that of it.
    """
    coarse = any(not (it.view(np.uint32) & 0xFFFF).any() for it in arrays.values())
    return BFLOAT16 if coarse else HALF


def _obeys(kind: Kind, a: dict[str, Array], where: str, clip: float) -> None:
    """See that each step follows from the one before it, in the direction of reading."""
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
            f"{name}[{t}, {unit}] is {found[t, unit]:.4g}, where {equation} is "
            f"{wanted[t, unit]:.4g}.",
            "Pass the arrays of one run, (time, unit) each, and the gates by their own names: "
            "PyTorch stacks an LSTM's as i, f, g, o and a GRU's as r, z, n. A state that does not "
            "start at 0 goes into before, a clipped cell's limit into cell_clip.",
        )
