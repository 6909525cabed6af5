"""The deck's HTML, and writing it."""

import re
import webbrowser
from dataclasses import replace
from pathlib import Path

import pytest

from coursekit import course
from coursekit.book.slides import deck as decks
from coursekit.book.slides.assets import equation_style
from coursekit.book.slides.deck import deck_html, present, write_deck
from lmcourse import show
from lmcourse.diagram import Diagram
from lmcourse.errors import CourseError
from tests.slides import trees
from tests.slides.trees import block, cite, equation, heading, math, p, page

TITLE = block(kind="slide")
KATEX = course.root() / "theme" / "public" / "katex" / "katex.css"


def html_of(tmp_path: Path, *blocks: trees.Node, base_url: str | None = None, **facts) -> str:
    """The slides' part of a deck."""
    chapter = page(TITLE, *blocks, **facts)
    text = deck_html(chapter, trees.book(chapter, tmp_path), base_url=base_url)
    return text[text.index('<div class="slides">') : text.index("<noscript>")]


def notes_in(html: str) -> str:
    return " ".join(re.findall(r'<aside class="notes">(.*?)</aside>', html, re.DOTALL))


def test_it_holds_everything_in_itself(content):
    text = deck_html(content.pages[0], content)
    text = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)  # the browser tests watch them
    urls = re.findall(r'(?:src|href)="([^"]*)"', text) + re.findall(r"url\(([^)]*)\)", text)
    assert {url.split(",")[0].split(":")[0].strip("'\"") for url in urls} == {
        "data",
        "#eq-state",
        "#/eq-state",
    }
    assert "@import" not in text
    assert 'alt="A gray square."' in text and "data:image/png;base64," in text
    assert '<div class="item live" data-prevent-swipe>' in text  # a finger on it moves no slide
    assert "loading=" not in text  # a hidden slide would never load it


def test_the_title_slide_says_what_it_is(tmp_path):
    html = html_of(tmp_path, title="<Title> & more")
    assert "<h1>&lt;Title&gt; &amp; more</h1>" in html
    for words in ("Chapter 02", "What is a slide?", "The course"):
        assert words in html


def test_text_is_text(tmp_path):
    html = html_of(tmp_path, block(heading("<b>One"), p("<script>alert(1)</script>"), p("B."),
                                   kind="slide"))  # fmt: skip
    assert "<script>" not in html and "<b>" not in html
    assert "&lt;script&gt;" in html


def test_a_slide_that_goes_on_is_a_stack(tmp_path):
    html = html_of(tmp_path, block(heading("One"), p("It is. It was."), kind="slide"),
                   block(p("So it is. So it was."), kind="subslide"))  # fmt: skip
    assert '<section>\n<section id="one">' in html
    assert '<h2 class="again">One</h2>' in html
    assert html.count('id="one"') == 1


def test_notes_hold_what_is_not_marked_and_the_works_cited(tmp_path):
    cited = cite("Elman (1990)", "elman1990")
    html = html_of(tmp_path, block(heading("One"), p("See ", cited, ". He is right."),
                                   kind="slide"), block(p(trees.LONG)))  # fmt: skip
    assert "explains at some length" in notes_in(html)
    assert "explains at some length" not in html.replace(notes_in(html), "")
    assert "<i>Finding Structure in Time</i>" in notes_in(html)


def test_notes_show_equations_without_a_style_sheet(tmp_path):
    html = html_of(tmp_path, block(heading("One"), equation("h", "1", "eq"), kind="slide"),
                   block(p("See ", math("h"), ". ")))  # fmt: skip
    notes = notes_in(html)
    assert "<math>" in notes and "katex-html" not in notes and "annotation" not in notes
    assert "katex-html" in html.replace(notes, "")


def test_no_name_is_given_twice(content):
    text = deck_html(content.pages[0], content)
    names = re.findall(r'\sid="([^"]+)"', text[: text.index("<script>")])
    assert len(names) == len(set(names))


def test_notes_name_no_places(tmp_path):
    html = html_of(tmp_path, block(heading("One"), equation("h", "1", "eq"), kind="slide"),
                   block(heading("Two"), equation("h", "1", "eq"), kind="notes"))  # fmt: skip
    assert "Two" in notes_in(html)
    assert "id=" not in notes_in(html) and html.count('id="eq"') == 1


@pytest.mark.parametrize(
    ("base", "address"), [("..", ".."), ("https://a.org/b/", "https://a.org/b")]
)
def test_each_slide_leads_to_its_section_of_the_page(tmp_path, base, address):
    blocks = (
        block(heading("One"), p("It is. It was."), kind="slide"),
        block(p("So it is. So it was."), kind="subslide"),
    )
    html = html_of(tmp_path, *blocks, base_url=base)
    link = f'<a class="to-page" href="{address}/a-chapter.html#one">Chapter 02</a>'
    assert html.count(link) == 2
    assert "to-page" not in html_of(tmp_path, *blocks)


def test_what_does_not_fit_is_an_error_that_names_all_of_it(tmp_path):
    blocks = [block(heading(name), p("Alone."), kind="slide") for name in ("One", "Two")]
    with pytest.raises(CourseError) as caught:
        html_of(tmp_path, *blocks)
    assert "slides of chapters/02-a-chapter.md" in caught.value.cause
    assert "- slide 2 (One): it shows one" in caught.value.cause
    assert "- slide 3 (Two): it shows one" in caught.value.cause
    assert "python -m coursekit.book.slides 02" in caught.value.remedy


def test_fragments_are_numbered_in_the_order_of_the_source(tmp_path):
    html = html_of(
        tmp_path,
        block(heading("One"), p("It is. It was."), kind="slide"),
        trees.cell("x", trees.stream("1"), kind="-", show="code then output"),
        block(trees.bullets("C.", "D."), kind="fragment"),
    )
    indices = re.findall(r'class="item fragment"[^>]*data-fragment-index="(\d)"[^>]*>(<\w+)', html)
    assert sorted(indices) == [("0", "<div"), ("1", "<ul")]


def test_a_diagram_in_steps_is_drawn_in_the_slide(tmp_path):
    diagram = Diagram(200, 100)
    box = diagram.box("one", 40, 50)
    diagram.step()
    diagram.arrow(box, diagram.box("two", 160, 50))
    diagram.step()
    diagram.text("three", 100, 80)
    bundle, metadata = show.forms(diagram, 'Boxes "one" and "two".')
    data = {name: {"content": form} for name, form in bundle.items() if name != "text/html"}
    output = {"output_type": "display_data", "data": data, "metadata": metadata}
    cells = [trees.cell("draw()", output, hide=True, kind=kind) for kind in ("-", "fragment")]
    html = html_of(tmp_path, block(heading("One"), kind="slide"), *cells)
    assert html.count('aria-label="Boxes &quot;one&quot; and &quot;two&quot;."') == 2
    steps = re.findall(r'<g class="fragment" data-fragment-index="(\d)"', html)
    assert sorted(set(steps)) == ["0", "1", "3", "4"]
    assert re.search(r'<div class="item figure fragment"[^>]*data-fragment-index="2"', html)
    names = re.findall(r'\sid="([^"]+)"', html)
    assert len(names) == len(set(names)), "of the one and of the other diagram"
    assert 'data-smallest="15"' in html


def test_footnotes_are_the_speakers(tmp_path):
    call = {"type": "footnoteReference", "identifier": "fn", "enumerator": "1"}
    note = {"type": "footnoteDefinition", "identifier": "fn", "children": [p("A remark.")]}
    html = html_of(
        tmp_path, block(heading("One"), p("It is", call, ". It was."), note, kind="slide")
    )
    assert "A remark." in notes_in(html)
    assert "A remark." not in html.replace(notes_in(html), "") and "footnote" not in html


@pytest.mark.parametrize(
    ("url", "base", "href"),
    [
        ("#eq", None, "#/eq"),
        ("/a-chapter#eq", None, "#/eq"),
        ("#nowhere", None, None),
        ("/another#x", None, None),
        ("/another#x", "https://a.org/b/", "https://a.org/b/another.html#x"),
        ("https://example.org/", None, "https://example.org/"),
    ],
)
def test_links_lead_somewhere_or_are_words(tmp_path, url, base, href):
    link = {"type": "link", "url": url, "children": [trees.text("there")]}
    html = html_of(tmp_path, block(heading("One"), p("Look ", link), equation("x", "1", "eq"),
                                   kind="slide"), base_url=base)  # fmt: skip
    found = re.search(r'<a href="([^"]*)"[^>]*>there</a>', html)
    assert (found[1] if found else None) == href
    assert "there" in html


@pytest.mark.parametrize("base", [None, "https://a.org/b"])
def test_a_term_is_words_where_the_book_is_not_known(tmp_path, base):
    term = {"type": "crossReference", "resolved": True, "remote": True, "url": "/glossary",
            "html_id": "term-state", "children": [trees.text("states")]}  # fmt: skip
    defined = {"type": "span", "html_id": "definition-gate", "children": [trees.text("gate")]}
    bold = {"type": "strong", "children": [defined]}
    html = html_of(tmp_path, block(heading("One"), p("Many ", term, " of a ", bold, ". So."),
                                   kind="slide"), base_url=base)  # fmt: skip
    shown = '<a href="https://a.org/b/glossary.html#term-state" class="reference">states</a>'
    assert f"Many {shown if base else 'states'} of a <strong>" in html
    assert html.count('id="definition-gate"') == 1


def test_a_list_stays_one_list(tmp_path):
    html = html_of(tmp_path, block(heading("One"), trees.bullets("A.", "B.", "C."), kind="slide"))
    assert html.count("<ul>") == 1 and html.count("<li>") == 3


def test_what_cannot_be_shown_is_named(tmp_path):
    bad = {"type": "inlineMath", "value": r"\nope", "message": "unknown command"}
    with pytest.raises(CourseError, match="chapters/02") as caught:
        html_of(tmp_path, block(heading("One"), p("See ", bad, ". So."), kind="slide"))
    assert r"slide 2: under" in caught.value.cause and r"\nope" in caught.value.cause


def test_an_image_without_words_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(trees.png())
    image = {"type": "image", "url": "/a.png"}
    with pytest.raises(CourseError, match="no alternative text"):
        html_of(tmp_path, block(heading("One"), image, kind="slide"))


def test_only_the_fonts_that_are_used_come_along():
    html = '<span class="katex"><span class="mord mathnormal">x</span></span>'
    style = equation_style(KATEX, html)
    faces = re.findall(r"@font-face\{[^}]*font-family:\"?(\w+)", style)
    assert set(faces) == {"KaTeX_Main", "KaTeX_Math"}
    assert "url(fonts" not in style and "data:font/woff2" in style
    assert "KaTeX_AMS" in equation_style(KATEX, html.replace("mathnormal", "mathbb"))
    assert equation_style(KATEX, "<p>no equation</p>") == ""


def test_it_is_written_whole_or_not_at_all(content, tmp_path, monkeypatch):
    file = tmp_path / "deck.html"
    file.write_text("the last one", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_deck(content.pages[0], content, file)
    assert [path.name for path in tmp_path.iterdir()] == ["deck.html"]
    assert file.read_text(encoding="utf-8") == "the last one"


def test_a_folder_that_may_not_be_written_is_named(content, tmp_path, unprivileged):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(CourseError) as caught:
            write_deck(content.pages[0], content, tmp_path / "deck.html")
    finally:
        tmp_path.chmod(0o755)
    assert str(tmp_path) in caught.value.cause and "--output" in caught.value.remedy


def test_present_says_whether_there_is_a_browser(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.append(url) or False)
    assert present(tmp_path / "a deck.html") is False
    assert asked == [(tmp_path / "a deck.html").as_uri()]


def test_the_same_page_gives_the_same_bytes(content):
    assert decks.deck_html(content.pages[0], content) == deck_html(content.pages[0], content)


def test_the_book_names_what_is_wrong_with_all_decks(tmp_path):
    long = [block(heading("One"), p(" ".join(["word"] * 60)), kind="slide")]
    pages = [page(TITLE, *long, slug=name, source=f"chapters/{name}.md") for name in ("a", "b")]
    content = replace(trees.book(pages[0], tmp_path), pages=pages)
    with pytest.raises(CourseError) as error:
        decks.decks(content, tmp_path, "..")
    for name in ("a", "b"):
        assert f"The slides of chapters/{name}.md cannot be made" in error.value.cause
