"""Further links in BookWorld's reviews, for `lmcourse.evaluation.probes.head_probe`."""

from collections.abc import Iterable

import numpy as np

from lmcourse.corpus.bookworld import Review
from lmcourse.corpus.bookworld.registers import CHARACTERS
from lmcourse.evaluation.probes import Link


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


def one_before(links: Iterable[Iterable[Link]]) -> list[list[Link]]:
    """Return the links moved to the position before, where a causal model predicts the word.

    Targets that are not before that position are left out.
    """
    moved = [
        [Link(query - 1, tuple(it for it in targets if it < query - 1)) for query, targets in own]
        for own in links
    ]
    return [[link for link in own if link.targets] for own in moved]
