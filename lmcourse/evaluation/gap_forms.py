"""A gap table in text, Markdown and HTML."""

import html as escaping
from collections.abc import Iterator

from lmcourse import table_forms
from lmcourse.evaluation.gap_tables import GapTable
from lmcourse.evaluation.phenomena import AGREEMENT, ALL, CLASSES

GAP = "Gap: KL(exact ‖ model) at the places where such a token stands. ±: standard error (reviews)."
BESIDE = (
    "Loss − floor estimates it over all tokens; over some of them it also counts how readily the "
    "model expects such a token."
)
NUMBER = (
    "Agreement: of the verb's number alone (singular or plural, given that a verb that agrees "
    "stands there; log 2 = 0.693 is the gap of a model that knows nothing of it)."
)


def caption(table: GapTable) -> str:
    """What the table is of: one sentence."""
    reviews = table.tokens.shape[1]
    return (
        f"Nats a token above BookWorld's floor ({table.kind}, {reviews:,} "
        f"review{'s' * (reviews != 1)})."
    )


def notes(table: GapTable) -> list[str]:
    """What is to be known of its numbers."""
    found = [GAP] if len(table.models) > 1 else [GAP, BESIDE]
    if not {*AGREEMENT}.isdisjoint(table.phenomena):
        found.append(NUMBER)
    for name in table.models:
        if table.saw_targets(name):
            found.append(
                f"{name} saw what it had to predict: its loss is too low for its own gap. Its "
                "numbers say nothing of what it knows."
            )
    return found


def group(phenomenon: str) -> str:
    """What a row is part of; the row of all tokens is part of nothing."""
    if phenomenon == ALL:
        return ""
    return "every token is one of" if phenomenon in CLASSES else "and may also be one of"


def header(table: GapTable) -> list[str]:
    """The columns: of one model all that is known, of several their gaps."""
    if len(table.models) == 1:
        return ["", "tokens", "floor", "loss", "loss − floor", "gap"]
    return ["", "tokens", "floor", *(f"gap: {name}" for name in table.models)]


def lines(table: GapTable) -> Iterator[list[str]]:
    """The rows, as text; where a group begins, its title."""
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


def text(table: GapTable) -> str:
    """For a terminal."""
    rows = table_forms.text(header(table), lines(table))
    return "\n".join([caption(table), rows, *notes(table)])


def markdown(table: GapTable) -> str:
    """For a page."""
    rows = table_forms.markdown(header(table), lines(table))
    return "\n".join([caption(table), "", rows, "", *notes(table)])


def html(table: GapTable) -> str:
    """For a notebook."""
    rows = table_forms.html(caption(table), header(table), lines(table))
    return rows + "".join(f"<p>{escaping.escape(it)}</p>" for it in notes(table))
