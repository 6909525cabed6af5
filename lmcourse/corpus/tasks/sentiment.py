"""Sentiment: how many stars does a review give, before it says so?"""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.task import Example, Task, checked_option

STARS = ("1", "2", "3", "4", "5")
POLARITY = {"1": "negative", "2": "negative", "4": "positive", "5": "positive"}


def sentiment(
    world: BookWorld,
    n: int,
    seed: int = 0,
    labels: str = "stars",
    reviews: Sequence[Review] | None = None,
) -> Task[Example]:
    """Reviews without the closing sentence that states the stars: which rating do they give?

    The best score is exact. What is shown is the review up to its closing sentence, or all of it if
    there is none; whether a review of BookWorld closes so does not depend on its rating. So the
    evidence is that of a whole review without a closing: ``world.rating_posterior((*tokens,
    END))``. In the task all labels are equally frequent, to one, so the natural frequencies are
    divided out.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        labels: ``stars``, 1 to 5, or ``polarity``: negative (1, 2) or positive (4, 5).
        reviews: take these instead.

    Returns:
        A task whose best score is computed on first use, some 20 ms an example.
    """
    checked_option("labels", labels, ("stars", "polarity"))
    name = f"sentiment {labels}"
    stars = STARS[: world.network.ratings]
    names = {star: star for star in stars} if labels == "stars" else POLARITY
    choices = tuple(dict.fromkeys(names[star] for star in stars if star in names))
    pool = Pool(world, name, seed, partial(_without_closing, names=names), reviews)
    examples = [
        Example(pool.take(label), label) for label in in_turn(choices, n, Random(f"{name} {seed}"))
    ]
    return Task(
        name="sentiment",
        question="How many stars does the review give?"
        if labels == "stars"
        else "Is the review positive or negative?",
        labels=choices,
        examples=tuple(examples),
        chance=1 / len(choices),
        metric="accuracy",
        how="P(rating | the review without its closing), with all labels equally frequent.",
        solver=partial(_posterior, world, names, choices),
    )


def _without_closing(
    review: Review, random: Random, names: dict[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    shown = review.before_closing
    if shown and str(review.rating) in names:
        yield names[str(review.rating)], tuple(shown)


def _posterior(
    world: BookWorld, names: dict[str, str], choices: tuple[str, ...], example: Example
) -> np.ndarray:
    shares = world.rating_posterior((*example.tokens, END))
    natural = np.array(world.grammar.ratings)
    table = np.array(
        [[names.get(str(star + 1)) == label for star in range(len(natural))] for label in choices]
    )
    row = (table @ shares) / (table @ natural)
    return row / row.sum()
