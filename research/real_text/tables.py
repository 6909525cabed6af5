"""The tables: their parts, and everything that decides them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from research.by_name import by_name
from research.real_text import fertility, genres, spam, spam_page, zipf
from research.real_text.sources import Units, Values


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        about: its heading on the page.
        setup: everything that decides it; results with another setup do not count.
        units: what is measured one by one.
        section: what the page says once all units are measured.
    """

    about: str
    setup: Mapping[str, Any]
    units: Units
    section: Callable[[Mapping[str, Values]], str]


TABLES = {
    "genres": Table("Genres of the Brown corpus", genres.SETUP, genres.UNITS, genres.section),
    "spam": Table("Spam, and what leaks", spam.SETUP, spam.UNITS, spam_page.section),
    "zipf": Table("Zipf's law by genre", zipf.SETUP, zipf.UNITS, zipf.section),
    "fertility": Table(
        "Tokens a word by genre", fertility.SETUP, fertility.UNITS, fertility.section
    ),
}


def chosen(names: list[str]) -> list[str]:
    """The names of tables, if there are such.

    Raises:
        CourseError: there is no such table.
    """
    return [name for name in names if by_name(name, TABLES, "table")]
