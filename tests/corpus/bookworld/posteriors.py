"""Further exact answers about a text, for the tests of inference."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.bookworld.templates import Tag

L = TypeVar("L")


def label_posterior(
    world: BookWorld, tokens: Sequence[str], position: int, label: Callable[[Tag], L]
) -> dict[L, float]:
    """P(label of the token at a position | the text)."""
    found: dict[L, float] = {}
    for tag, row in world._inference(tokens, at=position).tags(position).items():
        name = label(world.network.tags[tag])
        found[name] = found.get(name, 0.0) + float(row.sum())
    return found


def sense_posterior(
    world: BookWorld, tokens: Sequence[str], position: int
) -> dict[str | None, float]:
    """P(sense of the token | the text); None is "no labeled sense"."""
    return label_posterior(world, tokens, position, lambda tag: tag.sense)


def part_of_speech_posterior(
    world: BookWorld, tokens: Sequence[str], position: int
) -> dict[str, float]:
    """P(part of speech of the token | the text)."""
    return label_posterior(world, tokens, position, lambda tag: tag.part_of_speech)


def genre_posterior(world: BookWorld, tokens: Sequence[str]) -> dict[str, float]:
    """P(genre | the text)."""
    shares = world._inference(tokens).classes().sum(1)
    return dict(zip(world.genres, shares.tolist(), strict=True))
