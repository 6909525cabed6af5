"""The course's terms: where each is defined, the links to them, and the page that lists them.

A chapter defines a term in a sentence that has it in bold: ``The **attention weight** of …``. Every
other text refers to it as ``{term}`attention weight` `` or ``{term}`weights <attention weight>` ``.
The book resolves these roles itself; a laid-out notebook carries links instead.

Bold text that defines nothing is a label, and labels have a form: they end in punctuation, are
followed by a colon, begin a list item with a capital letter, are inside a table or a heading, hold
code, mathematics or a link, or are among `LABELS`.
"""

import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from coursekit import course
from coursekit.notebooks.prose import SYMBOL, masked, replace_roles, sentence_ends
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

PAGE = "glossary"  # its name, without a suffix
TITLE = "Glossary"
QUESTION = "What does a term mean, and which chapter defines it?"
_MARKS = "-▁[#"  # before a name that is sorted by what follows
LABELS = frozenset({"You need", "It takes"})
_BOLD = re.compile(r"\*\*(?=\S)(?P<words>[^*\n]+?)(?<=\S)\*\*")
_BLOCK = re.compile(
    r"^[ \t]*(?:[-*+]|\d+\.)[ ]+|^[ \t>]+", re.MULTILINE
)  # a list item, a quotation
_SKIPPED = re.compile(r"[ \t]*(?:\||:::|\+\+\+|#|\(\S+\)=)")
_CHAPTER = re.compile(r"(?:chapter|lab)s? \d\d", re.IGNORECASE)
_LABEL = re.compile(r"^\*\*[^*]+[.:?!]\*\*\s+")  # before the sentence
_EQUATION = re.compile(r"\s*\$\$(?P<tex>.+?)\$\$", re.DOTALL)  # after it
_ROLE = re.compile(r"(?P<shown>.+?)\s*<(?P<name>[^<>]+)>", re.DOTALL)


@dataclass(frozen=True)
class Definition:
    """A term in bold, and the sentence that defines it."""

    name: str  # as the sentence has it
    sentence: str  # MyST Markdown
    section: str | None  # the heading above, if this text has one
    start: int  # where the term begins and ends, its asterisks included
    end: int


@dataclass(frozen=True)
class Term:
    """A term of the course."""

    name: str
    sentence: str
    source: course.Source
    section: str  # the heading under which it is defined

    @property
    def entry(self) -> str:
        """Return the name as a glossary lists it: with a capital letter."""
        return self.name[0].upper() + self.name[1:]

    @property
    def anchor(self) -> str:
        """Return the label of the definition in the book."""
        return "definition-" + re.sub(r"[^a-z0-9]+", "-", key_of(self.name)).strip("-")

    @property
    def place(self) -> str:
        """Name the defining file and section, for messages."""
        return f"{course.FOLDERS[self.source.kind]}/{self.source.path.name} (“{self.section}”)"


Terms = Mapping[str, Term]  # by `key_of` their names


def key_of(name: str) -> str:
    """Return the form of a name by which terms are compared: that of mystmd."""
    return " ".join(re.sub(r"['‘’\"“”]+", "", name).split()).lower()


def definitions(text: str) -> Iterator[Definition]:
    """Yield the terms that a Markdown text defines, in order."""
    prose = masked(text)
    section = None
    for start, end in _paragraphs(prose):
        if prose[start] == "#":
            section = text[start:end].lstrip("#").strip()
            continue
        begin = start
        for length in sentence_ends(prose[start:end]):
            asks = prose[begin : start + length].rstrip().endswith("?")
            for found in _BOLD.finditer(prose, begin, start + length) if not asks else ():
                if not _is_label(found, at_start=_begins_item(prose, found.start(), start)):
                    sentence = _sentence(text[begin : start + length], text[start + length :])
                    yield Definition(found["words"], sentence, section, *found.span())
            begin = start + length


def _sentence(text: str, after: str) -> str:
    """Return a sentence without a label before it, and with the equation that completes it."""
    sentence = _LABEL.sub("", " ".join(text.split()))
    equation = _EQUATION.match(after)
    if equation and sentence[-1] not in ".?!)":
        return f"{sentence}\n\n$$\n{equation['tex'].strip()}\n$$"
    return re.sub(r":$", ".", sentence)


def _paragraphs(prose: str) -> Iterator[tuple[int, int]]:
    """Yield where headings, paragraphs and list items begin and end."""
    begin: int | None = None
    position = 0
    for line in [*prose.splitlines(keepends=True), ""]:
        item = _BLOCK.match(line)
        ends = not line.strip() or bool(_SKIPPED.match(line)) or bool(item)
        if ends and begin is not None:
            yield begin, position
            begin = None
        if line.startswith("#"):
            yield position, position + len(line)
        elif line.strip() and not _SKIPPED.match(line) and begin is None:
            begin = position + (item.end() if item else 0)
        position += len(line)


def _begins_item(prose: str, position: int, paragraph: int) -> bool:
    """Say whether a list item begins at a position."""
    line = prose.rfind("\n", 0, paragraph) + 1
    return position == paragraph and prose[line:paragraph].strip() not in ("", ">")


def _is_label(found: re.Match[str], at_start: bool) -> bool:
    words = found["words"]
    return (
        words in LABELS
        or words[-1] in ".:?!,"
        or found.string[found.end() : found.end() + 1] == ":"
        or (at_start and words[0].isupper())
        or any(mark in words for mark in f"{SYMBOL}[](")
        or bool(_CHAPTER.fullmatch(words))
    )


def terms_of(notebooks: Mapping[course.Source, "NotebookNode"]) -> dict[str, Term]:
    """Return the terms that the chapters among some notebooks define.

    Raises:
        CourseError: one is defined twice.
    """
    found: dict[str, Term] = {}
    for source, notebook in notebooks.items():
        if source.kind != "chapter":
            continue
        section = source.title
        for cell in notebook.cells:
            if cell.cell_type != "markdown":
                continue
            for each in definitions(cell.source):
                name = each.section or section
                term = Term(each.name, each.sentence, source, name)
                twin = found.setdefault(key_of(each.name), term)
                if twin is not term:
                    raise CourseError(
                        f"The term “{term.name}” is defined twice: in {twin.place} and in "
                        f"{term.place}.",
                        f"Keep one in bold, and write {{term}}`{term.name}` in the other.",
                    )
            section = ([section, *_headings(cell.source)])[-1]
    return found


def _headings(text: str) -> Iterator[str]:
    for start, end in _paragraphs(masked(text)):
        if text[start] == "#":
            yield text[start:end].lstrip("#").strip()


def find(content: str, terms: Terms, name: str) -> tuple[str, Term]:
    """Return what a ``{term}`` role shows, and its term.

    Args:
        content: of the role: ``queries <query>``.
        name: of the text that holds it, for the error.

    Raises:
        CourseError: no chapter defines it.
    """
    match = _ROLE.fullmatch(content)
    shown, named = (match["shown"], match["name"]) if match else (content, content)
    term = terms.get(key_of(named))
    if term is None:
        raise CourseError(
            f"{name} refers to the term “{named}”, which no chapter defines.",
            "Correct its name, or define it: in bold, within a sentence of a chapter.",
        )
    return shown, term


def write_out(text: str, terms: Terms, folder: str, name: str) -> str:
    """Replace the ``{term}`` roles of a cell by links to the sections that define them.

    Args:
        folder: of the notebook, relative to the workbook.

    Raises:
        CourseError: a term is not defined.
    """

    def written(content: str) -> str:
        shown, term = find(content, terms, name)
        return f"[{shown}]({_notebook(term, folder)})"

    return replace_roles(text, "term", written)


def _notebook(term: Term, folder: str) -> str:
    """Return the address of a definition's section from a folder of the workbook.

    JupyterLab finds a heading in a notebook that is open, and shows any other from its beginning.
    (It finds a cell by its id as well, and then opens that cell for editing.)
    """
    own = course.FOLDERS[term.source.kind]
    base = "" if folder == own else f"{'../' if folder else ''}{own}/"
    heading = quote(term.section.replace(" ", "-"), safe="?!,;:'&=@/")
    plain = not re.search(r"[`$*_{]", term.section)
    return f"{base}{term.source.slug}.ipynb" + (f"#heading={heading}" if plain else "")


def with_anchors(text: str, terms: Terms) -> str:
    """Make each definition in a page's text a target of the book's links."""
    out, position = [], 0
    for each in definitions(text):
        anchor = terms[key_of(each.name)].anchor
        role = f"**{{span #{anchor}}}`{each.name}`**"
        out += [text[position : each.start], role]
        position = each.end
    return "".join([*out, text[position:]])


def listed(terms: Terms) -> list[Term]:
    """Return the terms in the alphabet's order."""
    return [terms[key] for key in sorted(terms, key=lambda key: (key.strip(_MARKS), key))]


def _letter(term: Term) -> str:
    return key_of(term.name).strip(_MARKS)[0].upper()


def page(terms: Terms) -> str:
    """Write the book's glossary in MyST, for the first folder of the book."""
    lines = [_HEAD]
    for letter, group in itertools.groupby(listed(terms), _letter):
        lines += [f"## {letter}", "", ":::{glossary}"]
        for term in group:
            parts = [*_from_root(term).split("\n\n"), f"[{_where(term)}](#{term.anchor})"]
            body = textwrap.indent("\n\n".join(parts), "  ").lstrip()
            lines.append(f"{term.entry}\n: {body}\n")
        lines += [":::", ""]
    return "\n".join(lines)


def notebook_page(terms: Terms) -> str:
    """Write the workbook's glossary in Markdown, for a notebook in its first folder.

    Roles and links are as in the sources.
    """
    entries = []
    for term in listed(terms):
        # JupyterLab numbers each displayed equation, and only the chapter's number is right.
        sentence = replace_roles(_from_root(term), "eq", lambda _: "the equation")
        sentence = re.sub(r"\$\$\n(.+?)\n\$\$", r"$\\displaystyle \1$", sentence, flags=re.DOTALL)
        entries.append(f"**{term.entry}**\\\n{sentence}\n\n[{_where(term)}]({_notebook(term, '')})")
    return "\n\n".join([f"# {TITLE}", _LEDE, *entries])


_LEDE = "Each term with the sentence that defines it, and a link to the section it is from."
# The equations have their numbers in the chapters, and the page has no source to offer.
_HEAD = f"""\
---
title: {TITLE}
description: {QUESTION}
numbering: {{equation: false}}
downloads: []
---

# {TITLE}

{_LEDE}
"""


def _from_root(term: Term) -> str:
    """Return the defining sentence with its links relative to the checkout's root."""
    folder = course.FOLDERS[term.source.kind]
    sentence = re.sub(r"\]\((?=[\w.-]+\.md\b)", f"]({folder}/", term.sentence)
    return re.sub(r"\]\(\.\./", "](", sentence)


def _where(term: Term) -> str:
    return f"{term.source.label}: {term.section}"
