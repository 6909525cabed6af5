"""From a page's marks to slides."""

import pytest

from coursekit.book.slides.layout import WORDS, Slide, slides_of
from coursekit.book.slides.nodes import unbroken, without_docstrings
from coursekit.book.slides.sizes import CODE, ROOM, code_height, code_size
from coursekit.book.slides.wording import plain
from lmcourse.errors import CourseError
from tests.slides import trees
from tests.slides.trees import LONG, block, bullets, cell, equation, heading, math, p, page

TITLE = block(p("What is a slide?"), kind="slide")
CODE_LINE = "x = 1"


def shown(slides: list[Slide]) -> list[list[str]]:
    """The kinds of what each sheet shows, a list a slide."""
    return [
        [" ".join(item.node["type"] for item in sheet.items) for sheet in slide.sheets]
        for slide in slides
    ]


def texts(slides: list[Slide]) -> str:
    sheets = [sheet for slide in slides for sheet in slide.sheets]
    return " ".join(plain(item.node) for sheet in sheets for item in sheet.items)


def notes(slides: list[Slide]) -> str:
    sheets = [sheet for slide in slides for sheet in slide.sheets]
    return " ".join(plain(node) for sheet in sheets for node in sheet.notes)


def test_marks_make_slides_and_continuations():
    slides = slides_of(
        page(
            TITLE,
            block(heading("One"), p("A."), kind="slide"),
            block(equation("x", "1", "eq")),
            cell(CODE_LINE, trees.stream("1"), kind="subslide"),
            block(heading("Two"), p("B."), kind="slide"),
        )
    )
    assert shown(slides) == [[""], ["paragraph math", "code outputs"], ["paragraph"]]
    one = slides[1].sheets
    assert [plain(sheet.heading) for sheet in one] == ["One", "One"]
    assert [sheet.again for sheet in one] == [False, True]


def test_the_title_slide_is_the_title_alone():
    slides = slides_of(page(block(p("What is a slide?"), p("You need this."), kind="slide"), TITLE))
    assert shown(slides)[0] == [""]
    assert notes(slides[:1]) == "You need this."  # the question stands on the slide


def test_what_runs_before_the_first_heading_follows_the_title():
    slides = slides_of(page(TITLE, cell(CODE_LINE), block(p("A."))))
    assert shown(slides) == [["", "code paragraph"]]


def test_a_slide_shows_the_first_sentence_and_the_notes_all_of_it():
    many = [p(LONG)] * 3
    slides = slides_of(page(TITLE, block(heading("One"), *many, p("Short."), kind="slide")))
    assert texts(slides) == "The first sentence says it. " * 3 + "Short."
    assert notes(slides) == " ".join([LONG] * 3)


def test_prose_is_whole_where_there_is_room_for_all_of_it():
    slides = slides_of(page(TITLE, block(heading("One"), p(LONG), p("Short."), kind="slide"),
                            block(p("More.")), block(heading("Two"), p(LONG), kind="subslide"),
                            cell("x = 1\n" * 18)))  # fmt: skip
    first, second = slides[1].sheets
    assert texts([Slide([first])]) == f"{LONG} Short. More."
    assert texts([Slide([second])]).startswith("The first sentence says it. x"), "code takes room"
    assert notes(slides) == LONG


def test_what_leads_to_an_equation_and_what_defines_a_term_is_shown():
    term = {"type": "strong", "children": [trees.text("term")]}
    defined = p("First. " + LONG, " A ", term, " is this. ", LONG * 2 + " With x it is")
    slides = slides_of(
        page(TITLE, block(heading("One"), defined, equation("x", "1", "eq-x"), kind="slide"))
    )
    said = "First. The first sentence says it. … A term is this. … "
    assert texts(slides).startswith(said + "With x it is"), texts(slides)


@pytest.mark.parametrize(("prose", "on_slide", "said"), [("whole", LONG, ""), ("none", "", LONG)])
def test_the_author_overrides_it(prose, on_slide, said):
    slides = slides_of(
        page(TITLE, block(heading("One"), kind="slide"), block(p(LONG), prose=prose))
    )
    assert (texts(slides), notes(slides)) == (on_slide, said)


def test_notes_are_the_speakers_and_skipped_blocks_nobodys():
    slides = slides_of(
        page(
            TITLE,
            block(heading("One"), p("A."), kind="slide"),
            block(p(LONG), math("x"), kind="notes"),
            block(p("Hidden."), kind="skip"),
            cell(CODE_LINE) | {"visibility": "remove"},
            block(p("B.")),
        )
    )
    assert texts(slides) == "A. B."
    assert "Hidden" not in notes(slides) and LONG in notes(slides)


def test_fragments_appear_one_after_the_other():
    slides = slides_of(
        page(
            TITLE,
            block(heading("One"), p("A."), kind="slide"),
            block(p("B."), p("C."), kind="fragment"),
            block(p("D."), kind="fragment"),
        )
    )
    assert [item.fragment for item in slides[1].sheets[0].items] == [None, 0, 0, 1]


def test_sixty_words_are_enough_for_a_sheet():
    sentence = " ".join(["word"] * 23) + "."
    slides = slides_of(page(TITLE, block(heading("One"), *[p(sentence)] * 7, kind="slide")))
    sheets = slides[1].sheets
    assert [len(sheet.items) for sheet in sheets] == [2, 2, 2, 1]
    assert all(sheet.words <= WORDS for sheet in sheets)


def test_a_long_list_goes_on_and_keeps_its_numbers():
    items = [" ".join([f"n{number}"] * 18) + ". Second sentence." for number in range(1, 6)]
    slides = slides_of(page(TITLE, block(heading("One"), bullets(*items, ordered=True),
                                         kind="slide")))  # fmt: skip
    first, second = slides[1].sheets
    assert [item.node["start"] for item in first.items + second.items] == [1, 2, 3, 4, 5]
    assert "Second sentence" not in texts(slides)
    assert notes(slides).count("Second sentence") == 5


def test_bare_text_in_a_list_is_a_paragraph():
    bare = {"type": "list", "children": [{"type": "listItem", "children": [trees.text(LONG * 3)]}]}
    slides = slides_of(page(TITLE, block(heading("One"), bare, kind="slide")))
    assert texts(slides) == "The first sentence says it."


def test_a_new_heading_begins_a_sheet():
    slides = slides_of(page(TITLE, block(heading("One"), p("A."), heading("Two", 3), p("B."),
                                         kind="slide")))  # fmt: skip
    assert [plain(sheet.heading) for sheet in slides[1].sheets] == ["One", "Two"]
    assert not slides[1].sheets[1].again


def test_what_is_too_tall_goes_on_and_takes_along_what_leads_to_it():
    tall = "\n".join(["x"] * 20)
    slides = slides_of(
        page(
            TITLE,
            block(heading("One"), equation("x", "1", "eq"), p("Now this:"), kind="slide"),
            cell(tall, trees.stream("\n".join(["1"] * 16))),
            block(p("Is it right? We look."), equation("y", "2", "y"), equation("z", "3", "z")),
        )
    )
    assert shown(slides)[1] == ["math", "paragraph code", "outputs", "paragraph math math"]
    assert all(sheet.height <= ROOM for sheet in slides[1].sheets)


def test_an_answer_stays_with_its_question():
    filler = [equation("x", str(number), f"eq-{number}") for number in range(3)]
    slides = slides_of(
        page(TITLE, block(heading("One"), *filler, *trees.question("Why?", LONG), kind="slide"))
    )
    assert shown(slides)[1][-1].endswith("admonition details")


def test_folded_answers_do_not_count():
    asked = trees.question("Why?", " ".join(["because"] * 100))
    slides = slides_of(page(TITLE, block(heading("One"), *asked, kind="slide")))
    assert slides[1].sheets[0].words == 3


def test_a_note_that_is_too_long_is_shortened():
    note = {"type": "admonition", "kind": "note", "children": [p(LONG), p(LONG), p(LONG)]}
    slides = slides_of(page(TITLE, block(heading("One"), note, kind="slide")))
    assert slides[1].sheets[0].words < WORDS
    assert notes(slides).count("explains at some length") == 3


def test_hidden_code_shows_its_output_alone():
    slides = slides_of(page(TITLE, block(heading("One"), kind="slide"),
                            cell("draw()", trees.figure(), hide=True)))  # fmt: skip
    assert shown(slides)[1] == ["outputs"]


@pytest.mark.parametrize("form", [{"content": "<script>"}, {"path": "/0123.html"}])
def test_a_widget_has_a_sheet_of_its_own_also_where_mystmd_puts_it_into_a_file(form):
    widget = trees.display(text_plain="words")
    widget["data"]["text/html"] = form
    slides = slides_of(page(TITLE, block(heading("One"), p("It moves."), kind="slide"),
                            cell("flow", widget)))  # fmt: skip
    assert shown(slides)[-1] == ["paragraph code", "outputs"]


def test_a_cell_that_only_shows_a_source_is_the_source():
    listing = trees.display(
        text_html='<style></style><div class="highlight">', text_plain='def f():\n    """Why."""\n'
    )
    slides = slides_of(page(TITLE, block(heading("One"), kind="slide"),
                            cell("show.source(f)", listing)))  # fmt: skip
    assert shown(slides)[1] == ["outputs"]


def test_a_listing_does_without_docstrings():
    code = 'def f():\n    """Why.\n\n    More.\n    """\n    return "a # b"  # kept\n'
    assert without_docstrings(code) == 'def f():\n    return "a # b"  # kept\n'
    assert without_docstrings("def f(:") == "def f(:"
    only = 'def f():\n    """Why."""\n'
    assert without_docstrings(only) == only  # else nothing of it would be left


def test_tabs_and_cards_are_converted():
    tab = {"type": "tabItem", "title": "Python", "children": [p("A.")]}
    header = {"type": "cardTitle", "children": [trees.text("Card")]}
    card = {"type": "card", "children": [header, p("B.")]}
    grid = {"type": "grid", "children": [card]}
    slides = slides_of(page(TITLE, block(heading("One"), {"type": "tabSet", "children": [tab]},
                                         grid, kind="slide")))  # fmt: skip
    assert shown(slides)[1] == ["details admonition"]


def test_no_line_begins_with_a_stop():
    fixed = unbroken(p("See ", math("x"), ", which is"))
    kinds = [child["type"] for child in fixed["children"]]
    assert kinds == ["text", "span", "text"]
    assert plain(fixed) == "See \ufffc, which is"


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([block(p("A."))], "No part of chapters/02-a-chapter.md is marked as a slide"),
        ([TITLE, block(kind="slide"), block(heading("One"), kind="slide")], "slide 2 has nothing"),
        (
            [TITLE, block(heading("One"), {"type": "iframe", "src": "x"}, kind="slide")],
            "chapters/02-a-chapter.md, slide 2 (One): a slide cannot show a node of type 'iframe'",
        ),
    ],
)
def test_what_is_wrong_is_named(blocks, said):
    with pytest.raises(CourseError) as caught:
        slides_of(page(*blocks))
    assert said in caught.value.cause
    assert caught.value.remedy


def test_code_fits_its_room():
    assert code_size("x = 1") == CODE[0]
    assert code_size("x" * 100) < 19
    tall = "\n".join(["x"] * 22)
    assert code_height(tall, code_size(tall)) <= ROOM + 1
