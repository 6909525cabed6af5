"""A gap table in text, Markdown and HTML."""

import html as escaping
from collections.abc import Iterator

from lmcourse.evaluation.gap_tables import GapTable
from lmcourse.evaluation.phenomena import AGREEMENT, ALL, CLASSES
from lmcourse.markdown import table as markdown_table

GAP = "Gap: KL(exact ‖ model) at the places where such a token stands. ±: standard error (reviews)."
BESIDE = (
    "Loss − floor estimates it over all tokens; over some of them it also counts how readily the "
    "model expects such a token."
)
NUMBER = (
    "Agreement: of the verb's number alone (singular or plural, given that a verb that agrees "
    "stands there; log 2 = 0.693 is the gap of a model that knows nothing of it)."
)
Line = tuple[str, list[str]]  # the group that a row is in, and its cells


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


def lines(table: GapTable) -> Iterator[Line]:
    """The rows, as text."""
    for name in table.phenomena:
        cells = [name, f"{table.count(name):,}", str(table.floor(name))]
        if len(table.models) == 1:
            numbers = [table.loss(name), table.difference(name), table.gap(name)]
        else:
            numbers = [table.gap(name, model) for model in table.models]
        yield group(name), [*cells, *map(str, numbers)]


def text(table: GapTable) -> str:
    """For a terminal."""
    rows = list(lines(table))
    columns = zip(header(table), *(cells for _, cells in rows), strict=True)
    widths = [max(map(len, column)) + 2 for column in columns]
    out, last = [caption(table), _aligned(header(table), widths)], ""
    for part, cells in rows:
        if part != last:
            out.append(f"{part} …")
        out.append(_aligned(cells, widths))
        last = part
    return "\n".join([*out, *notes(table)])


def _aligned(cells: list[str], widths: list[int]) -> str:
    first, *others = cells
    numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
    return f"{first:<{widths[0]}}{''.join(numbers)}".rstrip()


def markdown(table: GapTable) -> str:
    """For a page."""
    rows = markdown_table(header(table), (cells for _, cells in lines(table)))
    return "\n".join([caption(table), "", rows, "", *notes(table)])


def html(table: GapTable) -> str:
    """For a notebook."""
    heads = "".join(f'<th scope="col">{escaping.escape(it)}</th>' for it in header(table))
    body, last = [], ""
    for part, (name, *numbers) in lines(table):
        if part != last:
            body.append(
                f'<tr><th scope="rowgroup" colspan="{len(numbers) + 1}" style="text-align:left;'
                f'font-weight:normal;font-style:italic">{part} …</th></tr>'
            )
        cells = "".join(f'<td style="text-align:right">{it}</td>' for it in numbers)
        body.append(f'<tr><th scope="row" style="text-align:left">{name}</th>{cells}</tr>')
        last = part
    below = "".join(f"<p>{escaping.escape(it)}</p>" for it in notes(table))
    return (
        f'<table><caption style="text-align:left">{escaping.escape(caption(table))}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>{below}"
    )
