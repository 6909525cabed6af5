"""Registers: what a review is about, drawn once and read many times.

Two registers are drawn for each review: the ``cast`` (a hero and a second character) and the
``book``. Whatever a sentence reads (a name, a pronoun, the author's city) is an attribute of one of
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmcourse.corpus.bookworld.grammar import Grammar
from lmcourse.corpus.bookworld.templates import REGISTERS
from lmcourse.errors import CourseError

CHARACTERS = ("hero", "second")
_PRONOUNS = {
    "he": {"male": "he", "female": "she"},
    "him": {"male": "him", "female": "her"},
    "his": {"male": "his", "female": "her"},
    "man": {"male": "man", "female": "woman"},
}
DIFFERENT_GENDER = 0.75  # how often the two characters are a woman and a man
_OWN_GENRE = 0.88  # how often a review of a genre is about a book of that genre
_NAME_ZIPF = 0.6
# The tables that the registers are read from, and the columns that they need.
_TABLES = {
    "people": ("name", "gender"),
    "cities": ("city", "country"),
    "books": ("adjective", "noun", "first", "last", "city", "series", "genre"),
}


@dataclass(frozen=True)
class Register:
    """One register: its possible contents, their attributes and their probabilities.

    Attributes:
        attributes: names as in ``REGISTERS``.
        values: words, [contents][attributes].
        prior: [genres, contents], each row sums to one.
    """

    name: str
    attributes: tuple[str, ...]
    values: Sequence[tuple[str, ...]]
    prior: np.ndarray

    @cached_property
    def cumulative(self) -> list[list[float]]:
        """For sampling: the running sum of each genre's prior."""
        return [np.cumsum(row).tolist() for row in self.prior]


def registers(grammar: Grammar) -> tuple[Register, Register]:
    """The cast and the book of a grammar's tables ``people`` and ``books``."""
    for table, columns in _TABLES.items():
        found = grammar.tables.get(table)
        missing = [column for column in columns if found is None or column not in found.columns]
        if found is None or missing or len(found.rows) < 2:
            raise CourseError(
                f"The grammar's table `{table}` is missing, has fewer than two rows or lacks a "
                "column.",
                f"Give it two rows or more of: {' | '.join(columns)}.",
            )
    for table, columns in _TABLES.items():
        _check_tokens(grammar, table, columns)
    cities = [row["city"] for row in grammar.tables["cities"].rows]
    _check(grammar, "people", "gender", list(_PRONOUNS["he"]))
    _check(grammar, "books", "city", cities)
    _check(grammar, "books", "genre", grammar.genres)
    return _cast(grammar), _book(grammar)


def _check(grammar: Grammar, table: str, column: str, allowed: Sequence[str]) -> None:
    found = grammar.tables[table]
    for row in found.rows:
        if row[column] not in allowed:
            raise found.location_of(row).error(
                f"in the table `{table}`, the row `{' | '.join(row.values())}` has the {column} "
                f"{row[column]!r}, which is not known.",
                f"Known are: {', '.join(allowed)}.",
            )


def _check_tokens(grammar: Grammar, table: str, columns: Sequence[str]) -> None:
    """A register holds one token of each column that it reads."""
    found = grammar.tables[table]
    for row in found.rows:
        for column in columns:
            found.location_of(row).check_lower(row[column])
            if len(row[column].split()) != 1:
                raise found.location_of(row).error(
                    f"in the table `{table}`, the {column} {row[column]!r} is not one token.",
                    "Write one word: a register holds one token of each column.",
                )


def _cast(grammar: Grammar) -> Register:
    people = grammar.tables["people"].rows
    raw: dict[str, float] = {}
    total = {"male": 0.0, "female": 0.0}
    ranks = {"male": 0, "female": 0}
    for person in people:
        gender = person["gender"]
        ranks[gender] += 1
        raw[person["name"]] = round(ranks[gender] ** -_NAME_ZIPF, 12)
        total[gender] += raw[person["name"]]
    words = {
        person["name"]: (
            person["name"],
            *(forms[person["gender"]] for forms in _PRONOUNS.values()),
        )
        for person in people
    }
    contents, weights = [], []
    for hero in people:
        for second in people:
            if hero is second:
                continue
            same = hero["gender"] == second["gender"]
            others = total[second["gender"]] - (raw[hero["name"]] if same else 0.0)
            weights.append(
                raw[hero["name"]]
                * (1 - DIFFERENT_GENDER if same else DIFFERENT_GENDER)
                * raw[second["name"]]
                / others
            )
            contents.append(words[hero["name"]] + words[second["name"]])
    attributes = tuple(
        character if form is None else f"{character}.{form}"
        for character in CHARACTERS
        for form in (None, *_PRONOUNS)
    )
    prior = np.array(weights) / sum(weights)
    return Register("cast", attributes, contents, np.tile(prior, (len(grammar.genres), 1)))


def _book(grammar: Grammar) -> Register:
    books = grammar.tables["books"].rows
    countries = {row["city"]: row["country"] for row in grammar.tables["cities"].rows}
    attributes = tuple(name for name in REGISTERS if name.startswith("book."))
    contents = []
    for book in books:
        other = next(
            (each for each in books if each["last"] == book["last"] and each is not book), book
        )
        facts = {
            **book,
            "country": countries[book["city"]],
            "other_adjective": other["adjective"],
            "other_noun": other["noun"],
        }
        contents.append(tuple(facts[name.removeprefix("book.")] for name in attributes))
    prior = np.array(
        [
            [_OWN_GENRE if book["genre"] == genre else 1 - _OWN_GENRE for book in books]
            for genre in grammar.genres
        ]
    )
    own = np.array([[book["genre"] == genre for book in books] for genre in grammar.genres])
    # Among a genre's books (and among the others) the earlier in the table are reviewed more often.
    rank = np.array([round((1 + index) ** -0.5, 12) for index in range(len(books))])
    for row, mine in zip(prior, own, strict=True):
        row[mine] *= rank[mine] / max(rank[mine].sum(), 1e-300)
        row[~mine] *= rank[~mine] / max(rank[~mine].sum(), 1e-300)
    return Register("book", attributes, contents, prior / prior.sum(1, keepdims=True))
