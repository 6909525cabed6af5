"""Tables in Markdown, read by a parser."""

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from lmcourse import markdown


def read(text: str) -> list[list[tuple[str, str | None]]]:
    """Each cell's text and its style, by row."""
    page = BeautifulSoup(MarkdownIt().enable("table").render(text), "html.parser")
    return [
        [(str(cell.string or ""), cell.get("style")) for cell in row.find_all(["th", "td"])]
        for row in page.find_all("tr")
    ]


RIGHT = "text-align:right"


def test_a_parser_reads_what_was_written() -> None:
    found = read(markdown.table(["of", "gap", "what"], [["KL(p | q)", "", "b"]], words=(0, 2)))
    assert found == [
        [("of", None), ("gap", RIGHT), ("what", None)],
        [("KL(p | q)", None), ("", RIGHT), ("b", None)],
    ]


def test_all_columns_but_the_first_have_numbers() -> None:
    (header,) = read(markdown.table(["a", "b", "c"], []))
    assert [style for _, style in header] == [None, RIGHT, RIGHT]
