"""Tables in text, Markdown and HTML: of a row the first cell is a name, the others are numbers.

A row of one cell is a title over the rows below it.
"""

import html as escaping
from collections.abc import Collection, Iterable, Sequence

Row = Sequence[str]


def text(header: Row, rows: Iterable[Row]) -> str:
    """For a terminal."""
    rows = [header, *rows]
    whole = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]

    def line(row: Row) -> str:
        name, *numbers = row
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=False)]
        return "  ".join([name.ljust(widths[0]), *cells]).rstrip()

    return "\n".join(map(line, rows))


def markdown(header: Row, rows: Iterable[Row], words: Collection[int] = (0,)) -> str:
    """For a page. Titles are left out, which Markdown's tables do not have.

    Args:
        header, rows: cells, which may hold Markdown.
        words: the columns of words, by number; all others hold numbers, and end at the right.
    """
    rule = ["---" if at in words else "---:" for at in range(len(header))]
    return "\n".join(markdown_line(row) for row in (header, rule, *rows) if len(row) > 1)


def markdown_line(cells: Row) -> str:
    """One line of a table in Markdown. A bar in a cell does not end it."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def html(caption: str, header: Row, rows: Iterable[Row]) -> str:
    """For a notebook.

    The caption is a figure's: of one in the table, a narrow page would show half.
    """
    name, *columns = map(escaping.escape, header)
    heads = f'<th scope="col" style="text-align:left">{name}</th>' if name else "<td></td>"
    label = "text-align:right;vertical-align:bottom"
    heads += "".join(f'<th scope="col" style="{label}">{it}</th>' for it in columns)
    body = "".join(f"<tr>{_cells(row, len(header))}</tr>" for row in rows)
    return (
        f'<figure style="margin:0"><figcaption>{escaping.escape(caption)}</figcaption>'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></figure>"
    )


def _cells(row: Row, columns: int) -> str:
    name, *numbers = map(escaping.escape, row)
    if not numbers:
        style = "text-align:left;font-weight:normal;font-style:italic"
        return f'<th scope="rowgroup" colspan="{columns}" style="{style}">{name}</th>'
    number = "text-align:right;white-space:nowrap"  # one line for a mean and its spread
    cells = "".join(f'<td style="{number}">{it}</td>' for it in numbers)
    return f'<th scope="row" style="text-align:left">{name}</th>{cells}'
