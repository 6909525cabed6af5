"""Links in BookWorld's reviews, from a word to related words: the targets of `head_probe`."""

from collections.abc import Iterable
from typing import NamedTuple

from lmcourse.corpus.bookworld import Review


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


def agreement_links(reviews: Iterable[Review], attractors: int = 0) -> list[list[Link]]:
    """Return each review's verbs, linked to the subjects that they agree with.

    Args:
        attractors: the minimum number of nouns between the two.
    """
    return [
        [Link(it.verb, (it.subject,)) for it in review.agreements if it.attractors >= attractors]
        for review in reviews
    ]
