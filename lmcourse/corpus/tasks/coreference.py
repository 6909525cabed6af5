"""Coreference: which of two characters does a pronoun mean?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.tasks.drawing import Pool
from lmcourse.corpus.tasks.material import table
from lmcourse.corpus.tasks.task import Example, Task, checked_option

PRONOUNS = ("he", "she", "him", "his", "her")


@dataclass(frozen=True)
class CoreferenceExample(Example):
    """A pronoun in a review. Its label is the name that it refers to.

    Attributes:
        position: of the pronoun among the tokens.
        candidates: the two characters' names, in the order in which the text first has them.
    """

    position: int
    candidates: tuple[str, str]

    @property
    def answer(self) -> str:
        """The name that is meant."""
        return self.candidates[0 if self.label == "first" else 1]


def coreference(
    world: BookWorld,
    n: int,
    seed: int = 0,
    characters: str = "any",
    reviews: Sequence[Review] | None = None,
) -> Task[CoreferenceExample]:
    """A pronoun in a whole review, and two names that the review has: whom does it mean?

    One pronoun is drawn from each review, so the labels have their natural frequencies. Where the
    characters are a woman and a man, gender decides; with ``characters="same_gender"`` only such
    reviews are used where it does not.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        characters: ``any`` or ``same_gender``.
        reviews: take the pronouns from these instead.

    Returns:
        A task with the labels ``first`` and ``second``, by order of first mention. The best score
        is exact: ``world.antecedent_posterior`` of the whole review, some 10 ms each.
    """
    checked_option("characters", characters, ("any", "same_gender"))
    name = "coreference"
    genders = {row["name"]: row["gender"] for row in table(world, "people")}
    find = partial(_pronoun, genders=genders if characters == "same_gender" else None)
    pool = Pool(world, f"{name} {characters}", seed, find, reviews)
    examples = tuple(pool.take(None) for _ in range(n))
    firsts = sum(example.label == "first" for example in examples) / max(n, 1)
    return Task(
        name=name,
        question="Which of the two characters does the pronoun mean?",
        labels=("first", "second"),
        examples=examples,
        chance=max(firsts, 1 - firsts),
        metric="accuracy",
        how="P(antecedent | whole review) from the automaton and its registers.",
        solver=partial(_posterior, world),
    )


def _pronoun(
    review: Review, random: Random, genders: dict[str, str] | None
) -> Iterator[tuple[None, CoreferenceExample]]:
    """One of the review's pronouns, if it means a character and both names are in the text.

    It is drawn by its word alone, independently of its antecedent.
    """
    tokens = tuple(review.tokens)
    positions = [position for position, token in enumerate(tokens) if token in PRONOUNS]
    if not positions or review.hero not in tokens or review.second not in tokens:
        return
    position = random.choice(positions)
    name = review.antecedents[position]
    if name is None:
        return
    if genders is not None and genders[review.hero] != genders[review.second]:
        return
    names = sorted((review.hero, review.second), key=tokens.index)
    label = ("first", "second")[names.index(name)]
    yield None, CoreferenceExample(tokens, label, position, (names[0], names[1]))


def _posterior(world: BookWorld, example: CoreferenceExample) -> np.ndarray:
    shares = world.antecedent_posterior((*example.tokens, END), example.position)
    row = np.array([shares.get(name, 0.0) for name in example.candidates])
    return row / row.sum()
