"""The blocks of BookWorld's grammar files, as they are written: nothing is made of them yet."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from lmcourse.corpus.bookworld.templates import Place

_KINDS = (["genre"], ["rating"])


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
    """Reads one file's blocks into a blocks."""

    def __init__(self, blocks: Blocks, file: str) -> None:
        self.blocks = blocks
        self.file = file

    def read(self, text: str) -> None:
        head: list[str] = []
        for number, raw in enumerate(text.splitlines(), start=1):
            line = raw.split("# ")[0].rstrip() if not raw.lstrip().startswith("#") else ""
            if not line:
                continue
            place = Place(self.file, number)
            if line[0].isspace():
                if not head:
                    raise place.error(
                        "an indented line belongs to no block.", "Begin a block before it."
                    )
                self._entry(head, line.strip(), place)
            else:
                words, _, rest = line.partition(":")
                head = words.split()
                self._header(head, rest.strip(), place)

    def _header(self, head: list[str], rest: str, place: Place) -> None:
        blocks, kind = self.blocks, head[0]
        if kind == "genres":
            blocks.genres = head[1:]
        elif kind == "ratings":
            numbers = self._numbers(head[1:], place)
            blocks.ratings = [number / sum(numbers) for number in numbers]
        elif kind == "words" and len(head) in (3, 5):
            exponent = self._numbers(head[4:], place)[0] if len(head) == 5 else 0.0
            name = head[1]
            blocks.classes.setdefault(name, WordClass(name, head[2], exponent))
            blocks.classes[name].words.extend(rest.split())
        elif kind == "table" and len(head) == 2:
            columns = {}
            for column in rest.split("|"):
                name, _, part_of_speech = column.strip().partition("/")
                columns[name] = part_of_speech or None
            blocks.tables.setdefault(head[1], Table(head[1], columns))
        elif kind == "rule" and (len(head) == 2 or (len(head) == 4 and head[2] == "each")):
            blocks.lines.setdefault(head[1], [])
        elif kind == "capitals":
            blocks.capitals.update(head[1:], rest.split())
        elif not (
            (kind == "irregular" and len(head) == 2) or (kind == "weights" and head[1:] in _KINDS)
        ):
            raise place.error(
                f"`{' '.join(head)}` begins no block.",
                "Blocks are: genres, ratings, weights genre|rating, words NAME POS [zipf X], "
                "irregular FORM, table NAME : columns, rule NAME [each TABLE], capitals.",
            )

    def _entry(self, head: list[str], line: str, place: Place) -> None:
        blocks, kind = self.blocks, head[0]
        if kind == "words":
            blocks.classes[head[1]].words.extend(line.split())
        elif kind == "capitals":
            blocks.capitals.update(line.split())
        elif kind == "weights":
            name, *numbers = line.split()
            blocks.weights[name] = (head[1], self._numbers(numbers, place))
            wanted = len(blocks.genres if head[1] == "genre" else blocks.ratings)
            if len(numbers) != wanted:
                raise place.error(
                    f"{name} has {len(numbers)} weights.", f"Give {wanted}, one for each {head[1]}."
                )
        elif kind == "irregular":
            words = line.split()
            if len(words) != 2:
                raise place.error("this is not a lemma and a form.", "Write two words in a line.")
            blocks.irregular.setdefault(head[1], {})[words[0]] = words[1]
        elif kind == "table":
            columns, cells = blocks.tables[head[1]].columns, line.split("|")
            if len(cells) != len(columns):
                raise place.error(
                    f"this row has {len(cells)} cells.",
                    f"Give {len(columns)}: {' | '.join(columns)}.",
                )
            row = dict(zip(columns, (cell.strip() for cell in cells), strict=True))
            blocks.tables[head[1]].rows.append(row)
        elif kind == "rule":
            table = head[3] if len(head) == 4 else None
            blocks.lines[head[1]].append((table, Line(line, place)))
        else:
            raise place.error(f"`{kind}` has no entries.", "Write its values in its own line.")

    def _numbers(self, words: list[str], place: Place) -> list[float]:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = [math.nan]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise place.error(
                f"{' '.join(words)!r} are not numbers of zero or more.",
                "Write numbers such as 0.25.",
            )
        return numbers
