"""08.2 A softmax in two parts: two blocks of keys, each with its own largest score, become one."""

from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, number, same, tensor
from lmcourse.labs.verdict import Wrong

_WIDTH = 3
Block = tuple[Tensor, Tensor, Tensor]  # largest score m, Σ e^(s − m), and the answer


def judge(answer: Answer) -> str:
    for seed, lift in enumerate((1.5, -1.5, 0.0)):  # of the second block's scores over the first's
        blocks = _blocks(seed, lift)
        found, wanted = _read(answer(*blocks)), _right(*blocks)
        if not _agree(found, wanted):
            explain(torch.cat(found), MISTAKES, *blocks)
            raise Wrong(_first_difference(found, wanted))
    _check_large(answer)
    return (
        "Block by block, a softmax of any length fits into m, z and o: so the fused kernel goes "
        "through a million keys without holding a million weights."
    )


def _first_difference(found: list[Tensor], wanted: list[Tensor]) -> str:
    if not same(found[0], wanted[0]):
        return "m differs: the largest score of all keys is the larger of the two blocks' largest."
    if not same(found[1], wanted[1]):
        return (
            "m is right, z differs: z is Σ e^(s − m) over all keys, with the new m. By which "
            "factor does each block's sum change when its own m is exchanged for the new one?"
        )
    return (
        "m and z are right, o differs: how much of z does each block bring? That is its answer's "
        "share."
    )


def _check_large(answer: Answer) -> None:
    """Scores whose exponentials no float holds, also of 64 bits, and blocks far apart."""
    for lift, apart, where, hint in (
        (
            5000.0,
            1.0,
            "near 5000",
            "e⁵⁰⁰⁰ is more than any float can hold. Only differences of scores may go into `exp`.",
        ),
        (
            -5000.0,
            1.0,
            "near −5000",
            "every exponential is 0 there, and 0/0 is NaN. Take the larger m away, whatever its "
            "sign.",
        ),
        (
            0.0,
            -5000.0,
            "near 0 in one block and −5000 in the other",
            "what goes into `exp` may not be positive: take the larger m away, not the smaller.",
        ),
    ):
        blocks = _blocks(3, apart, lift)
        try:
            found = _read(answer(*blocks))
        except Wrong as wrong:
            if not any(sign in str(wrong) for sign in ("NaN", "nfinit", "OverflowError")):
                raise
            raise Wrong(
                f"Right for small scores; for scores {where} the result is not finite: {hint}"
            ) from None
        if not _agree(found, _right(*blocks)):
            raise Wrong(
                f"Right for small scores; for scores {where} the result is finite, and wrong. Is "
                "something cut off, or a small number added? Neither is needed."
            )


def _read(value: Any) -> list[Tensor]:
    """m, z and o, each as a vector."""
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise Wrong("Return three things, as you were given them: m, z and o (`return m, z, o`).")
    m, z, o = value
    return [torch.tensor([number(each)], dtype=torch.float64) for each in (m, z)] + [
        tensor(o, (_WIDTH,))
    ]


def _agree(found: list[Tensor], wanted: list[Tensor]) -> bool:
    return all(same(mine, theirs) for mine, theirs in zip(found, wanted, strict=True))


def _blocks(seed: int, apart: float, lift: float = 0.0) -> tuple[Block, Block]:
    """Two blocks of keys; the second's largest score is ``apart`` above the first's."""
    generator = torch.Generator().manual_seed(seed)
    blocks = []
    for keys, top in ((3, lift), (5, lift + apart)):
        scores = torch.randn(keys, generator=generator, dtype=torch.float64)
        values = torch.randn(keys, _WIDTH, generator=generator, dtype=torch.float64)
        scores = scores - scores.max() + top
        powers = (scores - scores.max()).exp()
        blocks.append((scores.max(), powers.sum(), powers @ values / powers.sum()))
    return blocks[0], blocks[1]


def _parts(first: Block, second: Block) -> tuple[Tensor, Tensor, Tensor]:
    """The new m, and each block's sum relative to it."""
    m = torch.maximum(first[0], second[0])
    return m, first[1] * (first[0] - m).exp(), second[1] * (second[0] - m).exp()


def _right(first: Block, second: Block) -> list[Tensor]:
    m, a, b = _parts(first, second)
    return [m[None], (a + b)[None], (a * first[2] + b * second[2]) / (a + b)]


def _together(m: Tensor, z: Tensor, o: Tensor) -> Tensor:
    return torch.cat([m[None], z[None], o])


def _unscaled(first: Block, second: Block) -> Tensor:
    (m1, z1, o1), (m2, z2, o2) = first, second
    return _together(torch.maximum(m1, m2), z1 + z2, (z1 * o1 + z2 * o2) / (z1 + z2))


def _turned(first: Block, second: Block) -> Tensor:
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    a, b = z1 * (m - m1).exp(), z2 * (m - m2).exp()
    return _together(m, a + b, (a * o1 + b * o2) / (a + b))


def _half_each(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    return _together(m, a + b, (first[2] + second[2]) / 2)


def _by_largest(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    share = torch.stack([first[0], second[0]]).softmax(0)
    return _together(m, a + b, share[0] * first[2] + share[1] * second[2])


def _not_divided(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    return _together(m, a + b, a * first[2] + b * second[2])


def _old_sums(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    z1, z2 = first[1], second[1]
    return _together(m, a + b, (z1 * first[2] + z2 * second[2]) / (z1 + z2))


def _absolute(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    return _together(m, (a + b) * m.exp(), (a * first[2] + b * second[2]) / (a + b))


def _first_leads(first: Block, second: Block) -> Tensor:
    (m1, z1, o1), (m2, z2, o2) = first, second
    b = z2 * (m2 - m1).exp()
    return _together(m1, z1 + b, (z1 * o1 + b * o2) / (z1 + b))


def _swapped(first: Block, second: Block) -> Tensor:
    m, a, b = _parts(first, second)
    return _together(m, a + b, (b * first[2] + a * second[2]) / (a + b))


# Each takes the two blocks.
MISTAKES = (
    Mistake(
        "In yours the two sums are added as they are. Each is relative to the largest score of its "
        "*own* block: bring both to the new m first.",
        _unscaled,
    ),
    Mistake(
        "The factors are turned round: when m grows, e^(s − m) gets smaller, and so must the "
        "block's sum.",
        _turned,
    ),
    Mistake(
        "m and z are right; the two answers count half each, however much of z each block brings.",
        _half_each,
    ),
    Mistake(
        "m and z are right; the answers are weighted by the blocks' largest scores alone. A block "
        "weighs as much as all its keys together.",
        _by_largest,
    ),
    Mistake(
        "The answer is a sum of both, weighted, and not divided by the new z yet.",
        _not_divided,
    ),
    Mistake(
        "m and z are right; the answers are still weighted by the old sums, before they were "
        "brought to the new m.",
        _old_sums,
    ),
    Mistake(
        "In yours z is Σ e^s. It should stay relative to m, Σ e^(s − m): that keeps it small.",
        _absolute,
    ),
    Mistake(
        "In yours the first block's m stays m. The second block may hold the larger score.",
        _first_leads,
    ),
    Mistake(
        "m and z are right; the two answers' weights have changed places.",
        _swapped,
    ),
)
