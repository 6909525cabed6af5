"""What sentences are made of when a task writes its own: events, people, cities, books."""

from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple, TypeVar

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.bookworld.morphology import inflect
from lmcourse.corpus.bookworld.templates import plain

R = TypeVar("R")


class Event(NamedTuple):
    """What somebody did, and where: ``Event("emma", "moored the canoe", "at the bank")``."""

    who: str
    act: str
    where: str

    @property
    def text(self) -> str:
        """The event without its place."""
        return f"{self.who} {self.act}"


class Book(NamedTuple):
    """A title, ``the glass door``, and the last name of whom a sentence calls its author."""

    title: str
    author: str


class Material:
    """Words from the grammar's tables, drawn so that no two in one sentence can be confused.

    Args:
        random: what draws them.
    """

    def __init__(self, world: BookWorld, random: Random) -> None:
        self.world = world
        self.random = random

    def events(self, n: int) -> list[Event]:
        """Different people doing different things in different places."""
        chosen = self._different(self._acts, n, lambda act: set(" ".join(act).split()) - {"the"})
        return [Event(name, *act) for name, act in zip(self.names(n), chosen, strict=True)]

    def names(self, n: int) -> list[str]:
        """First names."""
        return self._some([row["name"] for row in table(self.world, "people")], n)

    def cities(self, n: int) -> list[tuple[str, str]]:
        """Capitals with their countries."""
        rows = self._some(table(self.world, "cities"), n)
        return [(row["city"], row["country"]) for row in rows]

    def food(self) -> str:
        """Something that is eaten."""
        return self.random.choice(table(self.world, "cities"))["food"]

    def roles(self) -> tuple[str, str]:
        """A man's and a woman's role: ``king``, ``witch``."""
        men, women = self._some(table(self.world, "roles"), 2)
        return men["male"], women["female"]

    def books(self, n: int) -> list[Book]:
        """Books that share no word of their titles, each given to the author of another.

        So the sentence decides who wrote what, not what a model may know of the author.
        """
        rows = self._different(
            table(self.world, "books"), n, lambda row: {row["adjective"], row["noun"], row["last"]}
        )
        authors = [row["last"] for row in (*rows[1:], rows[0])]
        titles = [f"the {row['adjective']} {row['noun']}" for row in rows]
        return [Book(*pair) for pair in zip(titles, authors, strict=True)]

    def aspects(self, n: int) -> list[str]:
        """What a verdict may be about: ``prose``."""
        tables = self.world.grammar.tables.values()
        found = [row["aspect"] for each in tables for row in each.rows if "aspect" in row]
        return self._some(found, n)

    def verdict(self, good: bool) -> str:
        """An adjective of praise or of blame."""
        name = self.random.choice(("superb", "good") if good else ("weak", "awful"))
        return self.random.choice(self.world.grammar.classes[name].words)

    def grades(self, n: int) -> list[str]:
        """Adjectives that can be said of people, whose comparatives the world uses."""
        known = [base for base in self._grades if self.er(base) in self._known]
        human = [base for base in known if base in _HUMAN]
        return self._some(human if len(human) >= n else known, n)

    def opposites(self) -> tuple[str, str]:
        """Two comparatives that mean the opposite of each other: ``slower``, ``quicker``."""
        found = [
            pair
            for pair in _OPPOSITES
            if all(self.er(adjective) in self._known for adjective in pair)
        ]
        first, second = self.random.sample(self._some(found, 1)[0], 2)
        return self.er(first), self.er(second)

    def word(self, *choices: str) -> str:
        """One of some words that do the same here; one that the world knows, if it can be."""
        return self.random.choice([word for word in choices if word in self._known] or choices[:1])

    def er(self, adjective: str) -> str:
        """The comparative."""
        return inflect(adjective, "er", self.world.grammar.irregular)

    def _some(self, rows: Sequence[R], n: int) -> list[R]:
        """``n`` different rows."""
        return self.random.sample(rows, n)

    def _different(self, rows: Sequence[R], n: int, words: Callable[[R], set[str]]) -> list[R]:
        """``n`` rows that share no word."""
        chosen: list[R] = []
        for row in self._some(rows, len(rows)):
            if len(chosen) < n and not any(words(row) & words(each) for each in chosen):
                chosen.append(row)
        return self._some(chosen, n)

    @cached_property
    def _acts(self) -> list[tuple[str, str]]:
        """Every act in the past tense with its place, [(act, place)]."""
        return [
            (past(self.world, act), plain(row["where"]))
            for row in table(self.world, "senses")
            for act in row["acts"].split(" ; ")
        ]

    @cached_property
    def _grades(self) -> list[str]:
        return [row["base"] for row in table(self.world, "grades")]

    @cached_property
    def _known(self) -> set[str]:
        return set(self.world.vocabulary)


_HUMAN = ("slow", "quick", "cold", "strong", "proud", "loud", "old", "young", "sly", "tall", "rich")
_OPPOSITES = [
    ("slow", "quick"),
    ("dark", "bright"),
    ("soft", "hard"),
    ("cold", "hot"),
    ("old", "young"),
    ("loud", "quiet"),
    ("weak", "strong"),
    ("deep", "shallow"),
]


def table(world: BookWorld, name: str) -> list[dict[str, str]]:
    """The rows of one of the grammar's tables."""
    return world.grammar.tables[name].rows


def past(world: BookWorld, act: str) -> str:
    """An act of the table ``senses`` in the past: ``moor the canoe`` → ``moored the canoe``."""
    verb, *rest = plain(act).split()
    return " ".join([inflect(verb, "past", world.grammar.irregular), *rest])
