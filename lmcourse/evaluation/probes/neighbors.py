"""Word senses by the nearest neighbor: an occurrence gets the sense of the most similar one.

Peters et al. (2018, "Deep contextualized word representations", section 5.3) tell so what a layer
knows of senses. Nothing is trained: if occurrences of one sense lie together, the nearest labeled
occurrence *of the same word*, by the cosine of their vectors, has the right sense.

Where several are equally near, each has its share of the answer, as if one of them was drawn. So a
static vector, to which all occurrences of a word are equally near, is right exactly as often as a
labeled occurrence drawn blindly; which one stands first in a list makes no difference.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import finite, same_length
from lmcourse.evaluation.probes.occurrences import Columns, Occurrences, checked_pair
from lmcourse.evaluation.uncertainty import Score, mean_score

EQUAL = 1e-9  # cosines that differ by less are equal: float32 brings no more than that near to 1


@dataclass(frozen=True)
class NeighborScore:
    """How often the nearest neighbor has the right sense, over all words or for one.

    Attributes:
        score: accuracy; its error counts texts, not occurrences.
        chance: the accuracy of drawing one of the word's senses blindly, all equally likely.
        majority: that of the sense that the word has most often in the training occurrences.
        best: that of the exact answer, where it was given.
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
    """What the nearest neighbor tells.

    Attributes:
        overall: over all occurrences.
        words: of each word.
        right: of each occurrence, the share of its nearest neighbors that have its sense: 0 or 1
            where one of them is nearest.
    """

    overall: NeighborScore
    words: dict[str, NeighborScore]
    right: Float[np.ndarray, " occurrence"]

    def __str__(self) -> str:
        return str(self.overall)


def nearest_neighbor(train: Occurrences, test: Occurrences, exact: Any = None) -> NeighborProbe:
    """Give each occurrence the label of its nearest neighbor among the same word's.

    Args:
        train: labeled occurrences that neighbors are looked for in.
        test: those that are asked about.
        exact: of each of them, how probable the best answer is: `exact_shares` of its task.

    Returns:
        Scores of all words together and of each. A vector of zeros has no direction: it is equally
        near to all.

    Raises:
        CourseError: there is no occurrence; a word has none in ``train``; a vector is not finite,
            or has another width.
    """
    known, asked = checked_pair(train, test)
    missing = sorted(set(asked.words.tolist()) - set(known.words.tolist()))
    if missing:
        raise CourseError(
            f"{len(missing)} words of test have no occurrence in train, such as {missing[0]!r}.",
            "Build a larger training set, or leave these words out of the test.",
        )
    best = None if exact is None else finite("exact", exact)
    if best is not None:
        same_length(test=asked.words, exact=best)
    right = _by_word(known, asked, _nearest)
    chance = _by_word(known, asked, _blindly)
    majority = _by_word(known, asked, _most_frequent)

    def score(rows: NDArray[np.bool_]) -> NeighborScore:
        texts = asked.texts[rows]
        return NeighborScore(
            mean_score(right[rows], texts),
            float(chance[rows].mean()),
            float(majority[rows].mean()),
            None if best is None else mean_score(best[rows], texts),
        )

    words = {str(word): score(asked.words == word) for word in np.unique(asked.words)}
    return NeighborProbe(score(np.ones(len(right), bool)), words, right)


Rule = Callable[[Columns, Columns], Float[np.ndarray, " occurrence"]]
"""How probable the right label is, by the occurrences of one word."""


def _by_word(known: Columns, asked: Columns, rule: Rule) -> Float[np.ndarray, " occurrence"]:
    found = np.zeros(len(asked.words))
    for word in np.unique(asked.words):
        mine, its = asked.words == word, known.words == word
        found[mine] = rule(
            Columns(*(each[its] for each in known)), Columns(*(each[mine] for each in asked))
        )
    return found


def _nearest(known: Columns, asked: Columns) -> Float[np.ndarray, " occurrence"]:
    cosines = _directions(asked.vectors) @ _directions(known.vectors).T
    nearest = cosines >= cosines.max(1, keepdims=True) - EQUAL
    return (nearest & (asked.labels[:, None] == known.labels)).sum(1) / nearest.sum(1)


def _blindly(known: Columns, asked: Columns) -> Float[np.ndarray, " occurrence"]:
    labels = np.unique(known.labels)
    return np.isin(asked.labels, labels) / len(labels)


def _most_frequent(known: Columns, asked: Columns) -> Float[np.ndarray, " occurrence"]:
    labels, counts = np.unique(known.labels, return_counts=True)
    first = labels[counts == counts.max()]
    return np.isin(asked.labels, first) / len(first)


def _directions(vectors: Float[np.ndarray, "row width"]) -> Float[np.ndarray, "row width"]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)
