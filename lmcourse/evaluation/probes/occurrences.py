"""Words in their texts, each with a vector and a label: what a probe learns from and is tested on.

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
from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import as_arrays, column, same_length
from lmcourse.evaluation.probes.states import WordVectors


class Occurrences(NamedTuple):
    """Occurrences of words, one row each.

    Attributes:
        vectors: (occurrence, width).
        words, labels: of each occurrence.
        texts: of each occurrence, which text it is from: those of one text are no independent
            examples. None: each is from a text of its own.
    """

    vectors: Any
    words: Any
    labels: Any
    texts: Any = None


class Columns(NamedTuple):
    """Occurrences that were looked at: arrays of one length."""

    vectors: Float[np.ndarray, "occurrence width"]
    words: NDArray[Any]
    labels: NDArray[Any]
    texts: NDArray[Any]


def occurrences(
    task: Task[SenseExample] | Task[TaggingExample],
    states: Sequence[WordVectors],
) -> Occurrences:
    """The words that a task asks about, with their vectors in one layer.

    Args:
        task: `word_sense` or `tagging`.
        states: of each example its words' vectors, from `hidden_states` of its tokens.

    Raises:
        CourseError: there are not as many texts as examples, or words as tokens.
    """
    examples: Sequence[SenseExample | TaggingExample] = task.examples
    sizes = [len(example.tokens) for example in examples]
    if [len(each) for each in states] != sizes:
        raise CourseError(
            f"The task {task.name} has {len(sizes)} texts of {sum(sizes)} words, and there are "
            f"vectors of {len(states)} texts of {sum(map(len, states))} words.",
            "Pass hidden_states(model, [example.tokens for example in task.examples], …)[layer].",
        )
    rows = [
        (vectors[place], example.tokens[place], label, number)
        for number, (example, vectors) in enumerate(zip(examples, states, strict=True))
        for place, label in _asked(example)
    ]
    return Occurrences(*zip(*rows, strict=True)) if rows else Occurrences([], [], [], [])


def _asked(example: SenseExample | TaggingExample) -> list[tuple[int, str]]:
    if isinstance(example, TaggingExample):
        return list(zip(example.positions, example.label, strict=True))
    return [(example.position, example.label)]


def exact_shares(task: Task[Any]) -> Float[np.ndarray, " occurrence"]:
    """How probable the best answer is at each occurrence: its mean is the best score there is.

    Raises:
        CourseError: the task has no exact posteriors.
    """
    return np.concatenate([rows.max(1) for rows in task.posteriors] or [np.empty(0)])


def checked(name: str, given: Occurrences) -> Columns:
    """Occurrences as arrays.

    Raises:
        CourseError: there are none; their numbers differ; a vector is not finite.
    """
    words, labels = column(f"{name}.words", given.words), column(f"{name}.labels", given.labels)
    texts = np.arange(len(words)) if given.texts is None else column(f"{name}.texts", given.texts)
    try:
        vectors = np.asarray(as_arrays(given.vectors), np.float64)
    except ValueError:
        raise CourseError(
            f"{name}.vectors have different widths.", "Take all of them from one layer."
        ) from None
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise CourseError(
            f"{name}.vectors has the shape {vectors.shape}.", "Pass (occurrence, width)."
        )
    if not np.isfinite(vectors).all():
        at = int(np.isfinite(vectors).all(1).argmin())
        raise CourseError(
            f"{name}.vectors[{at}] holds NaN or infinity.", "Look at the model that it is from."
        )
    same_length(words=words, labels=labels, texts=texts, vectors=vectors)
    return Columns(vectors, words, labels, texts)


def checked_pair(train: Occurrences, test: Occurrences) -> tuple[Columns, Columns]:
    """Both sets, whose vectors have one width, and words and labels one kind of names.

    Raises:
        CourseError: as `checked`; the widths or kinds differ.
    """
    known, asked = checked("train", train), checked("test", test)
    widths = known.vectors.shape[1], asked.vectors.shape[1]
    if widths[0] != widths[1]:
        raise CourseError(
            f"The vectors have widths {widths[0]} in train and {widths[1]} in test.",
            "Take both from the same layer of the same model.",
        )
    for what, one, other in (
        ("Words", known.words, asked.words),
        ("Labels", known.labels, asked.labels),
    ):
        if one.dtype.kind != other.dtype.kind:  # nothing of the one would be found in the other
            raise CourseError(
                f"{what} are of type {one.dtype} in train and {other.dtype} in test.",
                "Name them in one way in both.",
            )
    return known, asked
