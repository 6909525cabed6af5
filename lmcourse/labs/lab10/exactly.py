"""10.3 Exactly so many: of each text the same share of places, one at least."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, same, tensor
from lmcourse.labs.verdict import Wrong

Probe = tuple[Tensor, Tensor, float]
# Of each text the maskable places of a row of so many; and the rate.
_PROBES = (
    (12, (10, 7, 4, 9), 0.17),
    (20, (18, 12, 1, 5), 0.23),
    (9, (7, 7, 7), 0.4),
    (70, (40, 66), 0.43),  # BERT's published code would take 20 at most
)


def judge(answer: Answer) -> str:
    found = first_wrong(
        [_probe(seed, *each) for seed, each in enumerate(_PROBES)],
        lambda probe: tensor(answer(*probe), probe[0].shape),
        _right,
        MISTAKES,
    )
    if found is not None:
        raise Wrong(_compared(*found))
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


def _compared(probe: Probe, value: Tensor) -> str:
    """How many places of each text there are and should be; or where one text's are."""
    (_, maskable, rate), right = probe, _right(*probe)
    counts = value.sum(1).round().long().tolist()
    if counts != right.sum(1).tolist():
        return (
            f"The texts have {maskable.sum(1).tolist()} maskable places, the rate is {rate:g}, and "
            f"you select {counts}. How many is the rate times each number, rounded?"
        )
    row = int((value != right).any(1).nonzero()[0])
    yours, wanted = (each[row].nonzero()[:, 0].tolist() for each in (value, right))
    return (
        f"As many as there should be, at other places. In the row {row} of one example you select "
        f"the places {yours}; the smallest numbers in `chance`, among those of the maskable "
        f"places, stand at {wanted}."
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


def _counted(count: Callable[[Tensor, float, int], Tensor]) -> Callable[..., Tensor]:
    """The smallest, as many as ``count(maskable places of each text, rate, time)`` says."""

    def select(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
        numbers = maskable.sum(1)
        counts = count(numbers.double(), rate, maskable.shape[1]).clamp(min=1)
        return _smallest(chance, maskable, counts.expand(len(numbers)))

    return select


def _rounded(numbers: Tensor, rate: float) -> Tensor:
    return (numbers * rate).round().clamp(min=1)


def _from_the_start(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    """As if the maskable places were always 1 … n."""
    place = torch.arange(chance.shape[1])
    first = (place >= 1) & (place <= maskable.sum(1)[:, None])
    return _smallest(chance, first, _counts(maskable, rate))


def _at_once(chance: Tensor, maskable: Tensor, count: int) -> Tensor:
    """The smallest of the whole batch."""
    numbers = chance.masked_fill(~maskable, math.inf)
    return numbers <= numbers.flatten().sort().values[count - 1]


def _order_for_rank(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    """As if argsort gave each number's rank."""
    order = chance.masked_fill(~maskable, math.inf).argsort(1)
    return order < _counts(maskable, rate)[:, None]


def _of_the_shorter_list(chance: Tensor, maskable: Tensor, rate: float) -> Tensor:
    """As if a place among the maskable ones were a place of the row."""
    result = torch.zeros_like(maskable)
    for row, count in enumerate(_counts(maskable, rate).int().tolist()):
        result[row, chance[row, maskable[row]].argsort()[:count]] = True
    return result


_RANKS = (
    "`argsort` gives places, the smallest number's first, and they are taken for ranks: the rank "
    "of each number comes of a second `argsort` (hint 2)."
)
_SHORTER = (
    "Places among the maskable ones are taken for places of the row. If `argsort` runs on "
    "`chance[row][maskable[row]]`, its 0 is the first *maskable* place: "
    "`maskable[row].nonzero()` says where that is."
)
_BATCH = "The smallest of the whole batch are taken: each text has its own count."

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
        _counted(lambda numbers, rate, time: torch.tensor(rate * time).round()),
    ),
    Mistake(
        "The first text's count serves all texts: each has its own.",
        _counted(lambda numbers, rate, time: _rounded(numbers, rate)[:1]),
    ),
    Mistake(
        "The largest count of the batch serves all texts: each has its own.",
        _counted(lambda numbers, rate, time: _rounded(numbers, rate).max()),
    ),
    Mistake(
        "Each text's count is that of all texts together: count the maskable places row by row, "
        "`maskable.sum(1)`.",
        _counted(lambda numbers, rate, time: _rounded(numbers.sum(), rate)),
    ),
    Mistake(
        "[CLS] and [SEP] count, as in the published code: here n are the maskable places alone.",
        _counted(lambda numbers, rate, time: _rounded(numbers + 2, rate)),
    ),
    Mistake(
        "20 places of a text are the most: the published code has this bound, and here is none.",
        _counted(lambda numbers, rate, time: _rounded(numbers, rate).clamp(max=20)),
    ),
    Mistake(
        "The largest numbers are taken, not the smallest.",
        lambda chance, maskable, rate: _smallest(-chance, maskable, _counts(maskable, rate)),
    ),
    Mistake(
        "The count is cut off below the point, where it should be rounded.",
        _counted(lambda numbers, rate, time: (numbers * rate).floor()),
    ),
    Mistake(
        "The count is rounded up: round to the nearest whole number.",
        _counted(lambda numbers, rate, time: (numbers * rate).ceil()),
    ),
    Mistake(
        _BATCH,
        lambda chance, maskable, rate: _at_once(
            chance, maskable, int(_counts(maskable, rate).sum())
        ),
    ),
    Mistake(
        _BATCH,
        lambda chance, maskable, rate: _at_once(
            chance, maskable, max(1, round(rate * int(maskable.sum())))
        ),
    ),
    Mistake(_RANKS, _order_for_rank),
    Mistake(
        _RANKS,
        lambda chance, maskable, rate: _order_for_rank(chance, maskable, rate) & maskable,
    ),
    Mistake(_SHORTER, _of_the_shorter_list),
    Mistake(
        _SHORTER,
        lambda chance, maskable, rate: _of_the_shorter_list(chance, maskable, rate) & maskable,
    ),
)
