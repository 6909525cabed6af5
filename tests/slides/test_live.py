"""The live notebook: the deck's slides, every cell, plain Markdown."""

import json
from pathlib import Path

import nbformat
import pytest

from coursekit.book.slides.live import live_notebook, presentation_url, write_live
from coursekit.book.slides.markdown import Markdown
from lmcourse.errors import CourseError
from tests.slides import trees
from tests.slides.trees import block, cell, cite, equation, heading, math, p, page, text

TITLE = block(p("What is a slide?"), kind="slide")


def made(tmp_path: Path, *blocks: trees.Node) -> list[tuple[str, str, str]]:
    """Each cell of a live notebook: its kind, its mark, its source."""
    chapter = page(TITLE, *blocks)
    notebook = live_notebook(chapter, trees.book(chapter, tmp_path))
    nbformat.validate(notebook)
    return [
        (it.cell_type, it.metadata.get("slideshow", {}).get("slide_type", "-"), it.source)
        for it in notebook.cells
    ]


def written(node: trees.Node) -> str:
    return Markdown(Path(), "a chapter").blocks([node])


def test_slides_are_those_of_the_deck(tmp_path):
    cells = made(
        tmp_path,
        block(heading("One"), p(trees.LONG), kind="slide"),
        cell("x = 1", trees.stream("1"), kind="-"),
        cell("y = x"),
        block(p(trees.LONG * 3)),
        block(p("Then."), kind="subslide"),
        block(p("Step."), kind="fragment"),
        block(p("Mine."), kind="notes"),
    )
    assert cells == [
        ("markdown", "slide", "Chapter 02\n\n# A chapter\n\nWhat is a slide?"),
        ("markdown", "slide", "## One"),
        ("markdown", "-", trees.LONG),
        ("code", "-", "x = 1"),
        ("code", "skip", "y = x"),
        ("markdown", "notes", trees.LONG * 3),
        ("markdown", "subslide", "<small>One</small>"),
        ("markdown", "-", "Then."),
        ("markdown", "fragment", "Step."),
        ("markdown", "notes", "Mine."),
    ]


def test_every_cell_runs_in_order_though_it_is_not_shown(tmp_path):
    cells = made(
        tmp_path,
        block(heading("One"), kind="slide"),
        cell("a = 1", kind="skip"),
        cell("b = a", kind="-") | {"visibility": "remove"},
        cell("draw(b)", trees.figure(), hide=True, kind="-"),
    )
    code = [(mark, source) for kind, mark, source in cells if kind == "code"]
    assert code == [("skip", "a = 1"), ("skip", "b = a"), ("-", "draw(b)")]


def test_folded_code_is_folded(tmp_path):
    chapter = page(TITLE, block(heading("One"), kind="slide"), cell("draw()", hide=True))
    notebook = live_notebook(chapter, trees.book(chapter, tmp_path))
    assert notebook.cells[-1].metadata["jupyter"] == {"source_hidden": True}


@pytest.mark.parametrize(
    ("node", "markdown"),
    [
        (p("a_b *c* $d$ <e> ", math("h_t")), r"a\_b \*c\* \$d\$ \<e\> $h_t$"),
        (equation("a = b", "2", "eq"), "$$\na = b \\tag{2}\n$$"),
        (p("See ", {"type": "crossReference", "children": [text("(2)")]}), "See (2)"),
        (
            p({"type": "citeGroup", "kind": "parenthetical",
               "children": [cite("A, 1990", "a"), cite("B, 1991", "b")]}),
            "(A, 1990; B, 1991)",
        ),
        (trees.question("Why?", "So.")[0], "> **Question**\n>\n> Why?"),
        (
            trees.question("Why?", "So.")[1],
            "<details><summary>Answer</summary>\n\nSo.\n\n</details>",
        ),
        (trees.bullets("A.", "B.", ordered=True), "1. A.\n2. B."),
        ({"type": "code", "lang": "sh", "value": "ls"}, "```sh\nls\n```"),
        (p({"type": "link", "url": "/page", "children": [text("there")]}), "there"),
        (p({"type": "link", "url": "https://a.org", "children": [text("it")]}), "[it](https://a.org)"),
    ],
)  # fmt: skip
def test_directives_and_roles_become_plain_markdown(node, markdown):
    assert written(node) == markdown


def test_a_table_and_an_image(tmp_path):
    rows = [
        {"type": "tableRow", "children": [{"type": "tableCell", "children": [text(word)]}
                                          for word in row]}
        for row in (("a", "b"), ("1", "2"))
    ]  # fmt: skip
    assert written({"type": "table", "children": rows}) == "| a | b |\n|---|---|\n| 1 | 2 |"
    (tmp_path / "a.png").write_bytes(trees.png())
    image = {"type": "image", "url": "/a.png", "alt": "Gray."}
    assert Markdown(tmp_path, "").blocks([image]).startswith("![Gray.](data:image/png;base64,")


def test_what_has_no_plain_form_is_named():
    with pytest.raises(CourseError, match="a chapter: a node of type 'iframe'"):
        written({"type": "iframe"})


def test_changes_are_put_aside_and_outputs_are_none(tmp_path):
    chapter = page(TITLE, block(heading("One"), kind="slide"), cell("x = 1"))
    content = trees.book(chapter, tmp_path)
    path = write_live(chapter, content, tmp_path / "live")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1"}]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    ran = path.read_bytes()
    for _ in range(2):
        write_live(chapter, content, path.parent)
        assert len(list(path.parent.glob("*.ipynb"))) == 1
        (kept,) = path.parent.glob(".replaced/*.ipynb")
        assert kept.read_bytes() == ran != path.read_bytes()
    notebook["cells"][-1]["source"] = "x = 2"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    write_live(chapter, content, path.parent)
    aside = path.with_name("02-a-chapter.yours-1.ipynb")
    assert "x = 2" in aside.read_text(encoding="utf-8")
    assert "x = 2" not in path.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    chapter = page(TITLE, block(heading("One"), kind="slide"))
    (tmp_path / "live").write_text("a file", encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        write_live(chapter, trees.book(chapter, tmp_path), tmp_path / "live")
    assert str(tmp_path / "live") in caught.value.remedy


def test_a_viewer_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CourseError, match="jupyterlab-rise") as caught:
        presentation_url(Path("02-a.ipynb"))
    assert "coursekit.install" in caught.value.remedy


def test_the_same_page_gives_the_same_bytes(tmp_path):
    chapter = page(TITLE, block(heading("One"), kind="slide"), cell("x = 1"))
    content = trees.book(chapter, tmp_path)
    one = write_live(chapter, content, tmp_path / "one").read_bytes()
    assert one == write_live(chapter, content, tmp_path / "two").read_bytes()
