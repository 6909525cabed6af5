"""BookWorld's grammar, read from plain text that a teacher can extend by adding lines.

The files ``language/*.grammar`` hold blocks of six kinds: the genres and the ratings' frequencies,
``weights``, ``words``, ``irregular`` forms, ``table`` and ``rule``. ``language/README.md`` explains
them.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lmcourse.corpus.bookworld.blocks import Blocks, Line, Table
from lmcourse.corpus.bookworld.morphology import FORMS, inflect
from lmcourse.corpus.bookworld.registers import REGISTERS
from lmcourse.corpus.bookworld.templates import Nodes, Parser, Place
from lmcourse.errors import CourseError

LANGUAGE = Path(__file__).parent / "language"
_COLUMN = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_WEIGHTS = re.compile(r"\[([^\]()<$@|]*)\]\s*")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s+")
_MARK = re.compile(r"\s+!(\S+)$")
_LABELS = re.compile(r"/[A-Z]+|#\w+")  # of a table's words, which a mark needs not


@dataclass(frozen=True)
class Production:
    """One way to say a rule: its weight for each latent class, and what is said."""

    weight: float | np.ndarray  # for all latent classes, or [genres · ratings]
    nodes: Nodes


class Grammar(Blocks):
    """The blocks of some grammar files, and what follows from them.

    Args:
        texts: pairs of a file's name (for messages) and its text.

    Raises:
        CourseError: a line cannot be read; file, line and remedy are named.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        super().__init__(texts)
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
        """Every word of the classes and tables, in all its forms → its parts of speech."""
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
        names = [name for name, lines in self.lines.items() if lines]
        parser = Parser(self._part_of_speech, self._slot, REGISTERS, names)
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
            text = self._filled(line, table, row)
            marks: list[str] = []
            while found := _MARK.search(text):
                marks.insert(0, _LABELS.sub("", found[1]))
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

    def _weight(self, text: str, place: Place) -> tuple[float | np.ndarray, str]:
        """The line's weight for each pair of genre and rating, and the line without it."""
        genres, ratings = np.ones(len(self.genres)), np.ones(len(self.ratings))
        if found := _NUMBER.match(text):
            return float(found[1]), text[found.end() :]
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
        weight = np.outer(genres, ratings).ravel()
        rest = text[found.end() :] if found else text
        return (float(weight[0]) if np.ptp(weight) == 0 else weight), rest

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
        """The table ``rivals``: of each two senses of a word, one and the other's acts."""
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
