"""Does one sentence follow another? Next-sentence prediction (BERT) and sentence order (ALBERT)."""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.task import (
    Best,
    SentencePair,
    Task,
    checked_option,
)

POSITIONS = 48  # more sentences than a review has; see _pair
_OPEN = Best(
    1.0,
    0.0,
    exact=False,
    how="A bound: how often a sentence is farther away in the same review is not computed.",
)
Pair = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]


def next_sentence(
    world: BookWorld,
    n: int,
    seed: int = 0,
    negatives: str = "other",
    reviews: Sequence[Review] | None = None,
) -> Task[SentencePair]:
    """Pairs of sentences: does the second follow the first in a review?

    Half of the pairs are neighbors. With ``negatives="other"`` the second sentence of the others
    comes from another review: topic, characters and order all give it away. With
    ``negatives="same"`` it comes from the same review, but does not follow: only order is left.

    The best score for ``"other"`` is exact. Let A, B be the two sentences, and N the expected
    number of neighbors in a review. Pairs are drawn uniformly from all neighbors of all reviews,
    so::

        P(A, B | next)     = expected(A B) / N
        P(A, B | not next) = P(A is a first) · P(B is a second)
                           = (expected(A) − expected(A <end>)) / N · expected(B, not first) / N

    where ``expected`` counts the sentence starts of a review from which the passage follows
    (``world.log_expected``). Both labels are equally frequent, and Bayes' rule does the rest.
    For ``"same"``, one is the bound, which may be out of reach.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        reviews: build the pairs from these instead, such as ``world.split("train")``.

    Returns:
        A task with the labels ``next`` and ``not_next``. ``task.best`` takes four passes of
        inference for each example, and is computed on first use.
    """
    checked_option("negatives", negatives, ("other", "same"))
    name = "next_sentence"
    kinds = ("pair",) if negatives == "other" else ("pair", "long")
    pool = Pool(world, f"{name} {negatives}", seed, partial(_pair, kinds=kinds), reviews)
    random = Random(f"{name} {negatives} {seed}")
    examples = []
    for label in in_turn(("next", "not_next"), n, random):
        if label == "next":
            first, second, _ = pool.take("pair")
        elif negatives == "other":
            first, second = pool.take("pair")[0], pool.take("pair")[1]
        else:
            first, _, rest = pool.take("long")
            second = random.choice(rest)
        examples.append(SentencePair(first, second, label))
    return Task(
        name=name,
        question="Does the second sentence follow the first?",
        labels=("next", "not_next"),
        examples=tuple(examples),
        chance=0.5,
        metric="accuracy",
        how="P(next | both) follows from how often a review is expected to hold them.",
        solver=partial(_next_posterior, world) if negatives == "other" else None,
        bound=_OPEN if negatives == "same" else None,
    )


def sentence_order(
    world: BookWorld, n: int, seed: int = 0, reviews: Sequence[Review] | None = None
) -> Task[SentencePair]:
    """Two neighboring sentences, in order or swapped: which came first?

    The topic is the same either way; only the order differs. The best score is exact: with A shown
    first, P(in order | A, B) = expected(A B) / (expected(A B) + expected(B A)).

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        reviews: build the pairs from these instead.

    Returns:
        A task with the labels ``in_order`` and ``swapped``. ``task.best`` takes two passes of
        inference for each example, and is computed on first use.
    """
    name = "sentence_order"
    pool = Pool(world, name, seed, _pair, reviews)
    examples = []
    for label in in_turn(("in_order", "swapped"), n, Random(f"{name} {seed}")):
        first, second, _ = pool.take("pair")
        if label == "swapped":
            first, second = second, first
        examples.append(SentencePair(first, second, label))
    return Task(
        name=name,
        question="Are the two sentences in the order in which they were written?",
        labels=("in_order", "swapped"),
        examples=tuple(examples),
        chance=0.5,
        metric="accuracy",
        how="P(in order | both) follows from how often a review is expected to hold each order.",
        solver=partial(_order_posterior, world),
    )


def expected_pairs(world: BookWorld) -> float:
    """How many neighboring sentences a review is expected to have: one less than sentences."""
    _, visits = world.network.sentence_starts
    return float(visits.sum(0) @ world.network.prior) - 1


def _pair(
    review: Review, random: Random, kinds: Sequence[str] = ("pair",)
) -> Iterator[tuple[str, Pair]]:
    """A pair drawn uniformly from all pairs of all reviews, if the review has one for us.

    The position is drawn first, and a review without it gives nothing. (A review drawn first
    and then one of its pairs would favor the pairs of short reviews.)
    """
    sentences = [tuple(review.tokens[each.start : each.end]) for each in review.sentences]
    position = random.randrange(POSITIONS)
    if position + 1 >= len(sentences):
        return
    rest = tuple(sentences[:position] + sentences[position + 2 :])
    # Neighbors and others are taken from different reviews, so that no sentence is used twice.
    kind = random.choice(kinds)
    if kind == "pair" or rest:
        yield kind, (sentences[position], sentences[position + 1], rest)


def _next_posterior(world: BookWorld, pair: SentencePair) -> np.ndarray:
    total = np.log(expected_pairs(world))
    follows = world.log_expected(pair.tokens) - total
    first = world.log_expected(pair.first)
    last = world.log_expected((*pair.first, END))
    as_first = first + np.log1p(-np.exp(last - first)) - total
    as_second = world.log_expected(pair.second, first=False) - total
    return _normalized(follows, as_first + as_second)


def _order_posterior(world: BookWorld, pair: SentencePair) -> np.ndarray:
    return _normalized(
        world.log_expected(pair.first + pair.second), world.log_expected(pair.second + pair.first)
    )


def _normalized(*log_shares: float) -> np.ndarray:
    shares = np.exp(np.array(log_shares) - max(log_shares))
    return shares / shares.sum()
