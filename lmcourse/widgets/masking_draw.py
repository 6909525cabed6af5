"""Which tokens a masked language model is asked for, and what stands in their place.

The rules are those of the papers, and a page draws the same with the same seed
(``web/widgets/masking/draws.js``):

    token   each token is selected with probability ``rate`` (Devlin et al. 2019, section 3.1, whose
            published code takes a fixed number of them instead)
    word    each word is, with all its pieces (whole word masking, of BERT's later release)
    span    spans of words are, until ``rate`` of the tokens are reached; lengths are geometric,
            p = 0.2, and at most 10, 3.8 on average (Joshi et al. 2020, section 3.1)

Of the selected, a share ``masked`` becomes [MASK], a share ``random`` a random word, and the rest
is kept; in a span all tokens share one fate.

Numbers come from mulberry32 (Tommy Ettinger's 32-bit generator). Each token has three of its own,
so moving one setting leaves what the others draw as it is; spans take theirs behind these.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

KEPT_AS_IT_IS, MASKED, RANDOM, KEPT = range(4)  # not selected, and the three fates
P, LONGEST = 0.2, 10
_WORD = 0xFFFFFFFF


class Draw(NamedTuple):
    """One draw, a number a token.

    Attributes:
        fates: 0 not selected, 1 [MASK], 2 a random word, 3 kept.
        stands: of a random word, its number in the pool; else 0.
    """

    fates: list[int]
    stands: list[int]


class Rules(NamedTuple):
    """How tokens are drawn."""

    kind: str  # token, word or span
    rate: float
    masked: float
    random: float


def numbers(seed: int, epoch: int) -> Iterator[float]:
    """Numbers in [0, 1) without end: mulberry32, started from a seed and an epoch."""
    a = (seed * 0x9E3779B1 + epoch * 0x85EBCA77) & _WORD
    while True:
        a = (a + 0x6D2B79F5) & _WORD
        t = (a ^ a >> 15) * (a | 1) & _WORD
        t = (t + ((t ^ t >> 7) * (t | 61) & _WORD) & _WORD) ^ t
        yield (t ^ t >> 14) / 2**32


def draw(
    rules: Rules, words: Sequence[int], special: Sequence[int], pool: int, seed: int, epoch: int
) -> Draw:
    """One draw.

    Args:
        rules: how.
        words: of each token, the number of its word.
        special: 1 where a token is never selected.
        pool: how many random words there are.
        seed, epoch: where the numbers start.
    """
    stream = numbers(seed, epoch)
    own = [[next(stream) for _ in range(3)] for _ in words]
    units = units_of(words, special)
    if rules.kind == "span":
        chosen = _spans(rules.rate, units, stream)
    else:
        parts = (
            units if rules.kind == "word" else [(i, i + 1) for one in units for i in range(*one)]
        )
        taken = [one for one in parts if own[one[0]][0] < rules.rate]
        chosen = {i: i for start, end in taken for i in range(start, end)}
    fates, stands = [KEPT_AS_IT_IS] * len(words), [0] * len(words)
    for i, lead in chosen.items():
        share = own[lead][1]
        bounds = (rules.masked, rules.masked + rules.random)
        fates[i] = MASKED if share < bounds[0] else RANDOM if share < bounds[1] else KEPT
        stands[i] = math.floor(own[i][2] * pool) if fates[i] == RANDOM else 0
    return Draw(fates, stands)


def units_of(words: Sequence[int], special: Sequence[int]) -> list[tuple[int, int]]:
    """Where each word begins and ends, special tokens left out."""
    units: list[tuple[int, int]] = []
    for i, word in enumerate(words):
        if special[i]:
            continue
        if units and units[-1][1] == i and words[i - 1] == word:
            units[-1] = (units[-1][0], i + 1)
        else:
            units.append((i, i + 1))
    return units


def _spans(
    rate: float, units: Sequence[tuple[int, int]], stream: Iterator[float]
) -> dict[int, int]:
    """The selected tokens, each with its span's first one."""
    budget = math.floor(rate * sum(end - start for start, end in units) + 0.5)
    chosen: dict[int, int] = {}
    for _ in range(40 * len(units)):  # a budget of all tokens needs many tries
        if len(chosen) >= budget:
            break
        length = _length(next(stream))
        first = math.floor(next(stream) * len(units))
        lead = units[first][0]
        if lead in chosen:
            continue
        for k in range(first, min(first + length, len(units))):
            if k > first and units[k][0] != units[k - 1][1]:
                break  # a special token stands between
            for i in range(*units[k]):
                if len(chosen) < budget:
                    chosen.setdefault(i, lead)
    return chosen


def _length(u: float) -> int:
    """A geometric length, at most ``LONGEST``, whose probabilities sum to one."""
    share, reached = P, 0.0
    sums = []
    for _ in range(LONGEST):
        reached += share
        share *= 1 - P
        sums.append(reached)
    return 1 + sum(u * reached >= bound for bound in sums[:-1])
