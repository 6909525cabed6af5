"""Analogies: a is to b as c is to d, from the grammar's tables; and counts that can solve them."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.corpus.bookworld.morphology import inflect
from lmcourse.corpus.bookworld.templates import plain
from lmcourse.errors import check_sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Analogy(NamedTuple):
    """``a`` is to ``b`` as ``c`` is to ``d``: paris, france, rome, italy."""

    a: str
    b: str
    c: str
    d: str
    relation: str


def analogies(world: BookWorld) -> list[Analogy]:
    """All analogies whose four words are in the vocabulary, in the order of the grammar's tables.

    The relations: ``capital:country``, ``male:female``, ``base:comparative``, ``base:superlative``,
    ``comparative:superlative``, ``singular:plural``, ``base:past``. For words of a vocabulary that
    is smaller, filter them. The right answer is ``d``; there is one, so the best score is 1.
    """
    return [
        Analogy(*one, *other, relation)
        for relation, pairs in pairs_by_relation(world).items()
        for one, other in permutations(pairs, 2)
    ]


def pairs_by_relation(world: BookWorld) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each relation, both words in the vocabulary and neither in two pairs."""
    tables, known = world.grammar.tables, world.network.ids
    rows = {name: each.rows for name, each in tables.items()}
    grades = [plain(row["base"]) for row in rows.get("grades", ())]
    found = {
        "capital:country": [(row["city"], row["country"]) for row in rows.get("cities", ())],
        "male:female": [
            (plain(row["male"]), plain(row["female"])) for row in rows.get("roles", ())
        ],
        "base:comparative": _forms(world, grades, "base", "er"),
        "base:superlative": _forms(world, grades, "base", "est"),
        "comparative:superlative": _forms(world, grades, "er", "est"),
        "singular:plural": _forms(world, _lemmas(world, "NOUN"), "singular", "plural"),
        "base:past": _forms(world, _lemmas(world, "VERB"), "base", "past"),
    }
    return {
        relation: list(_unique(pair for pair in pairs if set(pair) <= known.keys()))
        for relation, pairs in found.items()
    }


def counts(world: BookWorld, reviews: Sequence[Review], window: int = 5) -> "csr_array":
    """Return how often two words co-occur in a review, [vocabulary, vocabulary].

    Rows and columns are in the order of ``world.vocabulary``; the matrix is symmetric.

    Args:
        window: how many tokens apart two words may stand, at most.
    """
    from scipy.sparse import coo_array

    check_sizes(window=window)
    ids = np.concatenate([np.array(each.ids[:-1], int) for each in reviews] or [np.empty(0, int)])
    owner = np.repeat(np.arange(len(reviews)), [len(each.ids) - 1 for each in reviews])
    width = len(world.vocabulary)
    total = coo_array((width, width)).tocsr()
    for distance in range(1, window + 1):
        same = owner[distance:] == owner[:-distance]
        pair = (ids[:-distance][same], ids[distance:][same])
        total = total + coo_array((np.ones(len(pair[0])), pair), shape=(width, width)).tocsr()
    return total + total.T


def _lemmas(world: BookWorld, part_of_speech: str) -> list[str]:
    classes = world.grammar.classes.values()
    return [
        plain(word)
        for each in classes
        if each.part_of_speech == part_of_speech
        for word in each.words
    ]


def _forms(world: BookWorld, lemmas: list[str], one: str, other: str) -> list[tuple[str, str]]:
    irregular = world.grammar.irregular
    pairs = [(inflect(lemma, one, irregular), inflect(lemma, other, irregular)) for lemma in lemmas]
    return [pair for pair in pairs if pair[0] != pair[1]]


def _unique(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each pair once, and no word in two pairs."""
    seen: set[str] = set()
    for pair in pairs:
        if not seen & set(pair):
            seen |= set(pair)
            yield pair
