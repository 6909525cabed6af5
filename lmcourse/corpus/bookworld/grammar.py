"""BookWorld's grammar, read from plain text that a teacher can extend by adding lines.

The files ``language/*.grammar`` hold blocks of six kinds: the genres and the ratings' frequencies,
``weights``, ``words``, ``irregular`` forms, ``table`` and ``rule``. ``language/README.md`` explains them.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from lmcourse.corpus.bookworld.morphology import FORMS, inflect
from lmcourse.corpus.bookworld.registers import REGISTERS
from lmcourse.corpus.bookworld.templates import Nodes, Parser, Place
from lmcourse.errors import CourseError

LANGUAGE = Path(__file__).parent / "language"
_COLUMN = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_WEIGHTS = re.compile(r"\[([^\]()<$@|]*)\]\s*")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s+")
_MARK = re.compile(r"\s+!(\S+)$")


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


@dataclass(frozen=True)
class Production:
    """One way to say a rule: its weight for each latent class, and what is said."""

    weight: np.ndarray  # [genres · ratings]
    nodes: Nodes


class Grammar:
    """The blocks of some grammar files, and what follows from them.

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
        if not self.genres or not self.ratings or "review" not in self.lines:
            raise CourseError(
                "The grammar lacks its genres, its ratings or the rule `review`.",
                "Add the block that is missing, as in lmcourse/corpus/bookworld/language.",
            )
        self._derive_rivals()

    @classmethod
    def read(cls, *folders: str | Path) -> "Grammar":
        """Read every ``*.grammar`` file of some folders, in the order of their names."""
        paths = [path for folder in folders for path in sorted(Path(folder).glob("*.grammar"))]
        if not paths:
            raise CourseError(
                f"There is no *.grammar file in {', '.join(map(str, folders))}.",
                "Give the folder that holds the grammar's files.",
            )
        return cls((path.name, path.read_text(encoding="utf-8")) for path in paths)

    @cached_property
    def lexicon(self) -> dict[str, set[str]]:
        """Every word that the classes and tables declare, in all its forms → its parts of speech."""
        found: dict[str, set[str]] = {}
        for each in self.classes.values():
            for form in FORMS.get(each.part_of_speech, ("base",)):
                for word in each.words:
                    inflected = inflect(word, form, self.irregular)
                    found.setdefault(inflected, set()).add(each.part_of_speech)
        for table in self.tables.values():
            for column, part_of_speech in table.columns.items():
                for row in table.rows if part_of_speech else ():
                    for word in row[column].split():
                        if word != ";":
                            found.setdefault(_plain(word), set()).add(part_of_speech or "")
        return found

    @cached_property
    def rules(self) -> dict[str, list[Production]]:
        """Each rule's productions, with the columns of its table filled in."""
        parser = Parser(self._part_of_speech, self._slot, REGISTERS)
        return {
            name: [
                production
                for table, line in lines
                for production in self._productions(table, line, parser)
            ]
            for name, lines in self.lines.items()
        }

    def distribution(self, words: str, form: str) -> dict[str, float]:
        """The probability of each word of a class, in a form."""
        each = self.classes[words]
        raw = [rank**-each.zipf for rank in range(1, len(each.words) + 1)]
        total = math.fsum(raw)
        found: dict[str, float] = {}
        for lemma, weight in zip(each.words, raw, strict=True):
            word = inflect(_plain(lemma), form or "base", self.irregular)
            # Rounded, so that the last digit of a platform's pow() changes no sampled review.
            found[word] = found.get(word, 0.0) + round(weight / total, 14)
        return found

    def _productions(self, table: str | None, line: Line, parser: Parser) -> Iterator[Production]:
        if table is not None and table not in self.tables:
            raise line.place.error(
                f"there is no table {table!r}.", f"Known are: {', '.join(self.tables)}."
            )
        for row in [{}] if table is None else self.tables[table].rows:
            text, marks = self._filled(line, table, row), []
            while found := _MARK.search(text):
                marks.insert(0, found[1])
                text = text[: found.start()]
            weight, text = self._weight(text, line.place)
            yield Production(weight, parser.template(text, tuple(marks), line.place))

    def _filled(self, line: Line, table: str | None, row: dict[str, str]) -> str:
        def fill(found: re.Match[str]) -> str:
            column, form = found[1], found[2]
            if column not in row:
                raise line.place.error(
                    f"there is no column {{{column}}}"
                    + (f" in the table {table}." if table else ": the rule has no `each TABLE`."),
                    f"Known are: {', '.join(row) or 'none'}.",
                )
            part_of_speech = self.tables[table].columns[column] if table else None
            return self._cell(row[column], form, part_of_speech, line.place)

        return _COLUMN.sub(fill, line.text)

    def _cell(self, cell: str, form: str | None, part_of_speech: str | None, place: Place) -> str:
        options = []
        for option in cell.split(" ; "):
            words = option.split()
            if part_of_speech:
                words = [word if "/" in word else _tagged(word, part_of_speech) for word in words]
            if form:
                if form not in FORMS["VERB"]:
                    raise place.error(
                        f"a phrase has no form {form!r}.", f"Choose {', '.join(FORMS['VERB'])}."
                    )
                words[0] = inflect(_plain(words[0]), form, self.irregular) + "/VERB"
            options.append(" ".join(words))
        return options[0] if len(options) == 1 else f"( {' | '.join(options)} )"

    def _weight(self, text: str, place: Place) -> tuple[np.ndarray, str]:
        """The line's weight for each pair of genre and rating, and the line without it."""
        genres, ratings = np.ones(len(self.genres)), np.ones(len(self.ratings))
        if found := _NUMBER.match(text):
            return np.full(len(genres) * len(ratings), float(found[1])), text[found.end() :]
        found = _WEIGHTS.match(text)
        for name in found[1].split() if found else ():
            if re.fullmatch(r"\d+(\.\d+)?", name):
                genres = genres * float(name)
            elif name not in self.weights:
                raise place.error(
                    f"there are no weights named {name!r}.",
                    f"Known are: {', '.join(self.weights)}. An optional part at the start of a "
                    "line needs a number before it: `1 [0.3 words]`.",
                )
            elif self.weights[name][0] == "genre":
                genres = genres * np.array(self.weights[name][1])
            else:
                ratings = ratings * np.array(self.weights[name][1])
        return np.outer(genres, ratings).ravel(), text[found.end() :] if found else text

    def _part_of_speech(self, word: str, place: Place) -> str:
        found = self.lexicon.get(word, set())
        if len(found) == 1:
            return next(iter(found))
        if found:
            raise place.error(
                f"the word {word!r} may be {' or '.join(sorted(found))}.",
                f"Say which: write {word}/{min(found)}.",
            )
        raise place.error(
            f"the word {word!r} is in no list.",
            "Add it to a class (`words lexicon_nouns NOUN`), or write its part of speech with it: "
            f"{word}/NOUN.",
        )

    def _slot(self, words: str, form: str, place: Place) -> str:
        if words not in self.classes:
            raise place.error(
                f"there is no class <{words}>.", "Add it with a block `words`, or mend its name."
            )
        part_of_speech = self.classes[words].part_of_speech
        if form and form not in FORMS.get(part_of_speech, ()):
            raise place.error(
                f"words of <{words}> are {part_of_speech} and have no form {form!r}.",
                f"Choose one of: {', '.join(FORMS.get(part_of_speech, ('no form at all',)))}.",
            )
        return part_of_speech

    def _derive_rivals(self) -> None:
        """The table ``rivals``: for each two senses of a word, the one meant and the other's acts."""
        senses = self.tables.get("senses")
        if senses is None:
            return
        rows = [
            {**row, "rival": other["acts"], "rival_sense": other["sense"]}
            for row in senses.rows
            for other in senses.rows
            if row["word"] == other["word"] and row["sense"] != other["sense"]
        ]
        columns = {**senses.columns, "rival": None, "rival_sense": None}
        self.tables["rivals"] = Table("rivals", columns, rows)


def _plain(word: str) -> str:
    return re.split(r"[/#^]", word)[0]


def _tagged(word: str, part_of_speech: str) -> str:
    core, *sense = word.split("#")
    return f"{core}/{part_of_speech}" + "".join(f"#{each}" for each in sense)


class _Reader:
    """Reads one file's blocks into a grammar."""

    def __init__(self, grammar: Grammar, file: str) -> None:
        self.grammar = grammar
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
        grammar, kind = self.grammar, head[0]
        if kind == "genres":
            grammar.genres = head[1:]
        elif kind == "ratings":
            numbers = self._numbers(head[1:], place)
            grammar.ratings = [number / sum(numbers) for number in numbers]
        elif kind == "words" and len(head) in (3, 5):
            exponent = self._numbers(head[4:], place)[0] if len(head) == 5 else 0.0
            name = head[1]
            grammar.classes.setdefault(name, WordClass(name, head[2], exponent))
            grammar.classes[name].words.extend(rest.split())
        elif kind == "table" and len(head) == 2:
            columns = {}
            for column in rest.split("|"):
                name, _, part_of_speech = column.strip().partition("/")
                columns[name] = part_of_speech or None
            grammar.tables.setdefault(head[1], Table(head[1], columns))
        elif kind == "rule" and (len(head) == 2 or (len(head) == 4 and head[2] == "each")):
            grammar.lines.setdefault(head[1], [])
        elif kind == "capitals":
            grammar.capitals.update(head[1:], rest.split())
        elif not (kind in ("weights", "irregular") and len(head) == 2):
            raise place.error(
                f"`{' '.join(head)}` begins no block.",
                "Blocks are: genres, ratings, weights genre|rating, words NAME POS [zipf X], "
                "irregular FORM, table NAME : columns, rule NAME [each TABLE], capitals.",
            )

    def _entry(self, head: list[str], line: str, place: Place) -> None:
        grammar, kind = self.grammar, head[0]
        if kind == "words":
            grammar.classes[head[1]].words.extend(line.split())
        elif kind == "capitals":
            grammar.capitals.update(line.split())
        elif kind == "weights":
            name, *numbers = line.split()
            grammar.weights[name] = (head[1], self._numbers(numbers, place))
            wanted = len(grammar.genres if head[1] == "genre" else grammar.ratings)
            if len(numbers) != wanted:
                raise place.error(
                    f"{name} has {len(numbers)} weights.", f"Give {wanted}, one for each {head[1]}."
                )
        elif kind == "irregular":
            words = line.split()
            if len(words) != 2:
                raise place.error("this is not a lemma and a form.", "Write two words in a line.")
            grammar.irregular.setdefault(head[1], {})[words[0]] = words[1]
        elif kind == "table":
            columns, cells = grammar.tables[head[1]].columns, line.split("|")
            if len(cells) != len(columns):
                raise place.error(
                    f"this row has {len(cells)} cells.",
                    f"Give {len(columns)}: {' | '.join(columns)}.",
                )
            row = dict(zip(columns, (cell.strip() for cell in cells), strict=True))
            grammar.tables[head[1]].rows.append(row)
        elif kind == "rule":
            table = head[3] if len(head) == 4 else None
            grammar.lines[head[1]].append((table, Line(line, place)))
        else:
            raise place.error(f"`{kind}` has no entries.", "Write its values in its own line.")

    def _numbers(self, words: list[str], place: Place) -> list[float]:
        try:
            return [float(word) for word in words]
        except ValueError:
            raise place.error(
                f"{' '.join(words)!r} are not numbers.", "Write numbers such as 0.25."
            ) from None
