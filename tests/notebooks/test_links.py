"""Links between pages: written to sources, led to notebooks."""

import pytest

from coursekit.notebooks.links import lead_to_notebooks, links_of, source_of
from lmcourse.errors import CourseError

PAGES = {"chapters/08-attention.md", "labs/08-lab-attention.md", "glossary.md"}


@pytest.mark.parametrize(
    ("folder", "text", "led"),
    [
        ("labs", "[08](../chapters/08-attention.md).", "[08](../chapters/08-attention.ipynb)."),
        ("chapters", "[a](08-attention.md#eq-x)", "[a](08-attention.ipynb#eq-x)"),
        ("", "[a](chapters/08-attention.md) [b](glossary.md)",
         "[a](chapters/08-attention.ipynb) [b](glossary.ipynb)"),
        ("chapters", "[`A`](08-attention.md) and [b [c]](08-attention.md)",
         "[`A`](08-attention.ipynb) and [b [c]](08-attention.ipynb)"),
        ("", ":link: chapters/08-attention.md", ":link: chapters/08-attention.ipynb"),
        ("chapters", "`[a](08-attention.md)`", "`[a](08-attention.md)`"),
        ("chapters", "```\n[a](gone.md)\n```", "```\n[a](gone.md)\n```"),
        ("chapters", "![a](plot.png) [b](#eq-x) [c](https://example.org/x.md)", None),
    ],
)  # fmt: skip
def test_links_lead_to_notebooks(folder: str, text: str, led: str | None) -> None:
    assert lead_to_notebooks(text, folder, PAGES, "A cell") == (led or text)


def test_a_page_that_is_no_notebook_is_linked_as_it_is() -> None:
    text = "[a](../glossary.md) [b](08-attention.md)"
    led = lead_to_notebooks(text, "chapters", PAGES, "A cell", texts=["glossary.md"])
    assert led == "[a](../glossary.md) [b](08-attention.ipynb)"


@pytest.mark.parametrize("target", ["09-gone.md", "../labs/08-attention.md", "../data/README.md"])
def test_a_link_to_no_page_is_named_with_its_file(target: str) -> None:
    with pytest.raises(CourseError, match=r"^Cell 3 of 08-attention\.md links to") as caught:
        lead_to_notebooks(f"[x]({target})", "chapters", PAGES, "Cell 3 of 08-attention.md")
    assert repr(target) in str(caught.value)


def test_where_links_are() -> None:
    text = 'A [b $c$](d.md "title") e.'
    (link,) = links_of(text)
    assert (link.text, link.target) == ("b $c$", "d.md")
    assert text[link.start : link.end] == '[b $c$](d.md "title")'
    assert source_of("../a/b.md#c", "labs") == "a/b.md" and source_of("b.png", "") is None
