"""Links of BookWorld's reviews: what a head is to find, from a word to others in the text."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lmcourse.corpus.bookworld import Review
from lmcourse.corpus.bookworld.registers import CHARACTERS


class Link(NamedTuple):
    """From a word to those that are right answers, by their positions in the text."""

    query: int
    targets: tuple[int, ...]


def antecedent_links(reviews: Iterable[Review]) -> list[list[Link]]:
    """Of each review its pronouns, each with all earlier mentions of its antecedent by name.

    Pronouns whose antecedent was not named before are left out.
    """
    found = []
    for review in reviews:
        tokens = review.tokens
        earlier = [
            Link(place, tuple(i for i in range(place) if tokens[i] == name))
            for place, name in enumerate(review.antecedents)
            if name is not None
        ]
        found.append([link for link in earlier if link.targets])
    return found


def mention_links(reviews: Iterable[Review]) -> list[list[Link]]:
    """Of each review the characters' names that stand again, each with its earlier mentions."""
    found = []
    for review in reviews:
        names = [tag.register in CHARACTERS for tag in review.tags]
        tokens = review.tokens
        again = [
            Link(at, tuple(i for i in range(at) if names[i] and tokens[i] == tokens[at]))
            for at in np.flatnonzero(names).tolist()
        ]
        found.append([link for link in again if link.targets])
    return found


def agreement_links(reviews: Iterable[Review], attractors: int = 0) -> list[list[Link]]:
    """Of each review its verbs, each with the subject that it agrees with.

    Args:
        attractors: how many nouns must stand between the two, at least.
    """
    return [
        [Link(it.verb, (it.subject,)) for it in review.agreements if it.attractors >= attractors]
        for review in reviews
    ]


def one_before(links: Iterable[Iterable[Link]]) -> list[list[Link]]:
    """Each text's links from the place before: where a causal model tells the word.

    Targets that are not before that place, which the model does not see, are left out.
    """
    moved = [
        [Link(query - 1, tuple(it for it in targets if it < query - 1)) for query, targets in own]
        for own in links
    ]
    return [[link for link in own if link.targets] for own in moved]
