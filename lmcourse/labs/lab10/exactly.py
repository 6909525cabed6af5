"""10.3 Exactly so many: of each text the same share of places, one at least."""

import math

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

Probe = tuple[Tensor, Tensor, float]
# Of each text the maskable places of a row of so many; and the rate.
_PROBES = (
    (12, (10, 7, 4, 9), 0.17),
    (20, (18, 12, 1, 5), 0.23),
    (9, (7, 7, 7), 0.4),
)


def judge(answer: Answer) -> str:
    for seed, (time, lengths, rate) in enumerate(_PROBES):
        probe = _probe(seed, time, lengths, rate)
        value = tensor(answer(*probe), probe[0].shape)
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            counts = value.sum(1).round().long().tolist()
            if counts != _right(*probe).sum(1).tolist():
                raise Wrong(
                    f"The texts have {list(lengths)} maskable places, the rate is {rate:g}, and "
                    f"you select {counts}. How many is the rate times each number, rounded?"
                )
            raise Wrong(
                "As many as there should be, at other places: they are those with the smallest "
                "numbers in `chance`, among the maskable ones."
            )
    probe = _probe(7, 6, (4, 0), 0.3)
    value = tensor(answer(*probe), (2, 6))
    if bool(value[1].any()):
        raise Wrong(
            "A text without a maskable place (all special tokens and padding) gets one "
            "nevertheless: there is nothing to select."
        )
    if not same(value, _right(*probe)):
        raise Wrong(
            "Beside a text without a maskable place, another text's selection comes out wrong: "
            "each row is by itself, and an empty one must not end the work."
        )
    return (
        "Each text asks as many questions as it has room for. Drawn place by place, a short text "
        "would often ask none: 0.85¹⁰ is a fifth."
    )


def _probe(seed: int, time: int, lengths: tuple[int, ...], rate: float) -> Probe:
    generator = torch.Generator().manual_seed(10 + seed)
    chance = torch.rand(len(lengths), time, generator=generator, dtype=torch.float64)
    maskable = torch.zeros(len(lengths), time, dtype=torch.bool)
    for row, length in enumerate(lengths):
        # Place 0 is [CLS]; the second of three rows has its padding in front, the third one two
        # texts, with [SEP] between them.
        start = time - length if row % 3 == 1 else 1
        maskable[row, start : start + length] = True
        if row % 3 == 2:
            maskable[row, [length // 2 + 1, length + 1]] = torch.tensor([False, True])
    return chance, maskable, rate


def _smallest(chance: Tensor, maskable: Tensor, counts: Tensor) -> Tensor:
    rank = chance.masked_fill(~maskable, math.inf).argsort(1).argsort(1)
    return (rank < counts[:, None]) & maskable


def _counts(maskable: Tensor, rate: float) -> Tensor:
    numbers = maskable.sum(1)
    return (numbers * rate).round().clamp(min=1).minimum(numbers.double())


def _right(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    return _smallest(chance, maskable, _counts(maskable, rate))


def _by_all(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    count = torch.full((len(chance),), max(1, round(rate * chance.shape[1])))
    return _smallest(chance, maskable, count)


def _from_the_start(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    """As if the maskable places were always 1 … n."""
    place = torch.arange(chance.shape[1])
    first = (place >= 1) & (place <= maskable.sum(1)[:, None])
    return _smallest(chance, first, _counts(maskable, rate))


def _at_once(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    """The smallest of the whole batch."""
    count = int(_counts(maskable, rate).sum())
    numbers = chance.masked_fill(~maskable, math.inf)
    return numbers <= numbers.flatten().sort().values[count - 1]


# Each takes (chance, maskable, rate).
MISTAKES = (
    Mistake(
        "A short text asks nothing: one place at least.",
        lambda chance, maskable, rate: _smallest(
            chance, maskable, (maskable.sum(1) * rate).round()
        ),
    ),
    Mistake(
        "Each place is drawn by itself: `chance < rate` gives so many on average only.",
        lambda chance, maskable, rate: (chance < rate) & maskable,
    ),
    Mistake(
        "Special tokens and padding are among the selected: take the smallest of the *maskable* "
        "places.",
        lambda chance, maskable, rate: _smallest(
            chance, torch.ones_like(maskable), _counts(maskable, rate)
        ),
    ),
    Mistake(
        "The maskable places are taken for the first ones behind [CLS]. Padding may stand in "
        "front, and [SEP] in the middle: ask `maskable` where they are.",
        _from_the_start,
    ),
    Mistake(
        "Where the smallest numbers stand at special tokens or padding, too few are left: put the "
        "others out of the race before you sort, not afterwards.",
        lambda chance, maskable, rate: (
            _smallest(chance, torch.ones_like(maskable), _counts(maskable, rate)) & maskable
        ),
    ),
    Mistake(
        "The count is the rate times the length of the row: padding and special tokens count, too.",
        _by_all,
    ),
    Mistake(
        "The largest numbers are taken, not the smallest.",
        lambda chance, maskable, rate: _smallest(-chance, maskable, _counts(maskable, rate)),
    ),
    Mistake(
        "The count is cut off below the point, where it should be rounded.",
        lambda chance, maskable, rate: _smallest(
            chance, maskable, (maskable.sum(1) * rate).floor().clamp(min=1)
        ),
    ),
    Mistake(
        "The count is rounded up: round to the nearest whole number.",
        lambda chance, maskable, rate: _smallest(
            chance, maskable, (maskable.sum(1) * rate).ceil().clamp(min=1)
        ),
    ),
    Mistake(
        "The smallest of the whole batch are taken: each text has its own count.",
        _at_once,
    ),
)
