"""From a page's marks to slides."""

from pathlib import Path

import pytest

from coursekit.book.slides import layout, sizes
from coursekit.book.slides.arrangement import arranged
from coursekit.book.slides.images import image_sizes
from coursekit.book.slides.layout import Sheet, sheets_of
from coursekit.book.slides.nodes import unbroken
from coursekit.book.slides.wording import plain
from lmcourse.errors import CourseError
from tests.slides import trees
from tests.slides.trees import LONG, block, bullets, cell, equation, heading, math, p, page

TITLE = block(p("What is a slide?"), kind="slide")
CODE_LINE = "x = 1"
NO_FILES = image_sizes(Path("/nowhere"))


def laid_out(*blocks: trees.Node, **facts) -> list[Sheet]:
    return sheets_of(page(TITLE, *blocks, **facts))


def kinds(sheet: Sheet) -> str:
    """The kinds of what a sheet shows."""
    return " ".join(node["type"] for node in sheet.nodes)


def texts(sheet: Sheet) -> str:
    return " ".join(map(plain, sheet.nodes))


def notes(sheet: Sheet) -> str:
    return " ".join(map(plain, sheet.notes))


def faults(*blocks: trees.Node) -> list[str]:
    return list(layout.faults(laid_out(*blocks), NO_FILES))


def test_what_is_marked_is_shown_whole_and_nothing_else():
    title, one, below, two = laid_out(
        block(heading("One"), p(LONG), kind="slide"),
        block(equation("x", "1", "eq"), kind="-"),
        block(p("For the speaker."), equation("y", "2", "y")),
        cell("unseen()", trees.stream("unseen")),
        cell(CODE_LINE, trees.stream("1"), kind="subslide"),
        block(heading("Two"), bullets("A.", "B."), kind="slide"),
        block(p("Said, too."), kind="notes"),
        block(p("Nobody's."), kind="skip"),
        cell("hidden()", kind="skip"),
        cell("removed()", kind="-") | {"visibility": "remove"},
    )
    assert (kinds(title), notes(title)) == ("", "")
    assert kinds(one) == "paragraph math" and texts(one).startswith(LONG)
    assert notes(one) == "For the speaker. \ufffc"
    assert kinds(below) == "code outputs"
    assert (kinds(two), notes(two)) == ("list", "Said, too.")
    assert [sheet.below for sheet in (one, below, two)] == [False, True, False]
    assert [(sheet.title, sheet.again) for sheet in (one, below, two)] == [
        ("One", False),
        ("One", True),
        ("Two", False),
    ]


def test_all_code_is_there_in_order_to_be_run():
    sheets = laid_out(
        cell("a = 1"),
        block(heading("One"), p("A."), kind="slide"),
        cell("b = a", kind="skip"),
        cell("c = b", kind="-"),
    )
    code = [it.code for sheet in sheets for it in sheet.cells if it.code is not None]
    assert code == ["a = 1", "b = a", "c = b"]


def test_the_title_slide_is_the_title_alone():
    title = laid_out(block(heading("One"), p("A."), kind="slide"))[0]
    assert not title.nodes and title.heading is None
    first = sheets_of(page(block(p("What is a slide?"), p("You need this."), kind="slide")))[0]
    assert not first.nodes and notes(first) == "You need this."


def test_a_page_leads_to_its_section():
    sheets = laid_out(
        block(heading("Of the page"), p("Prose.")),
        block(heading("Of the slide"), p("A."), kind="slide") | {"slide_only": True},
        block(heading("Another"), p("B."), kind="slide"),
    )
    assert [sheet.section for sheet in sheets[1:]] == ["of-the-page", "another"]


def test_text_for_slides_only_is_merged_by_the_page():
    tree = page(TITLE, block(p("On the page."))).tree
    shown = block(heading("Only here"), bullets("A.", "B."), kind="slide") | {"slide_only": True}
    deck = tree | {"children": [TITLE, shown, *tree["children"][1:]]}
    _, second = sheets_of(page(*tree["children"], deck=deck))
    assert second.title == "Only here" and notes(second) == "On the page."


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([block(heading("A"), p("Only one sentence."), kind="slide")], "one sentence alone"),
        ([block(heading("A"), kind="slide")], "nothing to show but its title"),
        ([block(p("Ones are. Twos are."), kind="slide")], "no title"),
        ([block(p("Shown."), kind="-")], "the first slide shows title and question only"),
        (
            [block(heading("A"), p("Ones are. Twos are."), heading("B"), kind="slide")],
            "a second title, “B”",
        ),
        ([block(heading("A"), bullets(*[" ".join("abcdefghij")] * 5), kind="slide")], "51 words"),
        ([block(heading("A"), kind="slide"), cell("x\n" * 17, kind="-")], "17 lines of code"),
        ([block(heading("A"), kind="slide"), cell("x" * 101, kind="-")], "code of 101 columns"),
        (
            [block(heading("A"), kind="slide"), cell("x\n" * 14, trees.stream("1\n" * 9), kind="-"),
             equation("a", "1", "a")],
            "",
        ),
        (
            [block(heading("A"), kind="slide"), cell("x" * 90, trees.stream("1\n" * 20), kind="-")],
            "pixels high; there are 558",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_size_and_what_to_do(blocks, said):
    found = faults(*blocks)
    if not said:
        assert found == []
        return
    assert any(said in fault for fault in found), found
    assert found[0].startswith("slide ")


def test_a_sheet_of_fifty_words_and_sixteen_lines_fits():
    words = bullets(*[" ".join("abcdefg")] * 7)
    assert faults(block(heading("A"), words, kind="slide")) == []
    assert faults(block(heading("A"), kind="slide"), cell("x\n" * 16, kind="-")) == []


def test_folded_answers_code_and_tables_do_not_count():
    asked = trees.question("Why?", " ".join(["because"] * 100))
    row = {"type": "tableRow", "children": [{"type": "tableCell", "children": [p("a b c")]}]}
    (_, one) = laid_out(
        block(heading("One"), *asked, {"type": "table", "children": [row] * 3}, kind="slide"),
        cell("many words = in_code", trees.stream("many words"), kind="-"),
    )
    assert one.words == 3  # One; Question; Why?


@pytest.mark.parametrize(
    ("blocks", "cause"),
    [
        ([block(p("A."))], "No part of chapters/02-a-chapter.md is marked as a slide"),
        (
            [TITLE, block(heading("One"), {"type": "iframe", "src": "x"}, kind="slide")],
            "slide 2 (One): a slide cannot show a node of type 'iframe'",
        ),
        ([TITLE, block(p("A."), kind="slides")], "there is no slide_type 'slides'"),
    ],
)
def test_what_is_wrong_is_named(blocks, cause):
    with pytest.raises(CourseError) as caught:
        sheets_of(page(*blocks))
    assert cause in caught.value.cause
    assert "chapters/02-a-chapter.md" in caught.value.cause and caught.value.remedy


def arrangement(*nodes: trees.Node):
    return arranged(list(nodes), sizes.room("A title"), NO_FILES)


def outputs(*shown: dict) -> trees.Node:
    return {"type": "outputs", "children": [{"type": "output", "jupyter_data": it} for it in shown]}


def test_bullets_are_beside_a_square_figure_and_above_a_wide_one():
    words = bullets("One is here.", "Two is there.", "Three.")
    square = trees.figure()
    square["data"]["image/png"] = trees.base64.b64encode(trees.png(400, 400)).decode()
    wide = trees.figure()
    wide["data"]["image/png"] = trees.base64.b64encode(trees.png(900, 200)).decode()
    beside = arrangement(words, outputs(square))
    assert beside.right == {1} and beside.left > 0.3
    assert arrangement(words, outputs(wide)).left == 0


def test_code_is_beside_what_it_prints_if_both_fit():
    code = {"type": "code", "value": "x = [1, 2]\nprint(x)"}
    assert arrangement(code, outputs(trees.stream("[1, 2]"))).right == {1}
    assert not arrangement(code, outputs(trees.stream("1" * 90))).right
    long = {"type": "code", "value": "x" * 90}
    assert not arrangement(long, outputs(trees.stream("[1, 2]"))).right
    assert not arrangement(bullets("A list."), code, outputs(trees.stream("[1, 2]"))).right
    assert not arrangement(bullets("A list."), outputs(trees.stream("[1, 2]"))).right


def drawn(width: int, height: int, smallest: float) -> trees.Node:
    """A cell that draws a figure whose smallest letters have this size."""
    shown = trees.figure(smallest=f"{smallest}")
    encoded = trees.base64.b64encode(trees.png(width, height)).decode()
    shown["data"]["image/png"] = {"content": encoded}
    return cell("draw()", shown, hide=True, kind="-")


def test_letters_of_a_figure_that_are_too_small_are_named():
    words = block(heading("One"), bullets("Two panels.", "One below the other."), kind="slide")
    (fault,) = faults(words, drawn(528, 528, 13.75))
    assert fault.startswith("slide 2 (One): letters of some 14.5 pixels in its figure; at least 16")
    assert faults(words, drawn(528, 440, 13.75)) == []


def test_a_widget_has_its_slide_to_itself():
    widget = outputs(trees.display(text_html="<script>1</script>", text_plain="words"))
    assert arrangement(widget).height <= sizes.room("A title")
    assert arrangement(p("It is. It was."), widget).height > sizes.room("A title")


def test_a_long_title_takes_another_line():
    assert sizes.room("x" * 60) < sizes.room("x" * 30) < sizes.room("x" * 60, small=True)


def test_tabs_and_cards_are_converted():
    tab = {"type": "tabItem", "title": "Python", "children": [p("A.")]}
    header = {"type": "cardTitle", "children": [trees.text("Card")]}
    card = {"type": "card", "children": [header, p("B.")]}
    grid = {"type": "grid", "children": [card]}
    (_, one) = laid_out(
        block(heading("One"), {"type": "tabSet", "children": [tab]}, grid, kind="slide")
    )
    assert kinds(one) == "details admonition"


def test_no_line_begins_with_a_stop():
    fixed = unbroken(p("See ", math("x"), ", which is"))
    kinds = [child["type"] for child in fixed["children"]]
    assert kinds == ["text", "span", "text"]
    assert plain(fixed) == "See \ufffc, which is"
