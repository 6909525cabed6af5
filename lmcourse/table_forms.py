"""Tables as text, Markdown and HTML: the first cell of a row is a name, the others are numbers.

A row with one cell is a heading of the rows below it.
"""

import html as escaping
from collections.abc import Collection, Iterable, Sequence

Row = Sequence[str]


def text(header: Row, rows: Iterable[Row]) -> str:
    """Return a table for a terminal."""
    rows = [header, *rows]
    full = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]

    def line(row: Row) -> str:
        name, *numbers = row
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=False)]
        return "  ".join([name.ljust(widths[0]), *cells]).rstrip()

    return "\n".join(map(line, rows))


def markdown(header: Row, rows: Iterable[Row], words: Collection[int] = (0,)) -> str:
    """Return a table in Markdown, without headings of rows.

    Args:
        header, rows: cells, which may contain Markdown.
        words: the indices of text columns; all others are right-aligned numbers.
    """
    rule = ["---" if at in words else "---:" for at in range(len(header))]
    return "\n".join(markdown_line(row) for row in (header, rule, *rows) if len(row) > 1)


def markdown_line(cells: Row) -> str:
    """Return one line of a table in Markdown, with escaped bars."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def html(caption: str, header: Row, rows: Iterable[Row]) -> str:
    """Return a table for a notebook.

    It has the caption of a figure: a narrow page would cut off a caption of the table.
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
    number = "text-align:right;white-space:nowrap"  # no break between a mean and its spread
    cells = "".join(f'<td style="{number}">{it}</td>' for it in numbers)
    return f'<th scope="row" style="text-align:left">{name}</th>{cells}'
