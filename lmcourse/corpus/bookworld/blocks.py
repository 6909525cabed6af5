"""The blocks of BookWorld's grammar files, parsed but not yet compiled."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lmcourse.corpus.bookworld.templates import PARTS_OF_SPEECH, Location

_KINDS = (["genre"], ["rating"])
_IRREGULAR = ("plural", "s", "past", "ing", "er", "est", "article")


class Weights(NamedTuple):
    """Relative frequencies by genre, or by rating."""

    kind: str  # genre or rating
    numbers: list[float]
    genres: int  # known at this line: a genre may be added later
    location: Location


@dataclass(frozen=True)
class WordClass:
    """Words of one slot, the most frequent first."""

    name: str
    part_of_speech: str
    zipf: float  # the exponent: P(word of rank r) ∝ r^-zipf
    location: Location  # of its first line
    words: list[str] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)  # of each word

    def add(self, words: list[str], location: Location) -> None:
        """Add the words of a line."""
        self.words.extend(words)
        self.locations.extend([location] * len(words))


class Row(dict[str, str]):
    """One row of a table, column → cell, and its location."""

    def __init__(self, cells: Mapping[str, str], location: Location) -> None:
        super().__init__(cells)
        self.location = location


@dataclass(frozen=True)
class Table:
    """Rows of related words, such as a country, its capital and its food."""

    name: str
    columns: dict[str, str | None]  # name → part of speech of its words, if declared
    location: Location  # of its first line
    rows: list[dict[str, str]] = field(default_factory=list)

    def location_of(self, row: dict[str, str]) -> Location:
        """Return the location of a row; of a derived row, that of the table."""
        return row.location if isinstance(row, Row) else self.location


@dataclass(frozen=True)
class Line:
    """One line of a rule."""

    text: str
    location: Location


class Blocks:
    """The content of some grammar files.

    Args:
        texts: pairs of a file's name (for messages) and its text.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self.genres: list[str] = []
        self.ratings: list[float] = []  # the frequencies of 1, 2, … stars
        self.weights: dict[str, Weights] = {}
        self.classes: dict[str, WordClass] = {}
        self.irregular: dict[str, dict[str, str]] = {}
        self.tables: dict[str, Table] = {}
        self.lines: dict[str, list[tuple[str | None, Line]]] = {}  # rule → (table, line)
        self.rule_locations: dict[str, Location] = {}  # of the first line of each
        self.capitals: set[str] = set()
        self.texts = list(texts)
        for name, text in self.texts:
            _Reader(self, name).read(text)


class _Reader:
    """Reads one file into blocks."""

    def __init__(self, blocks: Blocks, file: str) -> None:
        self.blocks = blocks
        self.location = Location(file, 0)
        self.head: list[str] = []
        self._headers: dict[str, Callable[[list[str], str], bool]] = {
            "genres": self._genres,
            "ratings": self._ratings,
            "weights": lambda names, _: names in _KINDS,
            "words": self._class,
            "irregular": lambda names, _: len(names) == 1 and names[0] in _IRREGULAR,
            "table": self._table,
            "rule": self._rule,
            "capitals": self._capitals,
        }
        self._entries: dict[str, Callable[[str], None]] = {
            "weights": self._weights,
            "words": lambda line: self._words(self.blocks.classes[self.head[1]], line),
            "irregular": self._form,
            "table": self._row,
            "rule": self._line,
            "capitals": lambda line: self.blocks.capitals.update(self._lower(line.split())),
        }

    def read(self, text: str) -> None:
        for number, raw in enumerate(text.splitlines(), start=1):
            line = raw.split("# ")[0].rstrip() if not raw.lstrip().startswith("#") else ""
            self.location = self.location._replace(line=number)
            if line and line[0].isspace():
                self._entry(line.strip())
            elif line:
                words, _, rest = line.partition(":")
                self._header(words.split(), rest.strip())

    def _header(self, head: list[str], rest: str) -> None:
        known = self._headers.get(head[0])
        if known is None or not known(head[1:], rest):
            raise self.location.error(
                f"`{' '.join(head)}` begins no block.",
                "Blocks are: genres, ratings, weights genre|rating, words NAME POS [zipf X], "
                f"irregular {'|'.join(_IRREGULAR)}, table NAME : columns, rule NAME [each TABLE], "
                "capitals.",
            )
        self.head = head

    def _entry(self, line: str) -> None:
        if not self.head:
            raise self.location.error(
                "an indented line belongs to no block.", "Begin a block before it."
            )
        if self.head[0] not in self._entries:
            raise self.location.error(
                f"`{self.head[0]}` has no entries.", "Write its values in its own line."
            )
        self._entries[self.head[0]](line)

    def _genres(self, names: list[str], _: str) -> bool:
        for name in names:
            if name in self.blocks.genres:
                raise self.location.error(
                    f"the genre {name!r} is there already.",
                    "Write only the new genres: they are added to those that are known.",
                )
            self.blocks.genres.append(name)
        return True

    def _ratings(self, numbers: list[str], _: str) -> bool:
        weights = self._numbers(numbers)
        if not sum(weights) > 0:
            raise self.location.error(
                "the ratings' frequencies are all zero.", "Give each number of stars its own."
            )
        self.blocks.ratings = [weight / sum(weights) for weight in weights]
        return True

    def _class(self, words: list[str], rest: str) -> bool:
        if len(words) not in (2, 4) or (len(words) == 4 and words[2] != "zipf"):
            return False
        name, part_of_speech = words[:2]
        self._known(part_of_speech)
        exponent = self._numbers(words[3:])[0] if len(words) == 4 else None
        known = self.blocks.classes.setdefault(
            name, WordClass(name, part_of_speech, exponent or 0.0, self.location)
        )
        if known.part_of_speech != part_of_speech or exponent not in (None, known.zipf):
            raise self.location.error(
                f"the class <{name}> was begun in {known.location.file}, line "
                f"{known.location.line}, as {known.part_of_speech} with zipf {known.zipf:g}.",
                "Begin it alike, or give this class a name of its own.",
            )
        self._words(known, rest)
        return True

    def _table(self, names: list[str], rest: str) -> bool:
        if len(names) != 1:
            return False
        columns: dict[str, str | None] = {}
        for column in rest.split("|") if rest else ():
            name, _, part_of_speech = column.strip().partition("/")
            if part_of_speech:
                self._known(part_of_speech)
            columns[name] = part_of_speech or None
        known = self.blocks.tables.get(names[0])
        if known is None and columns:
            self.blocks.tables[names[0]] = Table(names[0], columns, self.location)
        elif known is None:
            raise self.location.error(
                f"the table `{names[0]}` has no columns.", f"Write: table {names[0]} : one | other."
            )
        elif columns and (
            list(columns) != list(known.columns)
            or any(tag not in (None, known.columns[name]) for name, tag in columns.items())
        ):
            raise self.location.error(
                f"the table `{names[0]}` was begun in {known.location.file}, line "
                f"{known.location.line}, with other columns.",
                f"Give its rows these columns, in this order: {' | '.join(known.columns)}.",
            )
        return True

    def _rule(self, names: list[str], _: str) -> bool:
        if len(names) != 1 and (len(names) != 3 or names[1] != "each"):
            return False
        self.blocks.lines.setdefault(names[0], [])
        self.blocks.rule_locations.setdefault(names[0], self.location)
        return True

    def _capitals(self, words: list[str], rest: str) -> bool:
        self.blocks.capitals.update(self._lower([*words, *rest.split()]))
        return True

    def _weights(self, line: str) -> None:
        (kind,), (name, *numbers) = self.head[1:], line.split()
        self.blocks.weights[name] = Weights(
            kind, self._numbers(numbers), len(self.blocks.genres), self.location
        )

    def _words(self, each: WordClass, line: str) -> None:
        each.add(self._lower(line.split()), self.location)

    def _lower(self, words: list[str]) -> list[str]:
        for word in words:
            self.location.check_lower(word.partition("/")[0])
        return words

    def _form(self, line: str) -> None:
        words = line.split()
        if len(words) != 2:
            raise self.location.error(
                "this is not a lemma and a form.", "Write two words in a line."
            )
        if self.head[1] == "article" and words[1] not in ("a", "an"):
            raise self.location.error(f"{words[1]!r} is no article.", "Write `a` or `an`.")
        self.blocks.irregular.setdefault(self.head[1], {})[words[0]] = words[1]

    def _row(self, line: str) -> None:
        table, cells = self.blocks.tables[self.head[1]], line.split("|")
        if len(cells) != len(table.columns):
            raise self.location.error(
                f"this row has {len(cells)} cells.",
                f"Give {len(table.columns)}: {' | '.join(table.columns)}.",
            )
        stripped = zip(table.columns, (cell.strip() for cell in cells), strict=True)
        table.rows.append(Row(dict(stripped), self.location))

    def _line(self, line: str) -> None:
        table = self.head[3] if len(self.head) == 4 else None
        self.blocks.lines[self.head[1]].append((table, Line(line, self.location)))

    def _known(self, part_of_speech: str) -> None:
        if part_of_speech not in PARTS_OF_SPEECH:
            raise self.location.error(
                f"{part_of_speech!r} is no part of speech.",
                f"Choose one of: {', '.join(PARTS_OF_SPEECH)}.",
            )

    def _numbers(self, words: list[str]) -> list[float]:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = [math.nan]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise self.location.error(
                f"{' '.join(words)!r} are not numbers of zero or more.",
                "Write numbers such as 0.25.",
            )
        return numbers
