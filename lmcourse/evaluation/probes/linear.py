"""Linear probes: are a word's tags written in its vector, so that a plane can read them off?

A logistic regression is trained on frozen vectors. That it is right often need not mean that the
vectors know the tags: given enough of them, it can learn by heart which tag each *word* has. Hewitt
and Liang (2019, "Designing and interpreting probes with control tasks") measure this. In the
control task each word gets a tag at random, drawn once from the tags' frequencies, and the same
probe is trained on that. Nothing but learning by heart helps there.

    selectivity = accuracy on the tags − accuracy on the control task

Two answers that look at no vector stand beside it: the most frequent tag of all, and the most
frequent tag of the word. A probe on ambiguous words is worth what it has above the second.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import finite, same_length
from lmcourse.evaluation.probes.occurrences import Occurrences, checked_pair
from lmcourse.evaluation.uncertainty import Score, mean_score

ITERATIONS = 1000


@dataclass(frozen=True)
class LinearProbe:
    """What a linear probe reads off. Errors count texts, not occurrences.

    Attributes:
        accuracy: on the tags.
        control: on tags that each word got at random.
        selectivity: by how much the first is larger, occurrence by occurrence.
        majority: accuracy of the most frequent tag.
        word_majority: accuracy of each word's most frequent tag; of the most frequent tag, for a
            word that training did not have.
        best: accuracy of the exact answer, where it was given.
        predictions: of each occurrence, its tag by the probe.
        converged: whether both trainings came to their end; otherwise the probe is a worse one.
    """

    accuracy: Score
    control: Score
    selectivity: Score
    majority: Score
    word_majority: Score
    best: Score | None
    predictions: NDArray[Any]
    converged: bool

    def __str__(self) -> str:
        best = "" if self.best is None else f", best {self.best.value:.3f}"
        return (
            f"{self.accuracy} (each word's most frequent tag {self.word_majority.value:.3f}{best}; "
            f"control task {self.control.value:.3f})"
        )


def linear_probe(
    train: Occurrences,
    test: Occurrences,
    exact: Any = None,
    *,
    penalty: int | float = 1.0,
    seed: int = 0,
) -> LinearProbe:
    """Train a logistic regression on vectors and tags; test it, and its control task.

    Vectors are standardized first, by the means and deviations of ``train`` alone: those of the
    test have no say in it.

    Args:
        train, test: from different texts.
        exact: of each test occurrence how probable the best answer is: `exact_shares` of its task.
        penalty: of the weights' squared length; a larger one makes a weaker, more selective probe.
        seed: what the control task's tags are drawn with.

    Raises:
        CourseError: there is no occurrence; a vector is not finite, or has another width; words
            or tags are numbers in one set and strings in the other; the penalty is not above 0.
    """
    if not 0 < penalty < np.inf:
        raise CourseError(f"penalty is {penalty}.", "Give a number above 0, such as 1.")
    known, asked = checked_pair(train, test)
    best = None if exact is None else finite("exact", exact)
    if best is not None:
        same_length(test=asked.words, exact=best)
    predictions, ended = _fitted(known.vectors, known.labels, asked.vectors, penalty)
    drawn = control_labels([*known.words, *asked.words], known.labels, seed)
    random, asked_random = drawn[: len(known.words)], drawn[len(known.words) :]
    by_heart, ended_too = _fitted(known.vectors, random, asked.vectors, penalty)
    right = (predictions == asked.labels).astype(float)
    right_by_heart = (by_heart == asked_random).astype(float)

    def score(values: Any) -> Score:
        return mean_score(values, asked.texts)

    return LinearProbe(
        score(right),
        score(right_by_heart),
        score(right - right_by_heart),
        score(most_frequent(known.labels) == asked.labels),
        score(_of_words(known.words, known.labels, asked.words) == asked.labels),
        None if best is None else score(best),
        predictions,
        ended and ended_too,
    )


def control_labels(words: Any, labels: Any, seed: int = 0) -> NDArray[Any]:
    """A tag for each occurrence that its word alone decides, at random.

    Args:
        words: of each occurrence.
        labels: the real tags, whose frequencies the random ones have.
    """
    kinds, number = np.unique(np.asarray(words), return_inverse=True)
    return np.random.default_rng(seed).choice(np.asarray(labels), size=len(kinds))[number]


def most_frequent(labels: NDArray[Any]) -> Any:
    """The tag that occurs most often; of several, the first in order."""
    values, counts = np.unique(labels, return_counts=True)
    return values[counts.argmax()]


def _of_words(words: NDArray[Any], labels: NDArray[Any], asked: NDArray[Any]) -> NDArray[Any]:
    own = {word: most_frequent(labels[words == word]) for word in np.unique(words)}
    other = most_frequent(labels)
    return np.array([own.get(word, other) for word in asked])


def _fitted(
    vectors: Float[np.ndarray, "known width"],
    labels: NDArray[Any],
    asked: Float[np.ndarray, "asked width"],
    penalty: int | float,
) -> tuple[NDArray[Any], bool]:
    """What a probe that was trained on the first says of the others; whether it converged."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if len(np.unique(labels)) == 1:  # nothing is to be told apart
        return np.full(len(asked), labels[0]), True
    probe = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=ITERATIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(vectors, labels)
    return probe.predict(asked), bool(probe[-1].n_iter_.max() < ITERATIONS)
