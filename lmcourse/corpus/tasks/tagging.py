"""Tagging: the part of speech of each token, from both sides or from the left only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.inference import Inference
from lmcourse.corpus.tasks.drawing import Pool
from lmcourse.corpus.tasks.passages import parts_of_speech, posterior
from lmcourse.corpus.tasks.task import Task, checked_option


@dataclass(frozen=True)
class TaggingExample:
    """A review with the part of speech of every token.

    Attributes:
        tokens: the whole review.
        tags: of each token.
        positions: the tokens that count.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    positions: tuple[int, ...]

    @property
    def label(self) -> tuple[str, ...]:
        """The tags of the tokens that count."""
        return tuple(self.tags[position] for position in self.positions)


def tagging(
    world: BookWorld,
    n: int,
    seed: int = 0,
    context: str = "both",
    words: str | Sequence[str] = "ambiguous",
    reviews: Sequence[Review] | None = None,
) -> Task[TaggingExample]:
    """Reviews whose tokens are to be tagged.

    Most words can be one part of speech only, and a list of them would do. What counts by default
    are the others (her, that, light, novel, …); many are decided by the word to their right.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        context: what the best score may look at: ``both`` sides, or the ``left`` only, the token
            included. The examples are the same.
        words: the tokens that count: ``ambiguous`` (they could be another part of speech), ``all``,
            or a list of words such as ``["her", "light"]``.
        reviews: take these instead.

    Returns:
        A task whose labels are the parts of speech, in their natural frequencies. The best score is
        exact: about 60 ms a review from both sides, and 20 ms for each ambiguous token from the
            left.
    """
    checked_option("context", context, ("both", "left"))
    name = "tagging"
    options = {token: parts_of_speech(world, token) for token in world.vocabulary}
    pool = Pool(world, name, seed, partial(_tagged, counted=_counted(options, words)), reviews)
    examples = tuple(pool.take(None) for _ in range(n))
    labels = tuple(sorted({tag for each in options.values() for tag in each}))
    given = [tag for example in examples for tag in example.label]
    return Task(
        name=name,
        question="What part of speech is each token that counts?",
        labels=labels,
        examples=examples,
        chance=max((given.count(tag) / len(given) for tag in set(given)), default=float("nan")),
        metric="accuracy over the tokens that count",
        how=f"P(part of speech | {'whole review' if context == 'both' else 'tokens so far'}).",
        solver=partial(_posterior, world, labels, options, context == "left"),
    )


def _counted(options: dict[str, list[str]], words: str | Sequence[str]) -> set[str]:
    """The words that count."""
    if isinstance(words, str):
        checked_option("words", words, ("ambiguous", "all"))
        return {token for token in options if words == "all" or len(options[token]) > 1}
    return set(words)


def _tagged(
    review: Review, random: Random, counted: set[str]
) -> Iterator[tuple[None, TaggingExample]]:
    positions = tuple(position for position, token in enumerate(review.tokens) if token in counted)
    if positions:
        yield None, TaggingExample(tuple(review.tokens), tuple(review.parts_of_speech), positions)


def _posterior(
    world: BookWorld,
    labels: tuple[str, ...],
    options: dict[str, list[str]],
    left: bool,
    example: TaggingExample,
) -> np.ndarray:
    ids = world.encode((*example.tokens, END))
    whole = Inference(world.network, ids)
    rows = np.zeros((len(example.positions), len(labels)))
    for row, position in zip(rows, example.positions, strict=True):
        only = options[example.tokens[position]]
        if len(only) == 1:
            row[labels.index(only[0])] = 1.0
            continue
        shown = Inference(world.network, ids[: position + 1]) if left else whole
        for tag, share in posterior(shown, position, lambda tag: tag.part_of_speech).items():
            row[labels.index(tag or "")] = share
    return rows
