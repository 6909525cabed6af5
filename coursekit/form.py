"""What a source owes its reader: the rules of form in CONTRIBUTING.md, checked on the text.

A breach names the file, the line, what is there and what to do. `make test ONLY=NN` and
`lmcourse new` show them.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from coursekit.reading import reading

if TYPE_CHECKING:
    from nbformat import NotebookNode

COLUMNS = 100
DIAGRAMS = 4  # cells of a chapter that draw one, at least
QUESTIONS = 3
CONTRACTS = 8
SLIDES = 10  # marked cells
VISIBLE_LINES = 25  # of a cell that is not folded away
ALTERNATIVE, CAPTION = 12, 4  # words
MINUTES, LONGEST = range(30, 121), 75  # of a page, of a chapter
TOLERANCE = 10  # minutes between what a page states and the estimate
SECTIONS = ("What it shows", "How to read it", "Keys", "In Python")
WORDS = range(250, 901)  # of a widget's page
KEYS = 5  # rows of the table of keys
_FOLDED = {"hide-input", "solution", "check"}
_VOICE = re.compile(r"\b(simply|obviously|trivially|colour|behaviour|modell\w+)\b")


@dataclass(frozen=True)
class Breach:
    """A rule that a source does not keep."""

    source: course.Source
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        folder = course.FOLDERS[self.source.kind]
        return f"{folder}/{self.source.path.name}:{self.line}: {self.what} {self.remedy}"


def breaches(source: course.Source) -> list[Breach]:
    """Return everything in a source that does not have the form, in the order of its lines."""
    page = _Page(source)
    rules: list[Callable[[_Page], Iterator[Breach]]] = [_front_matter, _code, _figures, _voice]
    if source.number:
        rules.append(_numbers)
    if source.kind == "chapter":
        rules += [_equations, _counts]
    if source.kind == "widget":
        rules.append(_widget)
    return sorted((it for rule in rules for it in rule(page)), key=lambda it: it.line)


class _Page:
    """A source: its cells, and where they are in its file."""

    def __init__(self, source: course.Source) -> None:
        self.source = source
        self.text = course.read_text(source.path)
        self.cells: list[NotebookNode] = read_notebook(source.path).cells
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.prose = "\n\n".join(it.source for it in self.cells if it.cell_type == "markdown")

    def breach(self, near: str, what: str, remedy: str) -> Breach:
        """Return a breach at the first line that contains a text; else at the first line."""
        at = self.text.find(near) if near else -1
        return Breach(self.source, self.text.count("\n", 0, max(at, 0)) + 1, what, remedy)


def calls(cell: "NotebookNode", *names: str) -> list[ast.Call]:
    """Return the calls of a cell whose function is written as one of the names."""
    tree = ast.parse(re.sub(r"^%.*$", "pass", cell.source, flags=re.MULTILINE))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in found if ast.unparse(node.func) in names]


def option(call: ast.Call, keyword: str, position: int) -> str:
    """Return the source of an argument; "" if it is not passed. A number is by keyword only."""
    named = [ast.unparse(each.value) for each in call.keywords if each.arg == keyword]
    placed = [ast.unparse(each) for each in call.args[position : position + 1]]
    return "".join([*named, *placed])


def _front_matter(page: _Page) -> Iterator[Breach]:
    source, estimate = page.source, reading(page.source).minutes
    stated = source.minutes or 0
    longest = LONGEST if source.kind == "chapter" else max(MINUTES[-1], estimate)
    if source.kind == "widget":
        if source.minutes is not None:
            yield page.breach("minutes:", "A widget's page states no minutes.", "Drop the line.")
    elif not MINUTES[0] <= stated <= longest or abs(stated - estimate) > TOLERANCE:
        yield page.breach(
            "minutes:",
            f"The front matter states {source.minutes} minutes; the estimate is {estimate}.",
            f"State {MINUTES[0]} to {longest}, within {TOLERANCE} of the estimate "
            "(`python -m coursekit.reading`).",
        )
    if source.kind != "lab" and not (source.question or "").endswith("?"):
        yield page.breach(
            "question:",
            "The front matter has no question.",
            "Write `question:` with one sentence that ends in a question mark.",
        )


def _code(page: _Page) -> Iterator[Breach]:
    for cell in page.code:
        lines = cell.source.splitlines()
        for line in (line for line in lines if len(line) > COLUMNS):
            yield page.breach(
                line,
                f"A line of code has {len(line)} columns.",
                f"Divide it: {COLUMNS} fit a page.",
            )
        folded = _FOLDED & set(cell.metadata.get("tags", []))
        if len(lines) > VISIBLE_LINES and not folded and page.source.kind != "lab":
            yield page.breach(
                lines[0],
                f"A visible cell has {len(lines)} lines.",
                f"Divide it, or fold it with the tag hide-input: at most {VISIBLE_LINES} are read.",
            )


def _figures(page: _Page) -> Iterator[Breach]:
    for cell in page.code:
        first = cell.source.splitlines()[0] if cell.source else ""
        shown = calls(cell, "show.figure")
        if len(shown) < len(calls(cell, "plt.subplots", "plt.figure")) or calls(cell, "plt.show"):
            yield page.breach(
                first,
                "A cell makes a figure and does not show it with its words.",
                "Show it with show.figure(figure, alternative text, caption, number=…).",
            )
        for call in shown:
            alternative = option(call, "alt", 1)
            if len(alternative.split()) < ALTERNATIVE:
                yield page.breach(
                    first,
                    f"The alternative text {alternative[:40]} has fewer than {ALTERNATIVE} words.",
                    "Describe what is to be seen.",
                )


def _numbers(page: _Page) -> Iterator[Breach]:
    shown = [call for cell in page.code for call in calls(cell, "show.figure")]
    for expected, call in enumerate(shown, start=1):
        number, caption = option(call, "number", 3), option(call, "caption", 2)
        near = ast.unparse(call.args[0]) if call.args else ""
        if number != str(expected):
            yield page.breach(
                f"number={number}" if number else near,
                f"Figure {expected} of the page has the number {number or 'none'}.",
                f"Number figures from 1 in order: number={expected}.",
            )
        if len(caption.split()) < CAPTION:
            yield page.breach(
                near,
                f"The caption of figure {expected} has fewer than {CAPTION} words.",
                "Say what to conclude from it.",
            )


def _equations(page: _Page) -> Iterator[Breach]:
    labels = re.findall(r"^\$\$ \((eq-[\w-]+)\)$", page.prose, re.MULTILINE)
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        yield page.breach(
            f"$$ ({label})", f"The label {label} is there twice.", "Rename one of the two."
        )
    for label in sorted(set(re.findall(r"\{eq\}`([\w-]+)`", page.prose)) - set(labels)):
        yield page.breach(
            f"{{eq}}`{label}`",
            f"The equation {label} is referred to, and is not there.",
            f"Label it: `$$ ({label})` after its last line.",
        )


def _counts(page: _Page) -> Iterator[Breach]:
    text, cells = page.prose, page.code
    asked, answered = (text.count(f"{{{it}") for it in ("admonition} Question", "dropdown} Answer"))
    contracts = sum(len(calls(cell, "expect")) for cell in cells)
    listings = sum(len(calls(cell, "show.source")) for cell in cells)
    drawn = sum(bool(calls(cell, "Diagram", "Anatomy")) for cell in cells)
    slides = sum("slideshow" in cell.metadata for cell in page.cells)
    for found, least, what, remedy in (
        (drawn, DIAGRAMS, "cells with a diagram", "Draw each mechanism before its equation."),
        (
            asked,
            QUESTIONS,
            "questions",
            "Ask the reader with `:::{admonition} Question` and a `:::{dropdown} Answer`.",
        ),
        (
            contracts,
            CONTRACTS,
            "contracts",
            "End a cell that computes a number with expect(name, value, …).",
        ),
        (listings, 1, "listing of the package's code", "Show it with show.source(…)."),
        (slides, SLIDES, "cells marked for slides", "Mark them with `slideshow`."),
        (text.count("## Takeaways"), 1, "section Takeaways", "Write it near the end."),
        (text.count("## Further reading"), 1, "section Further reading", "Write it at the end."),
    ):
        if found < least:
            has = f"{found} of at least {least}" if least > 1 else "no"
            yield page.breach("", f"The chapter has {has} {what}.", remedy)
    if asked != answered:
        yield page.breach(
            "{admonition} Question",
            f"There are {asked} questions and {answered} answers.",
            "Fold an answer below each question.",
        )


def _widget(page: _Page) -> Iterator[Breach]:
    sections = tuple(re.findall(r"^## (.+)$", page.prose, re.MULTILINE)[: len(SECTIONS)])
    if sections != SECTIONS:
        yield page.breach(
            "## ", f"The first sections are {sections}.", f"Name them {', '.join(SECTIONS)}."
        )
        return
    words = len(re.findall(r"\w+", page.prose))
    keys = page.prose[page.prose.index("## Keys") : page.prose.index("## In Python")]
    for fault, near, what, remedy in (
        (not 2 <= len(page.code) <= 5, "", f"There are {len(page.code)} cells.", "Keep 2 to 5."),
        (
            words not in WORDS,
            "",
            f"The page has {words} words.",
            f"Keep {WORDS[0]} to {WORDS[-1]}.",
        ),
        (
            len(re.findall(r"^\|.+\|.+\|$", keys, re.MULTILINE)) < KEYS,
            "## Keys",
            "The table of keys is short or missing.",
            f"Give each key or pointer a row; {KEYS} at least.",
        ),
    ):
        if fault:
            yield page.breach(near, what, remedy)


def _voice(page: _Page) -> Iterator[Breach]:
    for word in _VOICE.findall(page.prose):
        yield page.breach(word, f"The text says {word!r}.", "See CONTRIBUTING.md, plain English.")


def report(sources: Sequence[course.Source]) -> str:
    """Return the breaches of some sources, a line each; "" if there are none."""
    return "\n".join(str(it) for source in sources for it in breaches(source))
