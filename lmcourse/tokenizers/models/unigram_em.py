"""The steps of unigram training: expectation, maximization, and the loss of leaving a piece out.

The segmentation of the words is latent, so EM is used (Kudo 2018, section 3.2, step 2): under the
current scores, the E step counts how often each piece is expected in the corpus; the M step
computes scores from the counts. Then the pieces that the likelihood needs least are pruned.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lmcourse.tokenizers.models.lattice import (
    UNKNOWN_PENALTY,
    Lattice,
    expected_counts,
    log_likelihood,
    path_back,
    viterbi,
)

RARE = 0.5  # a piece that is expected less often is dropped by the M step


class Alternative(NamedTuple):
    """The best segmentation of a piece into several."""

    score: float  # nats
    pieces: tuple[str, ...]


def unknown_score(scores: Mapping[str, float]) -> float:
    """The score of a character that is no piece, nats."""
    return min(scores.values(), default=0.0) - UNKNOWN_PENALTY


class Corpus:
    """The quantities that the trainer needs of the words.

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
        3.2; the expected counts of a word have the same weight.
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
        """The best segmentation of each piece (of two characters or more) into several.

        Of equal ones the one with the shortest last piece is taken (as the library's search for
        the second best path does), so the lattice's longest nodes come last.
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


def maximize(expected: Mapping[str, float]) -> dict[str, float]:
    """The M step: scores, nats, from expected counts c.

    Standard EM has ``p = c / Σ c``. This is SentencePiece's and the library's: the variational form
    of EM under a Dirichlet prior whose weight goes to 0, ``p = exp(ψ(c)) / exp(ψ(Σ c))``. It lowers
    every count by about 1/2, relatively more for small counts, and so favors few pieces. A piece
    with an expected count below 1/2 is dropped before. (Liang and Klein 2007, "Structured Bayesian
    Nonparametric Models with Variational Inference", ACL tutorial.)
    """
    from scipy.special import digamma

    kept = {piece: count for piece, count in expected.items() if count >= RARE}
    scores = digamma([*kept.values(), sum(kept.values()) or 1.0])
    return dict(zip(kept, (scores[:-1] - scores[-1]).tolist(), strict=True))


def loss(
    count: float, alternatives: Sequence[float], total: float, words: float, growth: int
) -> float:
    """How much the log-likelihood of a word falls, approximately, if a piece is pruned, nats.

    The exact value would require EM. Instead, the piece's occurrences in the best segmentations are
    assumed to be replaced by its alternative, to whose counts they are added, and nothing else to
    change (SentencePiece's approximation of the loss of Kudo 2018, section 3.2, step 2b).

    Args:
        count: how often the piece occurs in the best segmentations of the words.
        alternatives: how often each piece of its alternative does.
        total: how often all pieces do.
        words: how many words there are.
        growth: the number of additional pieces per replaced occurrence. In SentencePiece these are
            ``len(alternatives) - 1``; the ``tokenizers`` library takes the size of the whole
            vocabulary instead (the length of the table of all alternatives), which raises the loss
            of frequent pieces.
    """
    log_before = math.log(count) - math.log(total)
    log_total_after = math.log(total + count * growth)
    log_after = sum(math.log(part + count) - log_total_after for part in alternatives)
    return count / words * (log_before - log_after)
