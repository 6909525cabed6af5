"""Spoilers: does a sentence give the ending away?"""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.corpus.bookworld.templates import SENTENCE_ENDS, Tag
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.passages import expected, passage, posterior
from lmcourse.corpus.tasks.task import Example, Task

LABELS = ("spoiler", "plain")


def spoilers(
    world: BookWorld,
    n: int,
    seed: int = 0,
    reviews: Sequence[Review] | None = None,
) -> Task[Example]:
    """Sentences of reviews: does a sentence give the ending away?

    Half of them do. (In reviews, few do: there, accuracy would be high for a model that never says
    so.) The best score is exact: P(spoiler | sentence) in reviews, from which the labels' natural
    frequencies are divided out.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        reviews: take the sentences from these instead.

    Returns:
        A task with the labels ``spoiler`` and ``plain``.
    """
    name = "spoilers"
    pool = Pool(world, name, seed, _sentences, reviews)
    labels = in_turn(LABELS, n, Random(f"{name} {seed}"))
    return Task(
        name=name,
        question="Does the sentence give the ending away?",
        labels=LABELS,
        examples=tuple(Example(pool.take(label), label) for label in labels),
        chance=0.5,
        metric="accuracy",
        how="P(spoiler | sentence), with both labels equally frequent.",
        solver=partial(_posterior, world),
    )


def _sentences(review: Review, random: Random) -> Iterator[tuple[str, tuple[str, ...]]]:
    for sentence in review.sentences:
        label = "spoiler" if sentence.spoiler else "plain"
        yield label, tuple(review.tokens[sentence.start : sentence.end])


def _label(tag: Tag) -> str:
    return "spoiler" if "spoiler" in tag.marks else "plain"


def _posterior(world: BookWorld, example: Example) -> np.ndarray:
    """The marks of a sentence are on its last token."""
    shares = posterior(passage(world, example.tokens), len(example.tokens) - 1, _label)
    ends = [token for token in SENTENCE_ENDS if token in world.network.ids]
    natural = expected(world, ends, _label)
    row = np.array([shares.get(label, 0.0) / natural[label] for label in LABELS])
    return row / row.sum()
