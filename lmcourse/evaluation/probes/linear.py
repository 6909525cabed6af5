"""Linear probes: can a word's tag be predicted linearly from its vector?

A logistic regression is trained on frozen vectors. A high accuracy need not mean that the vectors
encode the tags: with enough dimensions, the probe can memorize which tag each *word* has. Hewitt
and Liang (2019, "Designing and interpreting probes with control tasks") measure this. In the
control task each word gets a random tag, drawn once from the tags' frequencies, and the same probe
is trained on it. Only memorization helps there.

    selectivity = accuracy on the tags − accuracy on the control task

Two baselines use no vector: the most frequent tag overall, and the most frequent tag of the word. A
probe on ambiguous words must exceed the second.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lmcourse.evaluation.probes.occurrences import Occurrences, checked_pair
from lmcourse.evaluation.uncertainty import Score, mean_score

ITERATIONS = 1000


@dataclass(frozen=True)
class LinearProbe:
    """The accuracies of a linear probe. Standard errors are over texts, not occurrences.

    Attributes:
        accuracy: on the tags.
        control: on the control task's tags.
        selectivity: the difference of the two.
        majority: of the most frequent tag.
        word_majority: of each word's most frequent tag; of the most frequent tag, for a word that
            is not in the training set.
        best: of the exact answer, if it was passed.
        predictions: the probe's tag of each occurrence. Shape (occurrence).
        converged: whether both trainings converged.
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

    Vectors are standardized first, by the means and standard deviations of ``train``.

    Args:
        train, test: from different texts.
        exact: the probability of the best answer at each test occurrence: `exact_shares` of its
            task.
        penalty: of the weights' squared norm; a larger one makes a weaker, more selective probe.
        seed: of the control task's tags.
    """
    known, queried, best = checked_pair(train, test, exact)
    predictions, converged = _fitted(known.vectors, known.labels, queried.vectors, penalty)
    drawn = control_labels([*known.words, *queried.words], known.labels, seed)
    control, queried_control = drawn[: len(known.words)], drawn[len(known.words) :]
    memorized, converged_too = _fitted(known.vectors, control, queried.vectors, penalty)
    right = (predictions == queried.labels).astype(float)
    right_control = (memorized == queried_control).astype(float)

    def score(values: Any) -> Score:
        return mean_score(values, queried.texts)

    return LinearProbe(
        score(right),
        score(right_control),
        score(right - right_control),
        score(most_frequent(known.labels) == queried.labels),
        score(_word_majority(known.words, known.labels, queried.words) == queried.labels),
        None if best is None else score(best),
        predictions,
        converged and converged_too,
    )


def control_labels(words: Any, labels: Any, seed: int = 0) -> NDArray[Any]:
    """Return a random tag for each occurrence, the same for all occurrences of a word.

    Args:
        words: of each occurrence. Shape (occurrence).
        labels: the real tags, from whose frequencies the random ones are drawn.
    """
    kinds, number = np.unique(np.asarray(words), return_inverse=True)
    return np.random.default_rng(seed).choice(np.asarray(labels), size=len(kinds))[number]


def most_frequent(labels: NDArray[Any]) -> Any:
    """Return the tag that occurs most often; of several, the first in order."""
    values, counts = np.unique(labels, return_counts=True)
    return values[counts.argmax()]


def _word_majority(
    words: NDArray[Any], labels: NDArray[Any], queried: NDArray[Any]
) -> NDArray[Any]:
    own = {word: most_frequent(labels[words == word]) for word in np.unique(words)}
    other = most_frequent(labels)
    return np.array([own.get(word, other) for word in queried])


def _fitted(
    vectors: Float[np.ndarray, "known width"],
    labels: NDArray[Any],
    queried: Float[np.ndarray, "queried width"],
    penalty: int | float,
) -> tuple[NDArray[Any], bool]:
    """Train a probe; return its predictions of the queried labels, and whether it converged."""
    if len(np.unique(labels)) == 1:  # which scikit-learn refuses
        return np.full(len(queried), labels[0]), True
    probe = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=ITERATIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(vectors, labels)
    return probe.predict(queried), bool(probe[-1].n_iter_.max() < ITERATIONS)
