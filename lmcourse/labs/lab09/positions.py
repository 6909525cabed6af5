"""09.2 The distance of two places, from their sinusoids (Vaswani et al. 2017, section 3.5)."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong
from lmcourse.models.encoder_decoder import sinusoids

_SHAPES = ((8, 8), (5, 12), (1, 2))  # pairs of places, width; equal first: a transposed one fits
_TOLERANCE = 1e-4  # float32 will do
_PLACES = 200


def judge(answer: Answer) -> str:
    for seed, (pairs, width) in enumerate(_SHAPES):
        first, second, p, q = _probe(seed, pairs, width)
        value = _read(_call(answer, first, second), pairs, width)
        wanted = _right(first, second, p, q)
        if not same(value, wanted, _TOLERANCE):
            explain(value, MISTAKES, first, second, p, q, tolerance=_TOLERANCE)
            raise Wrong(_where(value, wanted, first))
    return (
        "Neither place was asked for, and a distance to the left differs from one to the right: "
        "what stands how far away is there in the encodings, for a network that looks for it."
    )


def _probe(seed: int, pairs: int, width: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Encodings of random places p and q, and the places; q lies to either side of p."""
    generator = torch.Generator().manual_seed(seed)
    p, q = torch.randint(1, _PLACES, (2, pairs), generator=generator)
    q = torch.where(p == q, q + 5, q)
    table = sinusoids(_PLACES + 5, width)
    return table[p], table[q], p, q


def _call(answer: Answer, first: Tensor, second: Tensor) -> object:
    try:
        return answer(first, second)
    except Wrong as wrong:
        if "in place" not in str(wrong):
            raise
        changed = "first" if "`first`" in str(wrong) else "second"
        raise Wrong(
            f"In yours the result is written into `{changed}`, which its owner still needs: make "
            f"a table of your own first, such as `torch.zeros_like({changed})`. (A slice such as "
            f"`{changed}[:, 0::2]` is no copy.)"
        ) from None


def _read(given: object, pairs: int, width: int) -> Tensor:
    try:
        return tensor(given, (pairs, width))
    except Wrong as wrong:
        if f"[{pairs}, {width // 2}]" in str(wrong):
            raise Wrong(
                "Half of the entries are missing: each hand gives two, a sine and a cosine."
            ) from None
        if f"shape [{pairs}]" in str(wrong):
            raise Wrong(
                "You return one number for each pair: the encoding of the distance is asked for, "
                "as wide as the two that came in."
            ) from None
        raise


def _where(value: Tensor, wanted: Tensor, first: Tensor) -> str:
    wrong = ((value - wanted).abs() > _TOLERANCE).any(0)
    if not bool(wrong[0::2].any()):
        return "The sines, at entries 0, 2, 4, …, are right; the cosines are not."
    if not bool(wrong[1::2].any()):
        return "The cosines, at entries 1, 3, 5, …, are right; the sines are not."
    return (
        "Not yet. Take one hand: two clocks show s₁, c₁ and s₂, c₂. By which angle must the first "
        "be turned clockwise to stand like the second? Return that angle's sine and cosine."
    )


def _encoded(distance: Tensor, width: int) -> Tensor:
    """The encoding of any number of places, negative ones too."""
    return _angles_to_table(_angles(distance, width))


def _angles(distance: Tensor, width: int) -> Tensor:
    even = torch.arange(0, width, 2, dtype=torch.float64)
    return distance.double()[:, None] * 10_000.0 ** (-even / width)


def _angles_to_table(angles: Tensor) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def _right(first: Tensor, second: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return _encoded(q - p, first.shape[1])


def _hands(
    rule: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]],
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """A table from (s₁, c₁, s₂, c₂), the sines and cosines of both."""

    def table(first: Tensor, second: Tensor, p: Tensor, q: Tensor) -> Tensor:
        pair = rule(first[:, 0::2], first[:, 1::2], second[:, 0::2], second[:, 1::2])
        return torch.stack(pair, -1).flatten(1)

    return table


def _halves(first: Tensor, second: Tensor, p: Tensor, q: Tensor) -> Tensor:
    table = _right(first, second, p, q)
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)


def _angles_themselves(s1: Tensor, c1: Tensor, s2: Tensor, c2: Tensor) -> tuple[Tensor, Tensor]:
    angle = torch.atan2(s2, c2) - torch.atan2(s1, c1)
    return angle, angle


def _halved(joined: bool) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """The first half of the entries is taken for the sines, the second for the cosines."""

    def table(first: Tensor, second: Tensor, p: Tensor, q: Tensor) -> Tensor:
        (s1, c1), (s2, c2) = (x.chunk(2, 1) for x in (first, second))
        pair = s2 * c1 - c2 * s1, c1 * c2 + s1 * s2
        return torch.cat(pair, 1) if joined else torch.stack(pair, -1).flatten(1)

    return table


def _from_angles(
    angle: Callable[[Tensor, Tensor], Tensor],
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """The difference of two angles, each by a rule from its sine and cosine."""

    def rule(s1: Tensor, c1: Tensor, s2: Tensor, c2: Tensor) -> tuple[Tensor, Tensor]:
        between = angle(s2, c2) - angle(s1, c1)
        return between.sin(), between.cos()

    return _hands(rule)


_HALVES = (
    "In yours the first half of the entries is taken for the sines, the second for the cosines: "
    "they stand in turn, sin, cos, sin, cos, …, as `[:, 0::2]` and `[:, 1::2]`."
)

# Each takes (first, second, p, q).
MISTAKES = (
    Mistake(
        "In yours the sign of the sines is turned around: that is the way from the second place to "
        "the first.",
        lambda first, second, p, q: _right(second, first, q, p),
    ),
    Mistake(
        "Yours is the encoding of the sum of the two places: turn the first hand *back*.",
        lambda first, second, p, q: _encoded(p + q, first.shape[1]),
    ),
    Mistake(
        "In yours the encodings are subtracted: the difference of two sines is not the sine of the "
        "difference.",
        lambda first, second, p, q: second - first,
    ),
    Mistake(
        "In yours the encodings are multiplied entry by entry: sine and cosine of the difference "
        "need products of a sine with a cosine, too.",
        lambda first, second, p, q: first * second,
    ),
    Mistake(
        "In yours all sines stand first, then all cosines: let them stand side by side, as in what "
        "came in.",
        _halves,
    ),
    Mistake(_HALVES, _halved(joined=True)),
    Mistake(_HALVES, _halved(joined=False)),
    Mistake(
        "In yours the cosine stands first in each pair: entry 2i is the sine.",
        _hands(lambda s1, c1, s2, c2: (c1 * c2 + s1 * s2, s2 * c1 - c2 * s1)),
    ),
    Mistake(
        "In yours the two products of the sine are added: that is the sine of the sum.",
        _hands(lambda s1, c1, s2, c2: (s2 * c1 + c2 * s1, c1 * c2 + s1 * s2)),
    ),
    Mistake(
        "In yours the two products of the cosine are subtracted: that is the cosine of the sum.",
        _hands(lambda s1, c1, s2, c2: (s2 * c1 - c2 * s1, c1 * c2 - s1 * s2)),
    ),
    Mistake(
        "In yours the sine is without its sign, as the root of 1 − cos² gives it: it would be the "
        "same to the left and to the right.",
        _hands(lambda s1, c1, s2, c2: ((s2 * c1 - c2 * s1).abs(), c1 * c2 + s1 * s2)),
    ),
    Mistake(
        "In yours the cosine is without its sign, as the root of 1 − sin² gives it: it is negative "
        "where the hands are more than a quarter turn apart.",
        _hands(lambda s1, c1, s2, c2: (s2 * c1 - c2 * s1, (c1 * c2 + s1 * s2).abs())),
    ),
    Mistake(
        "In yours the angles come from `asin`, which knows half of the clock only: an angle that "
        "the sine alone gives may be another one with the same sine.",
        _from_angles(lambda s, c: s.clamp(-1, 1).asin()),
    ),
    Mistake(
        "In yours the angles come from `acos`, which knows half of the clock only: an angle that "
        "the cosine alone gives may be another one with the same cosine.",
        _from_angles(lambda s, c: c.clamp(-1, 1).acos()),
    ),
    Mistake(
        "In yours the angles come from the quotient of sine and cosine, by `atan`, which knows "
        "half of the clock only: where both change their sign it stays the same.",
        _from_angles(lambda s, c: (s / c).atan()),
    ),
    Mistake(
        "Yours are the angles between the hands: their sine and cosine are still to be taken.",
        _hands(_angles_themselves),
    ),
    Mistake(
        "In yours the cosines alone are there, twice: the encoding has the sine at entry 2i.",
        _hands(lambda s1, c1, s2, c2: (c1 * c2 + s1 * s2,) * 2),
    ),
)
