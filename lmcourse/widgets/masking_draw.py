"""Which tokens a masked language model predicts, and what replaces them.

The rules are those of the papers, and ``web/widgets/masking/draws.js`` draws the same with the same
seed:

    token   each token is selected with probability ``rate`` (Devlin et al. 2019, section 3.1, whose
            published code selects a fixed number of them instead)
    word    each word is selected with all its pieces (whole word masking, in BERT's later release)
    span    spans of words are selected up to ``rate`` of the tokens; lengths are geometric,
            p = 0.2, and at most 10, 3.8 on average (Joshi et al. 2020, section 3.1)

A fraction ``masked`` of the selected tokens becomes [MASK], a fraction ``random`` a random word,
and the rest is unchanged; all tokens of a span are treated alike.

Random numbers are those of mulberry32 (Tommy Ettinger's 32-bit generator). Each token has three of
its own, so that changing one setting does not affect the others; spans use later ones.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

NOT_SELECTED, MASKED, RANDOM, KEPT = range(4)
P, LONGEST = 0.2, 10
_WORD = 0xFFFFFFFF


class Draw(NamedTuple):
    """One draw, with an integer per token.

    Attributes:
        actions: 0 not selected, 1 [MASK], 2 a random word, 3 unchanged.
        substitutes: the index of the random word in the pool; else 0.
    """

    actions: list[int]
    substitutes: list[int]


class Rules(NamedTuple):
    """The settings of a draw."""

    kind: str  # token, word or span
    rate: float
    masked: float
    random: float


def numbers(seed: int, epoch: int) -> Iterator[float]:
    """Yield numbers in [0, 1) from mulberry32, seeded by a seed and an epoch."""
    a = (seed * 0x9E3779B1 + epoch * 0x85EBCA77) & _WORD
    while True:
        a = (a + 0x6D2B79F5) & _WORD
        t = (a ^ a >> 15) * (a | 1) & _WORD
        t = (t + ((t ^ t >> 7) * (t | 61) & _WORD) & _WORD) ^ t
        yield (t ^ t >> 14) / 2**32


def draw(
    rules: Rules, words: Sequence[int], special: Sequence[int], pool: int, seed: int, epoch: int
) -> Draw:
    """Return one draw.

    Args:
        rules: the settings.
        words: the index of each token's word.
        special: 1 for tokens that are never selected.
        pool: the number of random words.
        seed, epoch: the seeds of the random numbers.
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
    actions, substitutes = [NOT_SELECTED] * len(words), [0] * len(words)
    for i, start in chosen.items():
        share = own[start][1]
        bounds = (rules.masked, rules.masked + rules.random)
        actions[i] = MASKED if share < bounds[0] else RANDOM if share < bounds[1] else KEPT
        substitutes[i] = math.floor(own[i][2] * pool) if actions[i] == RANDOM else 0
    return Draw(actions, substitutes)


def units_of(words: Sequence[int], special: Sequence[int]) -> list[tuple[int, int]]:
    """Return start and end of each word, without special tokens."""
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
    """Return the selected tokens, each with the start of its span."""
    budget = math.floor(rate * sum(end - start for start, end in units) + 0.5)
    chosen: dict[int, int] = {}
    for _ in range(40 * len(units)):  # a budget of all tokens needs many tries
        if len(chosen) >= budget:
            break
        length = _length(next(stream))
        first = math.floor(next(stream) * len(units))
        start = units[first][0]
        if start in chosen:
            continue
        for k in range(first, min(first + length, len(units))):
            if k > first and units[k][0] != units[k - 1][1]:
                break  # at a special token
            for i in range(*units[k]):
                if len(chosen) < budget:
                    chosen.setdefault(i, start)
    return chosen


def _length(u: float) -> int:
    """Return a truncated geometric length of at most ``LONGEST``."""
    share, reached = P, 0.0
    sums = []
    for _ in range(LONGEST):
        reached += share
        share *= 1 - P
        sums.append(reached)
    return 1 + sum(u * reached >= bound for bound in sums[:-1])
