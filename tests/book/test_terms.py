"""The glossary's terms in tooltips, previews and the search; mathematics in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from coursekit.book.content import Content, Node, Page
from coursekit.book.render.nodes import Renderer
from coursekit.book.render.readable import GAP, maths, text_of
from coursekit.book.site.pages import site_link
from coursekit.book.site.previews import previews_script
from coursekit.book.site.search import index_script
from coursekit.book.site.terms import entries
from tests.book.test_nodes import make, node


def mathml(inner: str) -> str:
    """KaTeX's two forms of an expression."""
    tex = '<annotation encoding="application/x-tex">\\command{x}</annotation>'
    form = f'<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics>{inner}{tex}</semantics>'
    return (
        f'<span class="katex"><span class="katex-mathml">{form}</math></span><span>?</span></span>'
    )


H, T, TWO = "<mi>h</mi>", "<mi>t</mi>", "<mn>2</mn>"


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        (f"<mrow><msub>{H}{T}</msub><mo>=</mo>{TWO}</mrow>", "hₜ = 2"),
        (f"<msubsup>{H}{T}{TWO}</msubsup>", "hₜ²"),
        ("<msub><mi>W</mi><mi>Q</mi></msub>", "WQ"),
        ("<msup><mi>K</mi><mi>⊤</mi></msup>", "Kᵀ"),
        ("<msqrt><mi>d</mi></msqrt>", "√d"),
        ("<msqrt><mrow><mn>3</mn><mi>d</mi></mrow></msqrt>", "√3d"),
        ("<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac>", "1/(a+b)"),
        (f"<mover accent='true'>{H}<mo>~</mo></mover>", "h\u0303"),
        ("<msub><mi>d</mi><mtext>model</mtext></msub>", GAP),
        ("<munder><mo>∑</mo><mi>j</mi></munder>", GAP),
        ("<mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable>", GAP),
        (f"<mrow>{TWO * 50}</mrow>", GAP),
        ("<mi>h", GAP),
    ],
)
def test_maths_in_one_line(inner: str, line: str) -> None:
    assert maths(mathml(inner)) == line


def test_text_in_one_line() -> None:
    formula = {
        "type": "inlineMath",
        "value": "\\sqrt d",
        "html": mathml("<msqrt><mi>d</mi></msqrt>"),
    }
    words = node("paragraph", "by ", formula, node("strong", " now"), {"type": "break"}, "then")
    assert text_of(words) == "by √d now then"
    assert text_of({"type": "math", "value": "\\sum", "html": mathml(H)}) == GAP


def term(name: str, *described: Node) -> list[Node]:
    """A term of a glossary and its description."""
    anchor = f"term-{name.lower()}"
    return [
        node("definitionTerm", name, html_id=anchor),
        node("definitionDescription", *described),
    ]


def where(section: str, url: str, anchor: str) -> Node:
    """The last paragraph of a description."""
    link = node("crossReference", section, resolved=True, remote=True, url=url, html_id=anchor)
    return node("paragraph", link)


EQUATION = {"type": "math", "value": "x", "html": mathml("<mi>x</mi>"), "html_id": "eq-x"}


def book(public: Path) -> Content:
    """A chapter that defines a term, and the glossary."""
    sentence = node("paragraph", "The ", node("strong", "long name"), " (LN; 1990) is <b>one</b>.")
    listed = node(
        "definitionList", *term("Long name", sentence, where("Chapter 02: It", "/c", "definition"))
    )
    trees = {
        "index": node("root", "Hello."),
        "c": node("root", EQUATION | {"enumerator": "2.1"}),
        "glossary": node("root", node("glossary", listed)),
    }
    pages = [
        Page(slug, slug.capitalize(), "Why?", tree, {}, f"{slug}.md", None, label)
        for (slug, tree), label in zip(trees.items(), (None, "Chapter 02", None), strict=True)
    ]
    return Content("Book", "A book.", tuple(pages), public)


def data(script: str) -> Any:
    """What a script assigns."""
    return json.loads(script.partition(" = ")[2].removesuffix(";\n"))


def test_an_entry_of_the_glossary(tmp_path: Path) -> None:
    (entry,) = entries(book(tmp_path))
    assert (entry.name, entry.anchor, entry.short_form) == ("Long name", "term-long name", "LN")
    assert entry.meaning == "The long name (LN; 1990) is <b>one</b>."
    assert (entry.section, entry.url) == ("Chapter 02: It", "/c#definition")


def test_definitions_come_first_in_the_index_and_once(tmp_path: Path) -> None:
    first, *sections = data(index_script(book(tmp_path), site_link))
    assert first["name"] == "Long name" and first["short"] == "LN" and first["id"] == 0
    assert (first["url"], first["section"]) == ("c.html#definition", "Chapter 02: It")
    assert [each["url"] for each in sections] == ["index.html", "c.html", "glossary.html"]
    assert [each["page"] for each in sections] == ["Index", "Chapter 02: C", "Glossary"]
    assert {each["lead"] for each in sections} == {"Why?"}
    assert not any("long name" in each["text"] for each in sections)


def test_previews_of_other_pages(tmp_path: Path) -> None:
    content = book(tmp_path)
    renderer: Renderer = make(tmp_path, link=site_link)
    urls = ["glossary.html#term-long%20name", "c.html#eq-x", "c.html#gone", "c.html", "#eq-x"]
    names = {f"{page.slug}.html": page.slug for page in content.pages}
    found = data(previews_script(content, urls, renderer, names))
    assert list(found) == ["c.html#eq-x", "glossary.html#term-long name"]
    assert 'class="equation"' in found["c.html#eq-x"] and "(2.1)" in found["c.html#eq-x"]
    assert "id=" not in found["c.html#eq-x"]
    shown = found["glossary.html#term-long name"]
    assert "<dfn>Long name</dfn>" in shown and "&lt;b&gt;one" in shown
    assert 'href="c.html#definition"' in shown
