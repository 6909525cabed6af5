"""The rules of a page: front matter, code, figures, counts, sections."""

import ast
import re
from collections.abc import Iterator

from coursekit.form.page import Breach, Page
from coursekit.reading import DEEPER, FOLDED, divided
from coursekit.syntax import calls, option

COLUMNS = 100
DIAGRAMS = 4  # cells of a chapter that draw one, at least
QUESTIONS = 3
MEASURED = range(3, 16)  # checks of a chapter
PREDICTS = 6  # of a core, at most
SLIDES = 10  # marked cells
VISIBLE_LINES = 15  # of a cell that is not folded away
ALTERNATIVE, CAPTION = 12, 4  # words
MINUTES, LONGEST = range(30, 121), 75  # of a lab, of a chapter's core
# Exceptions, to be shortened: the most that the core of a chapter may take now.
LONG_CORES: dict[str, int] = {
    "03": 85,
    "11": 80,
    "17": 80,
}
SECTIONS = ("What it shows", "How to read it", "Keys", "In Python")
WORDS = range(250, 901)  # of a widget's page
KEYS = 5  # rows of the table of keys
_VOICE = re.compile(r"\b(simply|obviously|trivially|colour|behaviour|modell\w+)\b")


def front_matter(page: Page) -> Iterator[Breach]:
    source, estimate = page.source, page.reading.minutes
    stated = source.minutes or 0
    longest = max(MINUTES[-1], estimate)  # of a lab, 120 minutes are advice
    if source.kind == "chapter":
        longest = LONG_CORES.get(source.number, LONGEST)
    if source.kind == "widget":
        if source.minutes is not None:
            yield page.breach("minutes:", "A widget's page states no minutes.", "Drop the line.")
    elif not MINUTES[0] <= stated <= longest or stated != estimate:
        yield page.breach(
            "minutes:",
            f"The front matter states {source.minutes} minutes; the estimate is {estimate}.",
            f"State the estimate, {MINUTES[0]} to {longest} (`python -m coursekit.reading`); move "
            f"what is optional below `## {DEEPER}`.",
        )
    if source.kind == "chapter" and (source.deeper or 0) != page.reading.deeper:
        yield page.breach(
            "deeper:",
            f"The front matter states deeper: {source.deeper}; the optional sections state "
            f"{page.reading.deeper} minutes.",
            "State their sum, or no `deeper:` if there are none.",
        )
    said = f"**It takes** about {source.minutes} minutes"
    more = f"*Going deeper* takes {source.deeper} more" if source.deeper else ""
    if source.kind == "chapter" and not (said in page.prose and more in page.prose):
        yield page.breach(
            "**It takes**",
            "The text does not say how long the chapter takes.",
            f"Write, near the beginning: {said}{more and f'; {more}'}.",
        )
    if source.kind != "lab" and not (source.question or "").endswith("?"):
        yield page.breach(
            "question:",
            "The front matter has no question.",
            "Write `question:` with one sentence that ends in a question mark.",
        )


def code(page: Page) -> Iterator[Breach]:
    for cell in page.code:
        lines = cell.source.splitlines()
        for line in (line for line in lines if len(line) > COLUMNS):
            yield page.breach(
                line,
                f"A line of code has {len(line)} columns.",
                f"Divide it: {COLUMNS} fit a page.",
            )
        folded = FOLDED & set(cell.metadata.get("tags", []))
        if len(lines) > VISIBLE_LINES and not folded and page.source.kind != "lab":
            yield page.breach(
                lines[0],
                f"A visible cell has {len(lines)} lines.",
                f"Divide it, or fold it with the tag hide-input: at most {VISIBLE_LINES} are read.",
            )


def figures(page: Page) -> Iterator[Breach]:
    for cell in page.code:
        first = cell.source.splitlines()[0] if cell.source else ""
        shown = calls(cell.source, "show.figure")
        if len(shown) < len(calls(cell.source, "plt.subplots", "plt.figure")) or calls(
            cell.source, "plt.show"
        ):
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


def numbers(page: Page) -> Iterator[Breach]:
    shown = [call for cell in page.code for call in calls(cell.source, "show.figure")]
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


def equations(page: Page) -> Iterator[Breach]:
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


def counts(page: Page) -> Iterator[Breach]:
    text, cells = page.prose, page.code
    asked, answered = (text.count(f"{{{it}") for it in ("admonition} Question", "dropdown} Answer"))
    measured = sum(len(calls(cell.source, "expect")) for cell in cells)
    listings = sum(len(calls(cell.source, "show.source")) for cell in cells)
    drawn = sum(bool(calls(cell.source, "Diagram", "Anatomy")) for cell in cells)
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
            measured,
            MEASURED[0],
            "measured checks",
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
    for found, most, what, remedy in (
        (measured, MEASURED[-1], "measured checks", "Keep those of the claims; print the others."),
        (page.reading.core.predicts, PREDICTS, "Predicts in its core", "Keep those that decide."),
    ):
        if found > most:
            yield page.breach("", f"The chapter has {found} {what}; {most} are read.", remedy)
    if asked != answered:
        yield page.breach(
            "{admonition} Question",
            f"There are {asked} questions and {answered} answers.",
            "Fold an answer below each question.",
        )


def deeper(page: Page) -> Iterator[Breach]:
    for section in page.reading.sections:
        estimate = section.reading.minutes
        if section.stated != estimate:
            yield page.breach(
                f"### {section.title}",
                f"The optional section {section.title!r} states {section.stated} minutes; the "
                f"estimate is {estimate}.",
                "State them below its heading, in a line of their own: *10 minutes*.",
            )
    for title, cells in divided(page.cells)[1]:
        if any("slideshow" in cell.metadata for cell in cells):
            yield page.breach(
                f"### {title}",
                f"The optional section {title!r} is on slides.",
                "Remove its `slideshow` marks: the deck is the core.",
            )


def widget(page: Page) -> Iterator[Breach]:
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


def voice(page: Page) -> Iterator[Breach]:
    for word in _VOICE.findall(page.prose):
        yield page.breach(word, f"The text says {word!r}.", "See CONTRIBUTING.md, plain English.")
