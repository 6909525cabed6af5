"""A gap table in text, Markdown and HTML."""

import html as escaping
from collections.abc import Iterator

from lmcourse import table_forms
from lmcourse.evaluation.gap_numbers import GapNumbers
from lmcourse.evaluation.phenomena import AGREEMENT, ALL, CLASSES

GAP = "Gap: KL(exact ‖ model) at the positions of such tokens. ±: standard error (reviews)."
BESIDE = (
    "Loss − floor estimates it over all tokens; over some of them it also depends on how often the "
    "model expects such a token."
)
NUMBER = (
    "Agreement: of the verb's number alone (singular or plural, given an agreeing verb; a model "
    "that ignores number has a gap of log 2 = 0.693)."
)


def caption(table: GapNumbers) -> str:
    """Return the table's caption."""
    reviews = table.tokens.shape[1]
    return (
        f"Nats a token above BookWorld's floor ({table.kind}, {reviews:,} "
        f"review{'s' * (reviews != 1)})."
    )


def notes(table: GapNumbers) -> list[str]:
    """Return the notes that explain the table's numbers."""
    found = [GAP] if len(table.models) > 1 else [GAP, BESIDE]
    if not {*AGREEMENT}.isdisjoint(table.phenomena):
        found.append(NUMBER)
    for name in table.models:
        if table.saw_targets(name):
            found.append(
                f"{name} had access to its targets: its loss is too low for its own gap, and its "
                "numbers are meaningless."
            )
    return found


def group(phenomenon: str) -> str:
    """Return the title of a row's group; that of all tokens has none."""
    if phenomenon == ALL:
        return ""
    return "every token is one of" if phenomenon in CLASSES else "and may also be one of"


def header(table: GapNumbers) -> list[str]:
    """Return the columns: all numbers of a single model, or the gaps of several."""
    if len(table.models) == 1:
        return ["", "tokens", "floor", "loss", "loss − floor", "gap"]
    return ["", "tokens", "floor", *(f"gap: {name}" for name in table.models)]


def lines(table: GapNumbers) -> Iterator[list[str]]:
    """Yield the rows as text, with the title of each group before its first row."""
    last = ""
    for name in table.phenomena:
        if (part := group(name)) != last:
            yield [f"{part} …"]
        last = part
        cells = [name, f"{table.count(name):,}", str(table.floor(name))]
        if len(table.models) == 1:
            numbers = [table.loss(name), table.difference(name), table.gap(name)]
        else:
            numbers = [table.gap(name, model) for model in table.models]
        yield [*cells, *map(str, numbers)]


def text(table: GapNumbers) -> str:
    """Return the table for a terminal."""
    rows = table_forms.text(header(table), lines(table))
    return "\n".join([caption(table), rows, *notes(table)])


def markdown(table: GapNumbers) -> str:
    """Return the table in Markdown."""
    rows = table_forms.markdown(header(table), lines(table))
    return "\n".join([caption(table), "", rows, "", *notes(table)])


def html(table: GapNumbers) -> str:
    """Return the table in HTML."""
    rows = table_forms.html(caption(table), header(table), lines(table))
    return rows + "".join(f"<p>{escaping.escape(it)}</p>" for it in notes(table))
