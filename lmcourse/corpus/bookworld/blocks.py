"""The blocks of BookWorld's grammar files, as they are written: nothing is made of them yet."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lmcourse.corpus.bookworld.templates import PARTS_OF_SPEECH, Place

_KINDS = (["genre"], ["rating"])
_IRREGULAR = ("plural", "s", "past", "ing", "er", "est")


@dataclass(frozen=True)
class WordClass:
    """Words that may stand in one slot, the most frequent first."""

    name: str
    part_of_speech: str
    zipf: float  # the exponent: P(word of rank r) ∝ r^-zipf
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Table:
    """Rows that belong together, such as a country, its capital and what is eaten there."""

    name: str
    columns: dict[str, str | None]  # name → part of speech of its words, where one is given
    rows: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """One line of a rule, as it was written."""

    text: str
    place: Place


class Blocks:
    """What some grammar files say.

    Args:
        texts: pairs of a file's name (for messages) and its text.

    Raises:
        CourseError: a line cannot be read; file, line and remedy are named.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self.genres: list[str] = []
        self.ratings: list[float] = []  # the frequencies of 1, 2, … stars
        self.weights: dict[str, tuple[str, list[float]]] = {}  # name → (genre or rating, numbers)
        self.classes: dict[str, WordClass] = {}
        self.irregular: dict[str, dict[str, str]] = {}
        self.tables: dict[str, Table] = {}
        self.lines: dict[str, list[tuple[str | None, Line]]] = {}  # rule → (table, line)
        self.capitals: set[str] = set()
        self.texts = list(texts)
        for name, text in self.texts:
            _Reader(self, name).read(text)


class _Reader:
    """Reads one file into blocks."""

    def __init__(self, blocks: Blocks, file: str) -> None:
        self.blocks = blocks
        self.place = Place(file, 0)
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
            "words": lambda line: self.blocks.classes[self.head[1]].words.extend(line.split()),
            "irregular": self._form,
            "table": self._row,
            "rule": self._line,
            "capitals": lambda line: self.blocks.capitals.update(line.split()),
        }

    def read(self, text: str) -> None:
        for number, raw in enumerate(text.splitlines(), start=1):
            line = raw.split("# ")[0].rstrip() if not raw.lstrip().startswith("#") else ""
            self.place = self.place._replace(line=number)
            if line and line[0].isspace():
                self._entry(line.strip())
            elif line:
                words, _, rest = line.partition(":")
                self._header(words.split(), rest.strip())

    def _header(self, head: list[str], rest: str) -> None:
        known = self._headers.get(head[0])
        if known is None or not known(head[1:], rest):
            raise self.place.error(
                f"`{' '.join(head)}` begins no block.",
                "Blocks are: genres, ratings, weights genre|rating, words NAME POS [zipf X], "
                f"irregular {'|'.join(_IRREGULAR)}, table NAME : columns, rule NAME [each TABLE], "
                "capitals.",
            )
        self.head = head

    def _entry(self, line: str) -> None:
        if not self.head:
            raise self.place.error(
                "an indented line belongs to no block.", "Begin a block before it."
            )
        if self.head[0] not in self._entries:
            raise self.place.error(
                f"`{self.head[0]}` has no entries.", "Write its values in its own line."
            )
        self._entries[self.head[0]](line)

    def _genres(self, names: list[str], _: str) -> bool:
        self.blocks.genres = names
        return True

    def _ratings(self, numbers: list[str], _: str) -> bool:
        weights = self._numbers(numbers)
        self.blocks.ratings = [weight / sum(weights) for weight in weights]
        return True

    def _class(self, words: list[str], rest: str) -> bool:
        if len(words) not in (2, 4) or (len(words) == 4 and words[2] != "zipf"):
            return False
        name, part_of_speech = words[:2]
        self._known(part_of_speech)
        exponent = self._numbers(words[3:])[0] if len(words) == 4 else 0.0
        new = WordClass(name, part_of_speech, exponent)
        self.blocks.classes.setdefault(name, new).words.extend(rest.split())
        return True

    def _table(self, names: list[str], rest: str) -> bool:
        if len(names) != 1:
            return False
        columns: dict[str, str | None] = {}
        for column in rest.split("|"):
            name, _, part_of_speech = column.strip().partition("/")
            if part_of_speech:
                self._known(part_of_speech)
            columns[name] = part_of_speech or None
        self.blocks.tables.setdefault(names[0], Table(names[0], columns))
        return True

    def _rule(self, names: list[str], _: str) -> bool:
        if len(names) != 1 and (len(names) != 3 or names[1] != "each"):
            return False
        self.blocks.lines.setdefault(names[0], [])
        return True

    def _capitals(self, words: list[str], rest: str) -> bool:
        self.blocks.capitals.update(words, rest.split())
        return True

    def _weights(self, line: str) -> None:
        (kind,), (name, *numbers) = self.head[1:], line.split()
        wanted = len(self.blocks.genres if kind == "genre" else self.blocks.ratings)
        if len(numbers) != wanted:
            raise self.place.error(
                f"{name} has {len(numbers)} weights.", f"Give {wanted}, one for each {kind}."
            )
        self.blocks.weights[name] = (kind, self._numbers(numbers))

    def _form(self, line: str) -> None:
        words = line.split()
        if len(words) != 2:
            raise self.place.error("this is not a lemma and a form.", "Write two words in a line.")
        self.blocks.irregular.setdefault(self.head[1], {})[words[0]] = words[1]

    def _row(self, line: str) -> None:
        table, cells = self.blocks.tables[self.head[1]], line.split("|")
        if len(cells) != len(table.columns):
            raise self.place.error(
                f"this row has {len(cells)} cells.",
                f"Give {len(table.columns)}: {' | '.join(table.columns)}.",
            )
        table.rows.append(dict(zip(table.columns, (cell.strip() for cell in cells), strict=True)))

    def _line(self, line: str) -> None:
        table = self.head[3] if len(self.head) == 4 else None
        self.blocks.lines[self.head[1]].append((table, Line(line, self.place)))

    def _known(self, part_of_speech: str) -> None:
        if part_of_speech not in PARTS_OF_SPEECH:
            raise self.place.error(
                f"{part_of_speech!r} is no part of speech.",
                f"Choose one of: {', '.join(PARTS_OF_SPEECH)}.",
            )

    def _numbers(self, words: list[str]) -> list[float]:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = [math.nan]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise self.place.error(
                f"{' '.join(words)!r} are not numbers of zero or more.",
                "Write numbers such as 0.25.",
            )
        return numbers
