"""The template language of BookWorld's sentences, parsed into a tree.

A line such as ``[mystery 3] the <jewel> was gone [0.4 from the <place>] . !problem`` is a sequence
of literals, slots and choices. ``language/README.md`` explains it.
"""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from lmcourse.errors import CourseError

# The registers and their parts of speech.
REGISTERS: dict[str, str] = {
    "hero": "PROPN",
    "hero.he": "PRON",
    "hero.him": "PRON",
    "hero.his": "DET",
    "hero.man": "NOUN",
    "second": "PROPN",
    "second.he": "PRON",
    "second.him": "PRON",
    "second.his": "DET",
    "second.man": "NOUN",
    "book.adjective": "ADJ",
    "book.noun": "NOUN",
    "book.first": "PROPN",
    "book.last": "PROPN",
    "book.city": "PROPN",
    "book.country": "PROPN",
    "book.series": "PROPN",
    "book.other_adjective": "ADJ",
    "book.other_noun": "NOUN",
}


class Location(NamedTuple):
    """The file and line of an entry, for messages."""

    file: str
    line: int

    def error(self, cause: str, remedy: str) -> CourseError:
        """Return an error about this line."""
        return CourseError(f"{self.file}, line {self.line}: {cause}", remedy)

    def check_lower(self, word: str) -> None:
        """Check that a word of this line is written in lower case."""
        if word != word.lower():
            raise self.error(
                f"{word!r} has a capital letter.",
                f"Write {word.lower()!r}; if it is printed with a capital, add it to a block "
                "`capitals`.",
            )


class Tag(NamedTuple):
    """The labels of a token."""

    part_of_speech: str
    sense: str | None = None
    register: str | None = None  # "hero.he": who is meant
    agreement: tuple[str, str] | None = None  # ("subject" or "verb", "singular" or "plural")
    marks: tuple[
        str, ...
    ] = ()  # of the sentence: its stage, its facts, whether it gives the end away


class Word(NamedTuple):
    """One literal token."""

    text: str
    tag: Tag


class Slot(NamedTuple):
    """One word of a class, in a form: ``<place.plural>``."""

    words: str
    form: str
    tag: Tag


class Read(NamedTuple):
    """What a register holds: ``@hero.he``."""

    register: str
    tag: Tag


class Article(NamedTuple):
    """``a`` or ``an``, by what follows."""

    tag: Tag


class Rule(NamedTuple):
    """Another rule: ``$subject``."""

    name: str


class Choice(NamedTuple):
    """One of several sequences, with their weights."""

    options: tuple[tuple[float, "Nodes"], ...]


Node = Word | Slot | Read | Article | Rule | Choice
Nodes = tuple[Node, ...]

# Universal Dependencies' names.
PARTS_OF_SPEECH = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"),
    *("PUNCT", "SCONJ", "VERB"),
)
SENTENCE_ENDS = (".", "?", "!")
_PIECES = re.compile(r"[()\[\]|]|[^\s()\[\]|]+")
NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(NUMBER)
_ELEMENT = re.compile(
    r"(?P<core>[^/#^]+)(/(?P<pos>[A-Z]+))?(#(?P<sense>\w+))?"
    r"(\^(?P<role>subject|verb)\.(?P<number>\w+))?"
)


class Parser:
    """Reads the templates of one grammar.

    Args:
        part_of_speech: of a literal; raises the line's error for a word that is unknown or could
            be two things.
        slot: the part of speech of a class's form; raises likewise.
        registers: each register's part of speech.
        rules: the names of all rules.
    """

    def __init__(
        self,
        part_of_speech: Callable[[str, Location], str],
        slot: Callable[[str, str, Location], str],
        registers: dict[str, str],
        rules: Collection[str],
    ) -> None:
        self.part_of_speech = part_of_speech
        self.slot = slot
        self.registers = registers
        self.rules = rules
        self._read: dict[str, Node] = {}  # most elements are in many lines or rows

    def template(self, text: str, marks: tuple[str, ...], location: Location) -> Nodes:
        """Read one template; its last token that is always said carries the sentence's marks."""
        pieces = _PIECES.findall(text)
        nodes, rest = self._sequence(pieces, location)
        if rest:
            raise location.error(
                f"there is a {rest[0]!r} too many.", "Remove it, or open it before."
            )
        if not marks:
            return nodes
        marked = self._marked(nodes, marks, location)
        if not _ends_sentence(nodes):
            raise location.error(
                f"the line has the marks {_listed(marks)} but does not end its sentence.",
                "End it with ` .`, ` ?` or ` !` before its marks: they are the labels of a "
                "sentence, and would go to the one that follows.",
            )
        return marked

    def _marked(self, nodes: Nodes, marks: tuple[str, ...], location: Location) -> Nodes:
        for index in reversed(range(len(nodes))):
            node = nodes[index]
            if isinstance(node, Word | Slot | Read):
                tagged = node._replace(tag=node.tag._replace(marks=marks))
                return (*nodes[:index], tagged, *nodes[index + 1 :])
        raise location.error(
            f"the marks {_listed(marks)} find no token of this line.",
            "End the line with a token that is always said, such as a full stop.",
        )

    def _sequence(self, pieces: list[str], location: Location) -> tuple[Nodes, list[str]]:
        nodes: list[Node] = []
        while pieces and pieces[0] not in ")]|":
            head, *pieces = pieces
            if head in "([":
                node, pieces = self._choice(head, pieces, location)
                nodes.append(node)
            else:
                if head not in self._read:
                    self._read[head] = self._element(head, location)
                nodes.append(self._read[head])
        return tuple(nodes), pieces

    def _choice(
        self, bracket: str, pieces: list[str], location: Location
    ) -> tuple[Choice, list[str]]:
        options: list[tuple[float, Nodes]] = []
        closing = ")" if bracket == "(" else "]"
        while True:
            weight: float | None = None
            if pieces and _NUMBER.fullmatch(pieces[0]):
                weight, pieces = float(pieces[0]), pieces[1:]
            nodes, pieces = self._sequence(pieces, location)
            if bracket == "[":
                weight = 0.5 if weight is None else weight
                options += [(weight, nodes), (1 - weight, ())]
            else:
                options.append((1.0 if weight is None else weight, nodes))
            if not pieces or (pieces[0] != closing and (bracket == "[" or pieces[0] != "|")):
                raise location.error(f"a {bracket!r} is not closed.", f"Close it with {closing!r}.")
            mark, *pieces = pieces
            if mark == closing:
                break
        if bracket == "[" and not 0 < options[0][0] < 1:
            raise location.error(
                f"the probability {options[0][0]:g} of an optional part is not between 0 and 1.",
                "Write it as [0.3 words].",
            )
        return Choice(tuple(options)), pieces

    def _element(self, text: str, location: Location) -> Node:
        found = _ELEMENT.fullmatch(text)
        if found is None:
            raise location.error(
                f"{text!r} cannot be read.",
                "Write a word, word/POS, word#sense, <class.form>, @register or $rule.",
            )
        if found["pos"] and found["pos"] not in PARTS_OF_SPEECH:
            raise location.error(
                f"{text!r} names no part of speech.", f"Known are: {', '.join(PARTS_OF_SPEECH)}."
            )
        core, sense = found["core"], found["sense"]
        agreement = (found["role"], found["number"]) if found["role"] else None
        if core.startswith("$"):
            if core[1:] not in self.rules:
                raise location.error(
                    f"there is no rule {core}, or it has no lines.", "Write it, or mend the name."
                )
            return Rule(core[1:])
        if core.startswith("@"):
            if core[1:] not in self.registers:
                raise location.error(
                    f"there is no register {core}.", f"Known are: @{', @'.join(self.registers)}."
                )
            return Read(core[1:], Tag(self.registers[core[1:]], sense, core[1:], agreement))
        if core.startswith("<") and core.endswith(">"):
            words, _, form = core[1:-1].partition(".")
            tag = Tag(found["pos"] or self.slot(words, form, location), sense, None, agreement)
            return Slot(words, form, tag)
        location.check_lower(core)
        if core == "a":
            return Article(Tag("DET"))
        return Word(
            core, Tag(found["pos"] or self.part_of_speech(core, location), sense, None, agreement)
        )


def _ends_sentence(nodes: Nodes) -> bool:
    last = nodes[-1] if nodes else None
    if isinstance(last, Choice):
        return all(_ends_sentence(option) for _, option in last.options)
    return isinstance(last, Word) and last.text in SENTENCE_ENDS


def _listed(marks: tuple[str, ...]) -> str:
    return " ".join(f"!{mark}" for mark in marks)


def plain(text: str) -> str:
    """The words of a template without their labels: ``at the bank#river`` → ``at the bank``."""
    return " ".join(re.split(r"[/#^]", word)[0] for word in text.split())
