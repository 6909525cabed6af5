"""Links in BookWorld's reviews, from a word to related words: the targets of `head_probe`."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lmcourse.corpus.bookworld import Review
from lmcourse.corpus.bookworld.registers import CHARACTERS


class Link(NamedTuple):
    """The position of a word, and those of the words that are right answers."""

    query: int
    targets: tuple[int, ...]


def antecedent_links(reviews: Iterable[Review]) -> list[list[Link]]:
    """Return each review's pronouns, linked to all earlier mentions of their antecedents by name.

    Pronouns without such a mention are left out.
    """
    found = []
    for review in reviews:
        tokens = review.tokens
        earlier = [
            Link(position, tuple(i for i in range(position) if tokens[i] == name))
            for position, name in enumerate(review.antecedents)
            if name is not None
        ]
        found.append([link for link in earlier if link.targets])
    return found


def mention_links(reviews: Iterable[Review]) -> list[list[Link]]:
    """Return each review's repeated names of characters, linked to their earlier mentions."""
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
    """Return each review's verbs, linked to the subjects that they agree with.

    Args:
        attractors: the minimum number of nouns between the two.
    """
    return [
        [Link(it.verb, (it.subject,)) for it in review.agreements if it.attractors >= attractors]
        for review in reviews
    ]


def one_before(links: Iterable[Iterable[Link]]) -> list[list[Link]]:
    """Return the links moved to the position before, where a causal model predicts the word.

    Targets that are not before that position are left out.
    """
    moved = [
        [Link(query - 1, tuple(it for it in targets if it < query - 1)) for query, targets in own]
        for own in links
    ]
    return [[link for link in own if link.targets] for own in moved]
