"""What a model's vectors know beside its loss: analogies, senses of words, parts of speech."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import Task, analogies, tagging, word_sense
from lmcourse.corpus.vectors import WordVectors
from lmcourse.evaluation.probes import exact_shares, linear_probe, nearest_neighbor, occurrences
from lmcourse.evaluation.uncertainty import Score, mean_score
from lmcourse.evaluation.word_similarity import answer_analogies

Texts = Sequence[Sequence[str]]
States = list[NDArray[np.float32]]
"""Of each text the vectors of its words, (word, width)."""
Layers = Callable[[Texts], dict[str, States]]
"""Texts as several models, or several layers of one, have them, each by its name."""

SENSES = 2000, 1000  # examples that neighbors are looked for in, and that are asked about
TAGS = 300, 150  # reviews that the probe learns from, and that it is asked about
FEW_SENSES, FEW_TAGS = (300, 40), (10, 5)  # to see whether it works
TRAIN, TEST = 1, 2  # seeds of the tasks; none shares a review with a split


def analogy_scores(vectors: WordVectors, world: BookWorld) -> dict[str, Score]:
    """The share of analogies by design that vectors answer rightly, by relation, and chance.

    The answer to a : b = c : ? is the word nearest to b − a + c, the three themselves left out
    (Mikolov et al. 2013, section 4). Errors count the expected answers, not the questions.
    """
    asked = answer_analogies(vectors, analogies(world), case_insensitive=False)
    answers = np.array([one.d for one in asked.questions])
    relations = np.array([one.relation for one in asked.questions])
    found = {}
    for relation in dict.fromkeys(relations.tolist()):
        mine = relations == relation
        name = f"analogies {relation}, share of {mine.sum():,} questions"
        found[name] = mean_score(asked.right[mine].astype(float), answers[mine])
    found["analogies, chance"] = _exactly(1 / (len(vectors) - 3))
    return found


def sense_scores(layers: Layers, world: BookWorld, small: bool = False) -> dict[str, Score]:
    """How often the nearest labeled neighbor of a word has its sense; blindly; the exact answer.

    Args:
        small: of few examples, to see whether it works.
    """
    sizes = FEW_SENSES if small else SENSES
    train, test = (word_sense(world, n, seed) for n, seed in zip(sizes, (TRAIN, TEST), strict=True))
    known, asked = _vectors(layers, train), _vectors(layers, test)
    exact, found = exact_shares(test), {}
    for name in known:
        probe = nearest_neighbor(
            occurrences(train, known[name]), occurrences(test, asked[name]), exact
        )
        found[f"word sense by the nearest neighbor, {name}"] = probe.overall.score
        found["word sense, drawn blindly"] = _exactly(probe.overall.chance)
        assert probe.overall.best is not None
        found["word sense, exact answer"] = probe.overall.best
    return found


def tag_scores(layers: Layers, world: BookWorld, small: bool = False) -> dict[str, Score]:
    """How often a linear probe finds the part of speech of ambiguous words; its controls.

    Args:
        small: of few reviews, to see whether it works.
    """
    sizes = FEW_TAGS if small else TAGS
    train, test = (tagging(world, n, seed) for n, seed in zip(sizes, (TRAIN, TEST), strict=True))
    known, asked = _vectors(layers, train), _vectors(layers, test)
    exact, found = exact_shares(test), {}
    for name in known:
        probe = linear_probe(occurrences(train, known[name]), occurrences(test, asked[name]), exact)
        found[f"tags by a linear probe, {name}"] = probe.accuracy
        found[f"tags by a linear probe, {name}, selectivity"] = probe.selectivity
        found["tags, each word's most frequent"] = probe.word_majority
        assert probe.best is not None
        found["tags, exact answer"] = probe.best
    return found


def _vectors(layers: Layers, task: Task[Any]) -> dict[str, States]:
    return layers([example.tokens for example in task.examples])


def _exactly(value: float) -> Score:
    """A number that is no estimate."""
    return Score(value, 0.0, value, value)
