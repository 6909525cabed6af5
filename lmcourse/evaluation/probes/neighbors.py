"""Word senses by the nearest neighbor: an occurrence gets the sense of the most similar one.

As Melamud et al. (2016, "context2vec"); Peters et al. (2018, section 5.3) take the
nearest *average* of a sense. Nothing is trained: if occurrences of one sense are close together,
the nearest labeled occurrence *of the same word*, by cosine, has the right sense.

Occurrences at equal distance share the answer, as if one of them was drawn. So a static vector, to
which all occurrences of a word are equally near, is right exactly as often as a labeled occurrence
drawn at random; the order of the training set makes no difference.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity

from lmcourse.errors import CourseError
from lmcourse.evaluation.probes.occurrences import Columns, Occurrences, checked_pair
from lmcourse.evaluation.uncertainty import Score, mean_score

EQUAL = 1e-9  # cosines that differ by less are equal: float32 resolves no smaller difference near 1


@dataclass(frozen=True)
class NeighborScore:
    """How often the nearest neighbor has the right sense, over all words or for one.

    Attributes:
        score: accuracy; its standard error is over texts, not occurrences.
        chance: the accuracy of drawing one of the word's senses uniformly.
        majority: that of the word's most frequent sense in the training occurrences.
        best: that of the exact answer, if it was passed.
    """

    score: Score
    chance: float
    majority: float
    best: Score | None = None

    def __str__(self) -> str:
        best = "" if self.best is None else f", best {self.best.value:.3f}"
        return f"{self.score} (chance {self.chance:.3f}, majority {self.majority:.3f}{best})"


@dataclass(frozen=True)
class NeighborProbe:
    """The result of `nearest_neighbor`.

    Attributes:
        overall: over all occurrences.
        words: by word.
        right: of each occurrence, the share of its nearest neighbors that have its sense: 0 or 1
            if a single one is nearest.
    """

    overall: NeighborScore
    words: dict[str, NeighborScore]
    right: Float[np.ndarray, " occurrence"]

    def __str__(self) -> str:
        return str(self.overall)


def nearest_neighbor(train: Occurrences, test: Occurrences, exact: Any = None) -> NeighborProbe:
    """Give each occurrence the label of its nearest neighbor among those of the same word.

    Args:
        train: labeled occurrences, the candidates.
        test: occurrences to classify.
        exact: the probability of the best answer at each of them: `exact_shares` of its task.

    Returns:
        Scores of all words together and of each. A vector of zeros has no direction: it is equally
        near to all.
    """
    known, queried, best = checked_pair(train, test, exact)
    missing = np.setdiff1d(queried.words, known.words).tolist()
    if missing:
        raise CourseError(
            f"{len(missing)} words of test have no occurrence in train, such as {missing[0]!r}.",
            "Build a larger training set, or leave these words out of the test.",
        )
    right, chance, majority = (
        _by_word(known, queried, rule) for rule in (_nearest, _uniform, _most_frequent)
    )

    def score(rows: NDArray[np.bool_]) -> NeighborScore:
        texts = queried.texts[rows]
        return NeighborScore(
            mean_score(right[rows], texts),
            float(chance[rows].mean()),
            float(majority[rows].mean()),
            None if best is None else mean_score(best[rows], texts),
        )

    words = {str(word): score(queried.words == word) for word in np.unique(queried.words)}
    return NeighborProbe(score(np.ones(len(right), bool)), words, right)


Rule = Callable[[Columns, Columns], Float[np.ndarray, " occurrence"]]
"""The probability of the right label, from the occurrences of one word."""


def _by_word(known: Columns, queried: Columns, rule: Rule) -> Float[np.ndarray, " occurrence"]:
    right = np.zeros(len(queried.words))
    for word in np.unique(queried.words):
        rows, candidates = queried.words == word, known.words == word
        right[rows] = rule(
            Columns(*(each[candidates] for each in known)),
            Columns(*(each[rows] for each in queried)),
        )
    return right


def _nearest(known: Columns, queried: Columns) -> Float[np.ndarray, " occurrence"]:
    cosines = cosine_similarity(queried.vectors, known.vectors)
    nearest = cosines >= cosines.max(1, keepdims=True) - EQUAL
    shares: np.ndarray = (nearest & (queried.labels[:, None] == known.labels)).sum(1)
    return shares / nearest.sum(1)


def _uniform(known: Columns, queried: Columns) -> Float[np.ndarray, " occurrence"]:
    labels = np.unique(known.labels)
    return np.isin(queried.labels, labels) / len(labels)


def _most_frequent(known: Columns, queried: Columns) -> Float[np.ndarray, " occurrence"]:
    labels, counts = np.unique(known.labels, return_counts=True)
    first = labels[counts == counts.max()]
    return np.isin(queried.labels, first) / len(first)
