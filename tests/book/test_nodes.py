"""Nodes of MyST's syntax tree as HTML; what cannot be shown is a problem."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from coursekit.book.content import Content, Node
from coursekit.book.render.markup import is_safe, sanitize
from coursekit.book.render.nodes import Renderer
from coursekit.book.site.pages import site_link
from tests.book.conftest import picture


def make(public: Path, **options: Any) -> Renderer:
    """A renderer whose files keep their names and whose links stay as they are."""
    settings = {"asset": lambda path: path.name, "link": lambda url: url} | options
    return Renderer(public=public, **settings)


@pytest.fixture
def renderer(tmp_path: Path) -> Renderer:
    """A renderer over an empty folder."""
    return make(tmp_path)


def text(words: str) -> Node:
    """A text node."""
    return {"type": "text", "value": words}


def node(kind_: str, /, *children: Node | str, **attributes: Any) -> Node:
    """A node with children; words become text."""
    nodes = [text(child) if isinstance(child, str) else child for child in children]
    return {"type": kind_, "children": nodes, **attributes}


def parsed(html: str) -> BeautifulSoup:
    """Read HTML for questions."""
    return BeautifulSoup(html, "html.parser")


def only(html: str, selector: str) -> Tag:
    """Return the one element that a selector finds."""
    found = parsed(html).select(selector)
    assert len(found) == 1, html
    return found[0]


CRAFTED = '<script>alert("x")</script> & "quoted"'


@pytest.mark.parametrize(
    "tree",
    [
        text(CRAFTED),
        node("emphasis", CRAFTED),
        {"type": "inlineCode", "value": CRAFTED},
        {"type": "code", "value": CRAFTED, "lang": "no-such-language"},
        {"type": "code", "value": CRAFTED, "lang": "python", "filename": CRAFTED},
        node("abbreviation", "x", title=CRAFTED),
        node("admonition", node("admonitionTitle", CRAFTED), kind="note"),
        node("tabSet", node("tabItem", title=CRAFTED, sync=CRAFTED)),
        node("span", "x", **{"class": '"><script>'}),
        node("div", "x", html_id='"><script>'),
        node("exercise", enumerator="<script>"),
        node("proof", "x", kind="<script>", enumerator="1"),
        {"type": "chemicalFormula", "value": CRAFTED},
        {"type": "si", "number": "<script>", "unit": "m", "alt": '"<script>'},
        node("footnoteDefinition", "x", identifier='"><script>', enumerator="<script>"),
        node("crossReference", "x", resolved=True, html_id='"><script>'),
        node("cite", "x", label='"><script>'),
    ],
)
def test_text_stays_text(renderer: Renderer, tree: Node) -> None:
    html = renderer.render([tree])
    assert "<script" not in html
    assert parsed(html).find("script") is None


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " java\nscript:alert(1)",
        "java\x0bscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
    ],
)
def test_unsafe_links_are_refused(renderer: Renderer, url: str) -> None:
    assert not is_safe(url)
    assert renderer.render([node("link", "words", url=url)]) == "words"
    assert renderer.render([node("card", node("cardTitle", "words"), url=url)]).count("href") == 0
    assert url in renderer.problems[0]


@pytest.mark.parametrize("url", ["https://a.org/?b=1&c=2", "mailto:a@b.org", "page.html", "#here"])
def test_safe_links(renderer: Renderer, url: str) -> None:
    link = only(renderer.render([node("link", "words", url=url)]), "a")
    assert link["href"] == url
    assert ("external" in link.get("class", [])) == url.startswith("http")
    assert not renderer.problems


def test_a_link_that_the_host_drops_is_text(tmp_path: Path) -> None:
    renderer = make(tmp_path, link=lambda url: "", cite=lambda key: "")
    reference = node("crossReference", "(1)", resolved=True, html_id="eq", enumerator="1")
    assert renderer.render([node("link", "words", url="/x"), reference]) == "words(1)"
    assert renderer.render([node("cite", "Elman (1990)", label="elman")]) == "Elman (1990)"


def test_an_unknown_node_is_a_problem_with_its_place(renderer: Renderer) -> None:
    tree = [node("heading", "Here", depth=2), node("hologram", "what it holds")]
    assert "what it holds" in renderer.render(tree)
    assert renderer.problems == ["under “Here”: a “hologram” node, which the book cannot show."]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"type": "iframe", "src": "https://a.org"}, "https://a.org"),
        ({"type": "mermaid", "value": "graph"}, "mermaid"),
        ({"type": "anywidget", "esm": "/w.js"}, "/w.js"),
        ({"type": "html", "value": "<b>x</b>"}, "raw HTML"),
        ({"type": "raw", "lang": "html", "value": "<b>x</b>"}, "raw HTML"),
        ({"type": "mystRole", "name": "nosuch", "value": "x"}, "nosuch"),
        ({"type": "mystDirective", "name": "nosuch"}, "nosuch"),
        ({"type": "inlineExpression", "value": "1 + 1"}, "1 + 1"),
        ({"type": "inlineMath", "value": "\\frac{", "error": True, "message": "no end"}, "no end"),
        ({"type": "math", "value": "\\frac{", "error": True, "message": "no end"}, "no end"),
        ({"type": "crossReference", "label": "gone", "children": []}, "gone"),
        ({"type": "cite", "label": "gone", "error": "not found"}, "gone"),
    ],
)
def test_what_cannot_be_shown_is_named(renderer: Renderer, tree: Node, words: str) -> None:
    renderer.render([tree])
    assert len(renderer.problems) == 1
    assert words in renderer.problems[0]


@pytest.mark.parametrize("lang", ["latex", "typst"])
def test_what_is_for_print_alone_is_left_out(renderer: Renderer, lang: str) -> None:
    assert renderer.render([{"type": "raw", "lang": lang, "value": "x"}]) == ""
    assert not renderer.problems


def test_images_need_words_and_a_file(renderer: Renderer, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(60, 40))
    image = {"type": "image", "url": "/a.png", "alt": "A square.", "width": "50%", "align": "right"}
    found = only(renderer.render([image]), "img")
    assert (found["alt"], found["width"], found["height"]) == ("A square.", "60", "40")
    assert (found["loading"], found["style"], found["class"]) == (
        "lazy",
        "width:50%",
        ["align-right"],
    )
    assert not renderer.problems
    renderer.render([{**image, "alt": " "}, {**image, "url": "/gone.png"}])
    assert "no alternative text" in renderer.problems[0]
    assert "is not a file" in renderer.problems[1]


def test_an_image_width_is_a_length_or_nothing(renderer: Renderer, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture())
    crafted = {"type": "image", "url": "/a.png", "alt": "x", "width": "1px;position:fixed"}
    assert "style" not in only(renderer.render([crafted]), "img").attrs


def test_headings(tmp_path: Path) -> None:
    heading = node("heading", "Words", depth=2, html_id="words")
    found = only(make(tmp_path).render([heading]), "h2#words")
    assert only(str(found), "a")["href"] == "#words"
    html = make(tmp_path, heading_shift=-1, permalinks=False).render([heading])
    assert html == '<h1 id="words">Words</h1>'
    assert "<h6" in make(tmp_path, heading_shift=9, permalinks=False).render([heading])
    compound = node("heading", "Why a warm-up < 1?", depth=2)
    assert make(tmp_path).render([compound]) == (
        '<h2>Why a <span class="unbroken">warm-up</span> &lt; 1?</h2>'
    )


def test_references_reach_the_host_with_their_anchor(tmp_path: Path) -> None:
    renderer = make(tmp_path, link=site_link)
    near = node("crossReference", "(1)", resolved=True, html_id="eq", label="eq")
    far = near | {"remote": True, "url": "/second"}
    assert only(renderer.render([near]), "a")["href"] == "#eq"
    assert only(renderer.render([far]), "a")["href"] == "second.html#eq"
    assert only(renderer.render([node("link", "x", url="/")]), "a")["href"] == "index.html"


def test_a_reference_to_a_script_is_a_problem(renderer: Renderer) -> None:
    far = node("crossReference", "x", resolved=True, remote=True, url="javascript:alert(1)")
    assert renderer.render([far]) == "x"
    assert "javascript:" in renderer.problems[0]


def test_citations_and_where_they_stand(renderer: Renderer) -> None:
    first = node("cite", "Witten & Bell, 1991", label="witten")
    second = node("cite", "Chen, 1999", label="chen")
    html = renderer.render([node("citeGroup", first, second, kind="parenthetical")])
    assert parsed(html).get_text() == "(Witten & Bell, 1991; Chen, 1999)"
    narrative = node("citeGroup", node("cite", "Witten & Bell (1991)", label="witten"))
    html = renderer.render([narrative | {"kind": "narrative"}])
    assert parsed(html).get_text() == "Witten & Bell (1991)"
    link = only(html, "a")
    assert (link["href"], link["id"]) == ("#cite-witten", "cited-witten-2")
    assert renderer.citations == {
        "witten": ["cited-witten-1", "cited-witten-2"],
        "chen": ["cited-chen-1"],
    }


def test_an_equation_and_its_number(renderer: Renderer) -> None:
    equation = {"type": "math", "value": "x", "html": "<b>K</b>", "enumerator": "3"}
    labeled = only(renderer.render([equation | {"html_id": "eq-x"}]), "#eq-x")
    assert only(str(labeled), ".equation-number a")["href"] == "#eq-x"
    assert "<b>K</b>" in str(labeled)
    assert only(renderer.render([equation]), ".equation-number").get_text() == "(3)"
    assert not parsed(renderer.render([equation])).select("a")


def test_lists(renderer: Renderer) -> None:
    tight = node("listItem", node("paragraph", "one"), node("list", node("listItem", "in")))
    loose = node("listItem", node("paragraph", "two"), node("paragraph", "more"))
    html = renderer.render([node("list", tight, loose, ordered=True, start=3)])
    assert html == (
        '<ol start="3"><li>one<ul><li>in</li></ul></li><li><p>two</p><p>more</p></li></ol>'
    )
    tasks = node("list", node("listItem", "a", checked=True), node("listItem", "b", checked=False))
    boxes = parsed(renderer.render([tasks])).select("ul.tasks > li > input[type=checkbox]")
    assert ["checked" in box.attrs for box in boxes] == [True, False]
    assert all("disabled" in box.attrs for box in boxes)
    assert renderer.render([node("list")]) == ""


def test_a_table(renderer: Renderer) -> None:
    def row(*cells: Node) -> Node:
        return node("tableRow", *cells)

    head = node("tableCell", "wide", header=True, colspan=2, align="right")
    side = node("tableCell", "side", header=True, rowspan=2)
    tree = node("table", row(head), row(side, node("tableCell", node("paragraph", "cell"))))
    html = renderer.render([tree])
    wide, beside = only(html, "thead th"), only(html, "tbody th")
    assert (wide["colspan"], wide["scope"], wide["class"]) == ("2", "col", ["align-right"])
    assert (beside["rowspan"], beside["scope"]) == ("2", "row")
    assert only(html, "td").decode_contents() == "cell"
    assert only(html, ".scroll > table")


def test_code_keeps_its_text(renderer: Renderer) -> None:
    code = 'def f(x):\n    """Doc\n    string"""\n\n    return x < 1 and "&"'
    tree = {"type": "code", "lang": "python", "value": code, "filename": "f.py"}
    html = renderer.render([tree])
    assert only(html, "code").get_text() == code
    assert only(html, ".code-name").get_text() == "f.py"
    assert only(renderer.render([tree | {"value": "\nx"}]), "code").get_text() == "\nx"
    marked = tree | {"showLineNumbers": True, "startingLineNumber": 7, "emphasizeLines": [2]}
    html = renderer.render([marked])
    assert only(html, "code").get_text() == code
    lines = parsed(html).select(".line")
    assert [line["data-number"] for line in lines] == ["7", "8", "9", "10", "11"]
    assert ["marked" in line["class"] for line in lines] == [False, True, False, False, False]


def test_folded_and_removed_cells(renderer: Renderer) -> None:
    code = {"type": "code", "lang": "python", "value": "x"}
    folded = only(renderer.render([code | {"visibility": "hide"}]), "details")
    assert only(str(folded), "summary").get_text() == "Show the code"
    assert "open" not in folded.attrs
    assert renderer.render([code | {"visibility": "remove"}]) == ""
    block = node("block", code, kind="notebook-code")
    assert only(renderer.render([block]), "div.cell")
    assert renderer.render([block | {"visibility": "remove"}]) == ""
    assert only(renderer.render([block | {"visibility": "hide"}]), ".cell > details > summary")


def test_cards(renderer: Renderer) -> None:
    title = node("cardTitle", "Title")
    html = renderer.render([node("card", title, node("paragraph", "body"), url="/x")])
    assert only(html, ".card.linked .card-title a.card-link")["href"] == "/x"
    html = renderer.render([node("card", node("paragraph", "body"), url="/x")])
    assert only(html, "a.card")["href"] == "/x"
    later = node("card", title, node("footer", node("paragraph", "Later")))
    assert only(renderer.render([later]), ".card:not(.linked) .card-footer").get_text() == "Later"
    assert not renderer.problems
    inner = node("paragraph", node("link", "in", url="/y"))
    renderer.render([node("card", inner, url="/x")])
    assert "give it a title" in renderer.problems[0]


@pytest.mark.parametrize(
    ("tree", "selector"),
    [
        (node("solution", "x"), "details.solution:not([open])"),
        (node("details", node("summary", "Answer"), "x"), "details.answer:not([open])"),
        (node("details", node("summary", "More"), "x", open=True), "details.dropdown[open]"),
        (node("admonition", "x", kind="tip", **{"class": "dropdown"}), "details.tip:not([open])"),
        (node("admonition", node("admonitionTitle", "Question"), "x"), "div.question[role=note]"),
        (node("admonition", "x", **{"class": "warning simple"}), "div.warning.simple"),
        (node("admonition", "x", kind="seealso"), "div.seealso > .box-title"),
        (node("exercise", "x", enumerator="2", html_id="e"), "div#e.exercise"),
        (node("proof", "x", kind="theorem", enumerator="1"), "div.proof.theorem"),
        (node("aside", "x"), "div.aside[role=note]"),
    ],
)
def test_boxes(renderer: Renderer, tree: Node, selector: str) -> None:
    assert only(renderer.render([tree]), selector)
    assert not renderer.problems


def test_what_folds_is_no_link(renderer: Renderer) -> None:
    title = node("admonitionTitle", "Solution to ", node("link", "Exercise 1", url="#e"))
    summary = only(renderer.render([node("solution", title, "x")]), "summary")
    assert summary.decode_contents() == "Solution to Exercise 1"


def test_numbers_of_boxes(renderer: Renderer) -> None:
    named = node("exercise", node("admonitionTitle", "A name"), "x", enumerator="2")
    title = only(renderer.render([named]), ".box-title").get_text()
    assert title == "Exercise\u00a02 (A name)"
    proof = node("proof", "x", kind="proof", enumerator="7")
    assert only(renderer.render([proof]), ".box-title").get_text() == "Proof"


def test_a_captions_place(renderer: Renderer, tmp_path: Path) -> None:
    caption = node("caption", node("paragraph", node("captionNumber", "Table 1:"), "words"))
    table = node("table", node("tableRow", node("tableCell", "x")))
    html = renderer.render([node("container", caption, table, kind="table", html_id="t")])
    children = [child.name for child in only(html, "figure#t").children]
    assert children == ["figcaption", "div"]
    assert only(html, "figcaption").get_text() == "Table 1: words"
    html = renderer.render([node("container", table, caption, kind="figure")])
    assert [child.name for child in only(html, "figure").children] == ["div", "figcaption"]


def test_foreign_html_is_made_safe() -> None:
    crafted = (
        'A & B <i>Journal</i> <a target="_blank" onclick="x" href="https://doi.org/1">1</a>'
        '<a href="javascript:x">2</a><script>alert(1)</script><img src=x onerror=y></b> <em>open'
    )
    assert sanitize(crafted) == (
        'A &amp; B <i>Journal</i> <a href="https://doi.org/1">1</a><a>2</a>alert(1) <em>open</em>'
    )


def kinds(tree: Node) -> Iterator[str]:
    """Yield the type of every node."""
    yield tree["type"]
    for child in tree.get("children", []):
        yield from kinds(child)


# What only broken or refused sources hold (each is tested above), and what mystmd writes no more.
OTHERS = {"html", "iframe", "mermaid", "myst", "anywidget", "inlineExpression", "mystTarget"}
OTHERS |= {"mystRole", "mystDirective", "mystRoleError", "mystDirectiveError", "mystComment"}
OTHERS |= {"linkBlock", "blockBreak"}


def test_the_small_book_has_every_kind_and_no_problem(content: Content) -> None:
    assert {kind for page in content.pages for kind in kinds(page.tree)} >= set(
        Renderer.handlers
    ) - OTHERS
    for page in content.pages:
        renderer = make(content.public, link=site_link)
        renderer.render([page.tree])
        assert not renderer.problems, page.slug


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ("abbr[title='long short-term memory']", "LSTM"),
        ("abbr[title='recurrent neural network']", "RNN"),
        ("p > strong", "Bold by HTML & text"),
        (".chemical > sub", "2"),
        ("a.button[href='everything.html#top-target'], a.button[href='everything.html']", "Begin"),
        ("dl > dt", "Term one"),
        ("figure.figure-quote > figcaption", "Someone"),
        ("figure.epigraph > blockquote", "An epigraph."),
        ("figure#code-listing .line.marked", "print(math.pi)"),
        ("a.reference[href='#eq-pythagoras']", "the theorem"),
        ("a.reference[href='second.html#far']", "a section"),
        ("a.reference[href='#term-hidden-state']", "hidden state"),
        ("a[download][href$='.bib']", "references.bib"),
        ("a.citation[href='#cite-mikolov2010']", "Mikolov et al. (2010)"),
        ("a.citation[href='#cite-werbos1990']", "see Werbos, 1990, p. 3"),
        ("sup a[href='#footnote-two']", "2"),
        ("#footnote-one em", "footnote"),
        ("figure#fig-square .legend", "And the legend."),
        ("figure.subfigures > figure > figcaption", "(a) A square"),
        ("figure#tab-one th.align-center", "center"),
        ("th[colspan='2']", "Wide"),
        ("details.tip > summary", "Tip"),
        ("details[open] > summary", "Open one"),
        (".tabs > .tab[data-sync='b'] > .tab-title", "Two"),
        (".card .card-header", "Header"),
        ("details#solution-one > summary", "Solution to Exercise\u00a01"),
        ("#thm .box-title", "Theorem\u00a01 (Pythagoras)"),
        (".glossary dt#term-loss", "loss"),
        ("div.special p", "In a div."),
    ],
)
def test_everything_is_there(content: Content, selector: str, words: str) -> None:
    renderer = make(content.public, link=site_link)
    html = renderer.render([content.page("everything").tree])
    found = [" ".join(each.get_text().split(" ")) for each in parsed(html).select(selector)]
    assert any(words in each for each in found), found
