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

from lmcourse.corpus.bookworld.blocks import Blocks, Line, Row, Table
from lmcourse.corpus.bookworld.morphology import FORMS, inflect
from lmcourse.corpus.bookworld.templates import NUMBER, REGISTERS, Location, Nodes, Parser, plain
from lmcourse.errors import CourseError

LANGUAGE = Path(__file__).parent / "language"
_COLUMN = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_WEIGHTS = re.compile(r"\[([^\]()<$@|]*)\]\s*")
_NUMBER = re.compile(rf"({NUMBER})\s+")
_MARK = re.compile(r"\s+!(\S+)$")
_TITLES = ("book", "other")  # entities of a fact beside the registers: this title, the other one
_LABELS = re.compile(r"/[A-Z]+|#\w+")  # of a table's words, which a mark needs not


@dataclass(frozen=True)
class Production:
    """One way to say a rule: its weight for each latent class, and what is said."""

    weight: float | np.ndarray  # for all latent classes, or [genres · ratings]
    nodes: Nodes
    location: Location


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
        self._complete_weights()
        self._derive_rivals()

    @classmethod
    def read(cls, *folders: str | Path) -> "Grammar":
        """Read every ``*.grammar`` file of some folders, in the order of their names."""
        texts = []
        for folder in folders:
            paths = sorted(Path(folder).glob("*.grammar"))
            if not paths:
                raise CourseError(
                    f"There is no *.grammar file in {folder}.",
                    "Give the folder that holds the grammar's files.",
                )
            texts += [(path.name, _text(path)) for path in paths]
        return cls(texts)

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
                            found.setdefault(plain(word), set()).add(part_of_speech or "")
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
            word = inflect(plain(lemma), form or "base", self.irregular)
            # Rounded, so that the last digit of a platform's pow() changes no sampled review.
            found[word] = found.get(word, 0.0) + round(weight / total, 14)
        return found

    def _productions(self, table: str | None, line: Line, parser: Parser) -> Iterator[Production]:
        if table is not None and table not in self.tables:
            raise line.location.error(
                f"there is no table {table!r}.", f"Known are: {', '.join(self.tables)}."
            )
        for row in [{}] if table is None else self.tables[table].rows:
            text = self._filled(line, table, row)
            marks: list[str] = []
            while found := _MARK.search(text):
                marks.insert(0, _LABELS.sub("", found[1]))
                text = text[: found.start()]
            for mark in marks:
                _check_mark(mark, line.location)
            weight, text = self._weight(text, line.location)
            nodes = parser.template(text, tuple(marks), line.location)
            yield Production(weight, nodes, line.location)

    def _filled(self, line: Line, table: str | None, row: dict[str, str]) -> str:
        def fill(found: re.Match[str]) -> str:
            column, form = found[1], found[2]
            if column not in row:
                raise line.location.error(
                    f"there is no column {{{column}}}"
                    + (f" in the table {table}." if table else ": the rule has no `each TABLE`."),
                    f"Known are: {', '.join(row) or 'none'}.",
                )
            part_of_speech = self.tables[table].columns[column] if table else None
            return self._cell(row[column], form, part_of_speech, line.location)

        return _COLUMN.sub(fill, line.text)

    def _cell(
        self, cell: str, form: str | None, part_of_speech: str | None, location: Location
    ) -> str:
        options = []
        for option in cell.split(" ; "):
            words = option.split()
            if part_of_speech:
                words = [word if "/" in word else _tagged(word, part_of_speech) for word in words]
            if form:
                if form not in FORMS["VERB"]:
                    raise location.error(
                        f"a phrase has no form {form!r}.", f"Choose {', '.join(FORMS['VERB'])}."
                    )
                words[0] = inflect(plain(words[0]), form, self.irregular) + "/VERB"
            options.append(" ".join(words))
        return options[0] if len(options) == 1 else f"( {' | '.join(options)} )"

    def _weight(self, text: str, location: Location) -> tuple[float | np.ndarray, str]:
        """The line's weight for each pair of genre and rating, and the line without it."""
        genres, ratings = np.ones(len(self.genres)), np.ones(len(self.ratings))
        if found := _NUMBER.match(text):
            return float(found[1]), text[found.end() :]
        found = _WEIGHTS.match(text)
        for name in found[1].split() if found else ():
            if re.fullmatch(NUMBER, name):
                genres = genres * float(name)
            elif name not in self.weights:
                raise location.error(
                    f"there are no weights named {name!r}.",
                    f"Known are: {', '.join(self.weights)}. An optional part at the start of a "
                    "line needs a number before it: `1 [0.3 words]`.",
                )
            elif self.weights[name].kind == "genre":
                genres = genres * np.array(self.weights[name].numbers)
            else:
                ratings = ratings * np.array(self.weights[name].numbers)
        weight = np.outer(genres, ratings).ravel()
        rest = text[found.end() :] if found else text
        return (float(weight[0]) if np.ptp(weight) == 0 else weight), rest

    def _part_of_speech(self, word: str, location: Location) -> str:
        found = self.lexicon.get(word, set())
        if len(found) == 1:
            return next(iter(found))
        if found:
            raise location.error(
                f"the word {word!r} may be {' or '.join(sorted(found))}.",
                f"Say which in this line: write {word}/{min(found)}. If you have just added the "
                f"word to a class, you can also take it out there and write {word}/… in your "
                "rule instead.",
            )
        if word[-1] in ".,?!;:" and len(word) > 1:
            raise location.error(
                f"the word {word!r} is in no list.",
                f"Put a space before the mark: {word[:-1]} {word[-1]}",
            )
        if not word.isalnum():
            raise location.error(
                f"the mark {word!r} is in no list.",
                f"Write {word}/PUNCT, or add it to a class: `words marks PUNCT : {word}`.",
            )
        raise location.error(
            f"the word {word!r} is in no list.",
            "Add it to a class (`words lexicon_nouns NOUN`), or write its part of speech with it: "
            f"{word}/NOUN.",
        )

    def _slot(self, words: str, form: str, location: Location) -> str:
        if words not in self.classes:
            raise location.error(
                f"there is no class <{words}>.", "Add it with a block `words`, or mend its name."
            )
        part_of_speech = self.classes[words].part_of_speech
        if form and form not in FORMS.get(part_of_speech, ()):
            raise location.error(
                f"words of <{words}> are {part_of_speech} and have no form {form!r}.",
                f"Choose one of: {', '.join(FORMS.get(part_of_speech, ('no form at all',)))}.",
            )
        return part_of_speech

    def _complete_weights(self) -> None:
        """A genre that is added later gets the smallest number of each earlier vector."""
        known = {"genre": len(self.genres), "rating": len(self.ratings)}
        for name, weights in self.weights.items():
            wanted, given = known[weights.kind], len(weights.numbers)
            if weights.kind == "genre" and 0 < given == weights.genres:
                weights.numbers.extend([min(weights.numbers)] * (wanted - given))
            elif given != wanted:
                raise weights.location.error(
                    f"the weights `{name}` have {given} numbers, and there are {wanted} "
                    f"{weights.kind}s.",
                    f"Give {wanted}, one for each {weights.kind}"
                    + (f": {', '.join(self.genres)}." if weights.kind == "genre" else "."),
                )

    def _derive_rivals(self) -> None:
        """The table ``rivals``: of each two senses of a word, one and the other's acts."""
        senses = self.tables.get("senses")
        if senses is None:
            return
        columns = {**senses.columns, "rival": None, "rival_sense": None}
        self.tables["rivals"] = rivals = Table("rivals", columns, senses.location)
        for row in senses.rows:
            for other in senses.rows:
                if row["word"] == other["word"] and row["sense"] != other["sense"]:
                    pair = {"rival": other["acts"], "rival_sense": other["sense"]}
                    rivals.rows.append(Row({**row, **pair}, senses.location_of(row)))


def _check_mark(mark: str, location: Location) -> None:
    """Check a line's mark: a fact has three parts, and reads registers."""
    kind, *parts = mark.split(":")
    if kind != "fact" and not parts:
        return
    if kind != "fact" or len(parts) != 3 or not all(parts):
        raise location.error(
            f"the mark !{mark} is no fact of three parts.",
            "Write !fact:subject:relation:object, such as !fact:@book.last:wrote:@book.",
        )
    for part in parts:
        if part.startswith("@") and part[1:] not in (*_TITLES, *REGISTERS):
            raise location.error(
                f"the fact !{mark} reads {part}, which is no register.",
                f"Write a word, or one of: @{', @'.join((*_TITLES, *REGISTERS))}.",
            )


def _text(path: Path) -> str:
    """A file's text, without the byte-order mark that some editors put before it."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Location(path.name, line).error(
            "a character is not written as UTF-8.", "Save the file as UTF-8 text."
        ) from None
    except OSError as error:
        raise CourseError(
            f"The file {path} cannot be read: {error.strerror}.", "Make it a readable text file."
        ) from error


def _tagged(word: str, part_of_speech: str) -> str:
    core, *sense = word.split("#")
    return f"{core}/{part_of_speech}" + "".join(f"#{each}" for each in sense)
