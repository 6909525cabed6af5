"""Word senses: which sense does a word have here, and do two sentences use the same one?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.inference import Inference
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.material import table
from lmcourse.corpus.tasks.passages import expected, passage, posterior
from lmcourse.corpus.tasks.task import Example, SentencePair, Task, checked_option


@dataclass(frozen=True)
class SenseExample(Example):
    """A word in its text. Its label is the sense.

    Attributes:
        position: of the word among the tokens.
    """

    position: int

    @property
    def word(self) -> str:
        """The word that has several senses."""
        return self.tokens[self.position]


@dataclass(frozen=True)
class SensePair(SentencePair):
    """Two sentences with the same word.

    Attributes:
        positions: of the word in the first and in the second sentence.
    """

    positions: tuple[int, int]

    @property
    def word(self) -> str:
        """The word that both sentences have."""
        return self.first[self.positions[0]]


def senses(world: BookWorld) -> dict[str, tuple[str, ...]]:
    """The senses of each word that has several: ``{"bank": ("river", "money"), …}``."""
    found: dict[str, tuple[str, ...]] = {}
    for row in table(world, "senses"):
        found[row["word"]] = (*found.get(row["word"], ()), row["sense"])
    return found


def word_sense(
    world: BookWorld,
    n: int,
    seed: int = 0,
    context: str = "sentence",
    reviews: Sequence[Review] | None = None,
) -> Task[SenseExample]:
    """A word of several senses in its sentence, or in its whole review: which sense is meant?

    All senses of all words are equally frequent, to one. The best score is exact: the sense's
    posterior given the text shown, from which the senses' natural frequencies are divided out.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        context: show the ``sentence`` or the whole ``review``.
        reviews: take the sentences from these instead.

    Returns:
        A task whose labels are the senses of all words; a posterior is zero for other words'
        senses.
    """
    checked_option("context", context, ("sentence", "review"))
    name = "word_sense"
    known = senses(world)
    keys = [(word, sense) for word in known for sense in known[word]]
    pool = Pool(world, name, seed, partial(_uses, whole=context == "review"), reviews)
    examples = [
        SenseExample(tokens, key[1], position)
        for key in in_turn(keys, n, Random(f"{name} {seed}"))
        for tokens, position in (pool.take(key),)
    ]
    labels = tuple(sorted({sense for _, sense in keys}))
    return Task(
        name=name,
        question="In which sense is the word meant?",
        labels=labels,
        examples=tuple(examples),
        chance=len(known) / len(keys),
        metric="accuracy",
        how="P(sense | text) from the automaton, with all senses of a word equally frequent.",
        solver=partial(_sense_posterior, world, known, labels, context == "review"),
    )


def sense_pairs(
    world: BookWorld, n: int, seed: int = 0, reviews: Sequence[Review] | None = None
) -> Task[SensePair]:
    """Two sentences with the same word: is the same sense meant?

    Every word is as frequent as every other, and for each word the labels are equally frequent,
    both to one: the word alone is uninformative. The best score is exact.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        reviews: take the sentences from these instead.

    Returns:
        A task with the labels ``same`` and ``different``.
    """
    name = "sense_pairs"
    known, random = senses(world), Random(f"{name} {seed}")
    pool = Pool(world, name, seed, partial(_uses, whole=False), reviews)
    labels = {word: in_turn(("same", "different"), n + 1, random) for word in known}
    examples = []
    for word in in_turn(tuple(known), n, random):
        label = next(labels[word])
        first, second = random.sample(known[word], 2)
        uses = [pool.take((word, sense)) for sense in (first, first if label == "same" else second)]
        (one, here), (other, there) = uses
        examples.append(SensePair(one, other, label, (here, there)))
    return Task(
        name=name,
        question="Does the word have the same sense in both sentences?",
        labels=("same", "different"),
        examples=tuple(examples),
        chance=0.5,
        metric="accuracy",
        how="P(same sense | both sentences) from the automaton's posterior of each sense.",
        solver=partial(_pair_posterior, world, known),
    )


Use = tuple[tuple[str, ...], int]


def _uses(review: Review, random: Random, whole: bool) -> Iterator[tuple[tuple[str, str], Use]]:
    """Each word with a sense, in its sentence or review."""
    labels = review.senses
    for sentence in review.sentences:
        start, end = (0, len(review.tokens)) if whole else (sentence.start, sentence.end)
        for position in range(sentence.start, sentence.end):
            sense = labels[position]
            if sense is not None:
                tokens = tuple(review.tokens[start:end])
                yield (review.tokens[position], sense), (tokens, position - start)


def _likelihoods(
    world: BookWorld, known: tuple[str, ...], inference: Inference, use: Use
) -> np.ndarray:
    """P(text | sense) of each known sense, up to a factor, [senses]."""
    tokens, position = use
    shares = posterior(inference, position, lambda tag: tag.sense)
    natural = expected(world, [tokens[position]], lambda tag: tag.sense)
    return np.array([shares.get(sense, 0.0) / natural[sense] for sense in known])


def _sense_posterior(
    world: BookWorld,
    known: dict[str, tuple[str, ...]],
    labels: tuple[str, ...],
    whole: bool,
    example: SenseExample,
) -> np.ndarray:
    tokens = example.tokens
    inference = (
        Inference(world.network, world.encode((*tokens, END))) if whole else passage(world, tokens)
    )
    mine = known[example.word]
    shares = _likelihoods(world, mine, inference, (tokens, example.position))
    row = np.zeros(len(labels))
    row[[labels.index(sense) for sense in mine]] = shares / shares.sum()
    return row


def _pair_posterior(
    world: BookWorld, known: dict[str, tuple[str, ...]], pair: SensePair
) -> np.ndarray:
    mine = known[pair.word]
    first, second = (
        _likelihoods(world, mine, passage(world, tokens), (tokens, position))
        for tokens, position in zip((pair.first, pair.second), pair.positions, strict=True)
    )
    same = (first * second).sum() / len(mine)
    different = (first.sum() * second.sum() - (first * second).sum()) / len(mine) / (len(mine) - 1)
    return np.array([same, different]) / (same + different)
