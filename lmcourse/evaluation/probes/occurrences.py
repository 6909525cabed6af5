"""Words in their texts, each with a vector and a label: the training and test data of probes.

train, test = word_sense(world, 2000, seed=1), word_sense(world, 500, seed=2)
states = hidden_states(model, [example.tokens for example in train.examples], tokenizer)
known = occurrences(train, states[-1])
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from lmcourse.corpus.tasks.senses import SenseExample
from lmcourse.corpus.tasks.tagging import TaggingExample
from lmcourse.corpus.tasks.task import Task
from lmcourse.evaluation.columns import column
from lmcourse.evaluation.probes.states import WordVectors


class Occurrences(NamedTuple):
    """Occurrences of words, one row each.

    Attributes:
        vectors: (occurrence, width).
        words, labels: of each occurrence. Shape (occurrence).
        texts: the text that each occurrence is from; occurrences in one text are not independent.
            None: each has a text of its own.
    """

    vectors: Any
    words: Any
    labels: Any
    texts: Any = None


class Columns(NamedTuple):
    """Occurrences as arrays of one length."""

    vectors: Float[np.ndarray, "occurrence width"]
    words: NDArray[Any]
    labels: NDArray[Any]
    texts: NDArray[Any]


def occurrences(
    task: Task[SenseExample] | Task[TaggingExample],
    states: Sequence[WordVectors],
) -> Occurrences:
    """Return the words that a task labels, with their vectors in one layer.

    Args:
        task: `word_sense` or `tagging`.
        states: the vectors of each example's words, from `hidden_states` of its tokens.
    """
    examples: Sequence[SenseExample | TaggingExample] = task.examples
    rows = [
        (vectors[position], example.tokens[position], label, number)
        for number, (example, vectors) in enumerate(zip(examples, states, strict=True))
        for position, label in _labeled(example)
    ]
    return Occurrences(*zip(*rows, strict=True)) if rows else Occurrences([], [], [], [])


def _labeled(example: SenseExample | TaggingExample) -> list[tuple[int, str]]:
    if isinstance(example, TaggingExample):
        return list(zip(example.positions, example.label, strict=True))
    return [(example.position, example.label)]


def exact_shares(task: Task[Any]) -> Float[np.ndarray, " occurrence"]:
    """Return the exact answer's probability at each occurrence; the mean is the best accuracy."""
    return np.concatenate([rows.max(1) for rows in task.posteriors] or [np.empty(0)])


def as_columns(given: Occurrences) -> Columns:
    """Return occurrences as arrays."""
    words = column(given.words)
    texts = np.arange(len(words)) if given.texts is None else column(given.texts)
    return Columns(column(given.vectors, float), words, column(given.labels), texts)


def checked_pair(
    train: Occurrences, test: Occurrences, exact: Any = None
) -> tuple[Columns, Columns, Float[np.ndarray, " occurrence"] | None]:
    """Return both sets and the probabilities of the exact answers as arrays."""
    best = None if exact is None else column(exact, float)
    return as_columns(train), as_columns(test), best
