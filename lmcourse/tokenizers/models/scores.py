"""Three scores by which a trainer chooses the pair of pieces to merge.

BPE takes the pair's frequency. WordPiece takes the pair whose merge raises the likelihood of the
training text the most (Schuster & Nakajima 2012, section 3); the authors give no formula, and
``likelihood`` computes this gain exactly. Often the pointwise mutual information is taught instead,
``pmi``: the same gain per occurrence. It prefers rare pairs whose pieces never occur apart, and so
spends the vocabulary on what the text hardly needs.
"""

from collections.abc import Callable
from math import log, log1p
from typing import NamedTuple


class Counts(NamedTuple):
    """How often a pair and its pieces occur."""

    pair: int  # adjacent; overlapping pairs all count: "aaa" has two "aa"
    merged: int  # … but only one of them can be merged
    left: int
    right: int
    total: int  # pieces in the whole text
    alike: bool  # the two pieces are the same


Score = Callable[[Counts], float]


def frequency(counts: Counts) -> float:
    """BPE's score: how often the pair occurs."""
    return counts.pair


def pmi(counts: Counts) -> float:
    """count(ab) / (count(a) · count(b)): the exponential of the pointwise mutual information.

    (Up to the number of pieces in the text, which is the same for all pairs.) Python rounds the
    quotient of two integers correctly, so equal ratios are equal floats on every machine.
    """
    return counts.pair / (counts.left * counts.right)


def likelihood(counts: Counts) -> float:
    """The gain of a merge in the log-likelihood of the text, nats.

    A text of N pieces in which piece t occurs c_t times has, under the best unigram model, the
    log-likelihood Σ_t c_t log(c_t / N) = Σ_t c_t log c_t - N log N. Merging a and b at n positions
    subtracts n from c_a, c_b and N (2n from c_a if they are alike), and adds a piece that occurs n
    times.
    """
    _, merged, left, right, total, alike = counts
    pieces = _loss(left, 2 * merged) if alike else _loss(left, merged) + _loss(right, merged)
    return merged * log(merged) - pieces + _loss(total, merged)


def _loss(count: int, taken: int) -> float:
    """c log c - (c - n) log(c - n), without the difference of two large numbers."""
    rest = count - taken
    return taken * log(count) - (rest * log1p(-taken / count) if rest else 0.0)


def largest_gain(count: int, total: int) -> float:
    """An upper bound of ``likelihood`` for a pair that occurs this often in a text of N pieces.

    Both pieces occur at least as often as the pair, so the gain is at most n (log (N / n) + 1),
    which rises with n.
    """
    return count * (log(total / count) + 1)
