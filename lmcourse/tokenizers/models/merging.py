"""Learn merges: count the adjacent pairs, merge the best one everywhere, and repeat.

Byte-pair encoding as in Sennrich, Haddow & Birch 2016, "Neural Machine Translation of Rare Words
with Subword Units", algorithm 1. After a merge, only the words that contained the pair are counted
again. WordPiece is the same loop with another score (Schuster & Nakajima 2012, "Japanese and Korean
Voice Search", section 3): it takes the pair whose merge raises the likelihood of the training text
the most. The authors give no formula, and ``likelihood`` computes this gain exactly. Often the
pointwise mutual information is taught instead, ``pmi``: the same gain per occurrence. It prefers
rare pairs whose pieces never occur apart, and so spends the vocabulary on what the text hardly
needs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
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


Pair = tuple[str, str]
Pieces = tuple[str, ...]  # a word, segmented: ("l", "o", "w</w>")
Words = Mapping[Pieces, int]  # … and how often it occurs


@dataclass(frozen=True)
class MergeStep:
    """One merge as it was learned.

    Attributes:
        pair: the two pieces that are merged.
        token: the piece that replaces them.
        count: how often they were adjacent. Overlapping pairs all count: "aaa" has two "aa".
        score: the score by which the pair was chosen, see `Score`.
        tied: how many other pairs had the same score.
    """

    pair: Pair
    token: str
    count: int
    score: float
    tied: int


def spelled(word: str, prefix: str = "", suffix: str = "") -> list[str]:
    """The first pieces of a word, one for each of its characters.

    Args:
        prefix: precedes every piece except the word's first (WordPiece's ``##``).
        suffix: follows the word's last piece (Sennrich's ``</w>``).
    """
    pieces = [prefix + character if index else character for index, character in enumerate(word)]
    if pieces:
        pieces[-1] += suffix
    return pieces


def joined(pair: Pair, prefix: str = "") -> str:
    """The piece that a merge gives: ``##e`` and ``##s`` give ``##es``."""
    left, right = pair
    return left + right.removeprefix(prefix)


def merge_pair(pieces: Sequence[str], pair: Pair, token: str) -> list[str]:
    """Replace the pair by the token, from left to right: "aaa" becomes "aa", "a"."""
    left, right = pair
    merged: list[str] = []
    position, last = 0, len(pieces) - 1
    while position <= last:
        if pieces[position] == left and position < last and pieces[position + 1] == right:
            merged.append(token)
            position += 2
        else:
            merged.append(pieces[position])
            position += 1
    return merged


class PairTable:
    """Segmented words with the counts of their pieces and pairs, updated with each merge.

    Attributes:
        pairs: how often each pair of pieces is adjacent.
        pieces: how often each piece occurs.
        doubles: how many pairs of a piece and itself can be merged: "aaa" has one "aa".
        total: how many pieces there are.
    """

    def __init__(self, words: Words) -> None:
        self._words = [list(pieces) for pieces in words]
        self._times = list(words.values())
        self.pairs: Counter[Pair] = Counter()
        self.pieces: Counter[str] = Counter()
        self.doubles: Counter[str] = Counter()
        self.total = 0
        self._words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for number in range(len(self._words)):
            self._count(number, 1)

    def scores(self, score: Score, min_frequency: int = 1) -> Mapping[Pair, float]:
        """The score of each pair that occurs at least ``min_frequency`` times.

        By likelihood, pairs that are too rare to have the highest score are left out.
        """
        if score is frequency and min_frequency <= 1:
            return self.pairs
        best = 0.0
        scores: dict[Pair, float] = {}
        for pair, count in self.pairs.most_common():
            bound = largest_gain(count, self.total) if score is likelihood else best
            if count < min_frequency or bound < best:
                break
            scores[pair] = score(self.counts(pair))
            best = max(best, scores[pair])
        return scores

    def counts(self, pair: Pair) -> Counts:
        """How often a pair and its pieces occur."""
        left, right = pair
        count, alike = self.pairs[pair], left == right
        merged = self.doubles[left] if alike else count
        return Counts(count, merged, self.pieces[left], self.pieces[right], self.total, alike)

    def merge(self, pair: Pair, token: str) -> None:
        """Replace the pair by the token in every word."""
        for number in self._words_with.pop(pair):
            self._count(number, -1)
            self._words[number] = merge_pair(self._words[number], pair, token)
            self._count(number, 1)

    def _count(self, number: int, sign: int) -> None:
        """Add a word to the counts (sign 1) or remove it (-1)."""
        pieces, count = self._words[number], sign * self._times[number]
        self.total += len(pieces) * count
        for piece, run in groupby(pieces):
            length = sum(1 for _ in run)
            self.pieces[piece] += length * count
            self.doubles[piece] += length // 2 * count
        for pair in pairwise(pieces):
            self.pairs[pair] += count
            if sign > 0:
                self._words_with[pair].add(number)
            elif not self.pairs[pair]:
                del self.pairs[pair]


def learn_merges(
    words: Words,
    tokens: Sequence[str],
    vocab_size: int,
    min_frequency: int = 0,
    score: Score = frequency,
    prefix: str = "",
) -> Iterator[MergeStep]:
    """The merges of some words, one after another (Sennrich et al. 2016, algorithm 1).

    Of equal scores, the more frequent pair comes first; then the pair whose left piece has the
    lower id; then the pair whose right piece has. The ``tokenizers`` library does the same.

    A token is always built in the same way, so no merge is learned twice. The exception is a
    word that contains the characters of the prefix or suffix itself, so that a token can be
    spelled in two ways ("a$$b" with the suffix "$"); there the library may learn other merges.

    Args:
        words: the words, segmented into their first pieces, and their counts.
        tokens: the tokens before any merge, in the order of their ids.
        vocab_size: stop at this number of tokens.
        min_frequency: stop when no pair occurs so often.
        score: ``frequency`` (BPE), ``likelihood`` (WordPiece) or ``pmi``. Learning ends when no
            pair has a positive score.
        prefix: what a right piece loses when it is merged to a left one.
    """
    ids = {token: id_ for id_, token in enumerate(tokens)}
    table = PairTable(words)
    while len(ids) < vocab_size:
        scores = table.scores(score, max(1, min_frequency))
        best = max(scores.values(), default=0)
        if best <= 0:
            return
        tied = [pair for pair, value in scores.items() if value == best]
        pair = min(tied, key=lambda it: (-table.pairs[it], ids[it[0]], ids[it[1]]))
        token = joined(pair, prefix)
        yield MergeStep(pair, token, table.pairs[pair], best, len(tied) - 1)
        ids.setdefault(token, len(ids))
        table.merge(pair, token)


def replay(words: Words, steps: Iterable[MergeStep]) -> Iterator[dict[Pieces, int]]:
    """The words before the first merge, and after each."""
    now = dict(words)
    yield now
    for step in steps:
        merged: Counter[Pieces] = Counter()
        for pieces, count in now.items():
            merged[tuple(merge_pair(pieces, step.pair, step.token))] += count
        now = dict(merged)
        yield now
