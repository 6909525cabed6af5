"""Tables in Markdown, for the pages that commands write."""

from collections.abc import Collection, Iterable, Sequence


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[int] = (0,)
) -> str:
    """A table, without a line's end behind it.

    Args:
        header, rows: cells, which may hold Markdown.
        words: the columns of words, by number; all others hold numbers, and end at the right.
    """
    rule = ["---" if at in words else "---:" for at in range(len(header))]
    return "\n".join(map(line, (header, rule, *rows)))


def line(cells: Sequence[str]) -> str:
    """One line of a table. A bar in a cell does not end it."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
