"""The steps of unigram training: expectation, maximization, and the loss of leaving a piece out.

The segmentation of the words is hidden, so EM is used (Kudo 2018, section 3.2, step 2): under the
scores of now, the E step counts how often each piece is expected in the corpus; the M step makes
scores of the counts. Then the pieces that the likelihood needs least are pruned.

``Corpus`` is the readable form, one word after another. ``lattice_batch.FastCorpus`` answers the
same questions for all words at once.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from lmcourse.tokenizers.models.lattice import (
    UNKNOWN_PENALTY,
    Lattice,
    expected_counts,
    log_likelihood,
    path_back,
    viterbi,
)

MStep = Literal["bayesian", "plain"]
RARE = 0.5  # a piece that is expected less often is dropped by the Bayesian M step


class Alternative(NamedTuple):
    """The best way to cut a piece into several."""

    score: float  # nats
    pieces: tuple[str, ...]


def unknown_score(scores: Mapping[str, float]) -> float:
    """The score of a character that is no piece, nats."""
    return min(scores.values(), default=0.0) - UNKNOWN_PENALTY


class Corpus:
    """What the trainer asks of the words, answered one word after another.

    Args:
        word_counts: how often each word occurs.
        pieces: the seed pieces: every piece that there will be.
    """

    def __init__(self, word_counts: Mapping[str, int], pieces: Collection[str]) -> None:
        self.word_counts = word_counts
        self.longest = max(map(len, pieces), default=1)

    def _lattice(self, word: str, scores: Mapping[str, float], unknown: float) -> Lattice:
        return Lattice.of(word, scores, self.longest, unknown)

    def expected_counts(self, scores: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The E step: the corpus's log-likelihood, nats, and each piece's expected count in it.

        ``L = Σ over words of count · log P(word)``, the marginal likelihood of Kudo 2018, section
        3.2; the expected counts of a word are weighted alike.
        """
        unknown, likelihood = unknown_score(scores), 0.0
        expected: dict[str, float] = {}
        for word, count in self.word_counts.items():
            lattice = self._lattice(word, scores, unknown)
            likelihood += count * log_likelihood(lattice)
            for piece, times in expected_counts(lattice).items():
                expected[piece] = expected.get(piece, 0.0) + count * times
        return likelihood, expected

    def best_counts(self, scores: Mapping[str, float]) -> dict[str, float]:
        """How often each piece occurs in the best segmentations of all words."""
        unknown, totals = unknown_score(scores), Counter[str]()
        for word, count in self.word_counts.items():
            for node in path_back(viterbi(self._lattice(word, scores, unknown))):
                totals[node.piece(word)] += count
        return {piece: float(count) for piece, count in totals.items()}

    def alternatives(
        self, scores: Mapping[str, float], pieces: Collection[str]
    ) -> dict[str, Alternative]:
        """How each piece (of two characters or more) is best cut into several.

        Of equal ways the one with the shortest last piece is taken (what the library's search for
        the second best path finds), so the lattice is read with its longest nodes last.
        """
        unknown, found = unknown_score(scores), {}
        for piece in pieces:
            ending = self._lattice(piece, scores, unknown).ending
            parts = tuple(
                tuple(node for node in reversed(nodes) if node.end - node.start < len(piece))
                for nodes in ending
            )
            table = viterbi(Lattice(piece, parts))
            names = tuple(node.piece(piece) for node in path_back(table))
            found[piece] = Alternative(table[-1][0], names)
        return found


def digamma(x: float) -> float:
    """The derivative of log Γ at x > 0: ψ(x + 1) = ψ(x) + 1/x, and a series for large x.

    (Abramowitz and Stegun, 6.3.5 and 6.3.18.)
    """
    shift = 0.0
    while x < 10:
        shift += 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return math.log(x) - 1 / (2 * x) - series - shift


def maximize(expected: Mapping[str, float], m_step: MStep) -> dict[str, float]:
    """The M step: scores, nats, from expected counts c.

    * ``"plain"`` is EM proper: ``p = c / Σ c``, which never lowers the likelihood. A piece that is
      never expected is dropped.
    * ``"bayesian"``, SentencePiece's and the library's, is the variational form of EM under a
      Dirichlet prior whose weight goes to 0: ``p = exp(ψ(c)) / exp(ψ(Σ c))``. It takes from small
      counts more than from large ones (about 1/2 each), and so favors few pieces. A piece that is
      expected less than half a time is dropped before. (Liang and Klein 2007, "Structured Bayesian
      Nonparametric Models with Variational Inference", ACL tutorial.)
    """
    if m_step == "plain":
        kept = {piece: count for piece, count in expected.items() if count > 0}
        log_total = math.log(sum(kept.values()) or 1)
        return {piece: math.log(count) - log_total for piece, count in kept.items()}
    kept = {piece: count for piece, count in expected.items() if count >= RARE}
    log_total = digamma(sum(kept.values())) if kept else 0.0
    return {piece: digamma(count) - log_total for piece, count in kept.items()}


def loss(
    count: float, alternatives: Sequence[float], total: float, words: float, growth: float
) -> float:
    """How much the log-likelihood of a word falls, about, if a piece is pruned, nats.

    Exactly it would take EM to tell. So the piece's occurrences in the best segmentations are
    taken to be replaced by its alternative, whose counts they join, and nothing else to change
    (SentencePiece's approximation of the loss of Kudo 2018, section 3.2, step 2b).

    Args:
        count: how often the piece occurs in the best segmentations of the words.
        alternatives: how often each piece of its alternative does.
        total: how often all pieces do.
        words: how many words there are.
        growth: how many more pieces there are for each occurrence that is replaced. The
            alternative has ``len(alternatives) - 1`` more, as SentencePiece reckons. The
            ``tokenizers`` library takes the size of the whole vocabulary in its place (the length
            of the table of all alternatives), which raises the loss of frequent pieces.
    """
    log_before = math.log(count) - math.log(total)
    log_total_after = math.log(total + count * growth)
    log_after = sum(math.log(part + count) - log_total_after for part in alternatives)
    return count / words * (log_before - log_after)
