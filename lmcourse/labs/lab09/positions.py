"""09.2 The sinusoids of the places (Vaswani et al. 2017, section 3.5)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_SHAPES = ((8, 8), (7, 12), (13, 2))  # places, width; equal first: a transposed table then fits
_TOLERANCE = 1e-4  # float32 angles will do


def judge(answer: Answer) -> str:
    for places, width in _SHAPES:
        value = _read(answer, places, width)
        wanted = _right(places, width)
        if not same(value, wanted, _TOLERANCE):
            explain(value, MISTAKES, places, width, tolerance=_TOLERANCE)
            raise Wrong(_where(value, wanted))
    return "No number was learned, and no table ends: place one million has a row, too."


def _read(answer: Answer, places: int, width: int) -> Tensor:
    try:
        return tensor(answer(places, width), (places, width))
    except Wrong as wrong:
        if f"[{places}, {2 * width}]" in str(wrong):
            raise Wrong(
                "The table is twice as wide as it should be: there are width / 2 pairs, of a sine "
                "and a cosine each."
            ) from None
        if f"[{places}, {width // 2}]" in str(wrong):
            raise Wrong(
                "Half of the entries are missing: each frequency gives two, a sine and a cosine."
            ) from None
        raise


def _where(value: Tensor, wanted: Tensor) -> str:
    wrong = (value - wanted).abs() > _TOLERANCE
    if bool(wrong[0].any()):
        return (
            "The row of place 0 is not 0, 1, 0, 1, …: there every sine is 0 and every cosine 1. "
            "Is each entry written?"
        )
    entry = int(wrong.any(0).nonzero()[0])
    return (
        f"Entries 0 to {entry - 1} are right, entry {entry} is the first that is not."
        if entry
        else "Already entry 0 is wrong from place 1 on: its frequency is 1, so it is sin(p)."
    )


def _table(
    places: int,
    width: int,
    exponent: Callable[[int, int], float] = lambda i, d: -2 * i / d,
    first: Callable[[float], float] = math.sin,
    second: Callable[[float], float] = math.cos,
    base: float = 10_000.0,
    start: int = 0,
) -> Tensor:
    """The table, with one piece changed: so does each mistake. ``i`` counts pairs."""
    rows = []
    for p in range(start, start + places):
        angles = [p * base ** exponent(i, width) for i in range(width // 2)]
        rows.append([wave(angle) for angle in angles for wave in (first, second)])
    return torch.tensor(rows, dtype=torch.float64)


def _right(places: int, width: int) -> Tensor:
    return _table(places, width)


def _halves(places: int, width: int) -> Tensor:
    table = _right(places, width)
    return torch.cat([table[:, 0::2], table[:, 1::2]], -1)


def _each_its_own(places: int, width: int) -> Tensor:
    j = torch.arange(width, dtype=torch.float64)
    angles = torch.arange(places, dtype=torch.float64)[:, None] * 10_000.0 ** (-j / width)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos())


def _shifted_pairs(places: int, width: int) -> Tensor:
    j = torch.arange(width, dtype=torch.float64)
    angles = torch.arange(places, dtype=torch.float64)[:, None] * 10_000.0 ** (-2 * j / width)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos())


# Each takes (places, width).
MISTAKES = (
    Mistake(
        "All sines stand first, then all cosines: sine and cosine of one frequency stand side by "
        "side, at entries 2i and 2i + 1.",
        _halves,
    ),
    Mistake(
        "Each entry has a frequency of its own: entry 2i + 1 has that of entry 2i, so that the two "
        "are the hand of one clock.",
        _each_its_own,
    ),
    Mistake(
        "The frequencies fall twice too fast: i counts the pairs, not the entries.",
        _shifted_pairs,
    ),
    Mistake(
        "The frequencies fall half as fast as they should: the exponent is −2i/d, where i counts "
        "the pairs.",
        lambda places, width: _table(places, width, lambda i, d: -i / d),
    ),
    Mistake(
        "The frequencies grow from pair to pair: the exponent is negative (or the angle is "
        "divided).",
        lambda places, width: _table(places, width, lambda i, d: 2 * i / d),
    ),
    Mistake(
        "The cosine stands first in each pair: entry 2i is the sine.",
        lambda places, width: _table(places, width, first=math.cos, second=math.sin),
    ),
    Mistake(
        "Every entry is a sine: entry 2i + 1 is the cosine.",
        lambda places, width: _table(places, width, second=math.sin),
    ),
    Mistake(
        "The first row is that of place 1: places are counted from 0.",
        lambda places, width: _table(places, width, start=1),
    ),
    Mistake(
        "The base is 1,000 where it should be 10,000.",
        lambda places, width: _table(places, width, base=1000.0),
    ),
    Mistake(
        "The table is transposed: a row for each place, a column for each entry.",
        lambda places, width: _right(places, width).T,
    ),
    Mistake(
        "These are the angles: their sine and cosine are still to be taken.",
        lambda places, width: _table(places, width, first=float, second=float),
    ),
)
