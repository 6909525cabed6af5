"""Tables in their forms: Markdown and HTML as a parser reads them, text as it stands."""

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from lmcourse import table_forms

RIGHT = "text-align:right"
HEADER, ROWS = ["of", "gap"], [["KL(p | q) < 1", "2"], ["those below …"], ["b", "10.5 ± 1"]]


def read(page: str) -> list[list[tuple[str, str | None]]]:
    """Each cell's text and its style, by row."""
    return [
        [(str(cell.string or ""), cell.get("style")) for cell in row.find_all(["th", "td"])]
        for row in BeautifulSoup(page, "html.parser").find_all("tr")
    ]


def in_markdown(text: str) -> list[list[tuple[str, str | None]]]:
    return read(MarkdownIt().enable("table").render(text))


def test_markdown_says_what_it_was_given() -> None:
    assert in_markdown(table_forms.markdown(HEADER, ROWS)) == [
        [("of", None), ("gap", RIGHT)],
        [("KL(p | q) < 1", None), ("2", RIGHT)],
        [("b", None), ("10.5 ± 1", RIGHT)],
    ]


def test_columns_of_words_begin_at_the_left() -> None:
    (header,) = in_markdown(table_forms.markdown(["a", "b", "c"], [], words=(0, 2)))
    assert [style for _, style in header] == [None, RIGHT, None]


def test_html_says_what_it_was_given() -> None:
    page = table_forms.html("Of < this", HEADER, ROWS)
    found = [[text for text, _ in row] for row in read(page)]
    assert found == [HEADER, *ROWS]
    assert "<figcaption>Of &lt; this</figcaption>" in page
    assert 'scope="rowgroup" colspan="2"' in page


def test_heads_and_numbers_of_html_end_at_the_same_side() -> None:
    for name, *numbers in read(table_forms.html("", ["", *HEADER], [["a", "b", "c"]])):
        assert name[1] is None or "left" in name[1]
        assert all(style is not None and RIGHT in style for _, style in numbers)


def test_a_terminal_has_columns() -> None:
    assert table_forms.text(HEADER, ROWS).split("\n") == [
        "of                  gap",
        "KL(p | q) < 1         2",
        "those below …",
        "b              10.5 ± 1",
    ]
