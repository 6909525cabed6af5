"""What a slide shows of a paragraph."""

import pytest

from coursekit.book.slides.wording import announces, count, lead, plain
from tests.slides.trees import LONG, math, p, text

EMPHASIS = {"type": "emphasis", "children": [text("so. Really")]}


@pytest.mark.parametrize(
    ("paragraph", "shown"),
    [
        (p(LONG), "The first sentence says it."),
        (p("Short. Also short. Is it?"), "Short. Also short. Is it?"),
        (p("One of ", math("p. Q"), " and two. " + LONG * 2), "One of \ufffc and two."),
        (p("It ends (in a remark.) " + LONG * 2), "It ends (in a remark.)"),
        (p("It ends (There is more. Much more) here. " + LONG), "It ends (There is more. Much"),
        (p("Elman et al. say so, e.g. here, cf. Fig. 3. " + LONG), "Elman et al. say so, e.g. h"),
        (p("A value of 0.5 is used. " + LONG), "A value of 0.5 is used. The first sentence says"),
        (p("This is ", EMPHASIS, " it is. " + LONG * 2), "This is so. Really it is."),
        (p("Start. " + LONG + " Both sides:"), "Start. The first sentence says it. … Both sides:"),
        (p(LONG + " It is this:"), "The first sentence says it. … It is this:"),
    ],
)
def test_it_shows_the_first_sentences(paragraph, shown):
    assert plain(lead(paragraph)).startswith(shown)
    words = count([lead(paragraph)])
    assert words <= 24 + 3 or words == count([paragraph])


def test_a_short_paragraph_is_shown_as_it_is():
    paragraph = p("Short. ", math("x"), " is short.")
    assert lead(paragraph) is paragraph


@pytest.mark.parametrize(
    "sentence",
    [
        "One.",
        "One (there is more. Much more) here.",
        "Elman et al. Say so, e.g. Here, cf. Fig. 3.",
        "J. Elman says 0.5 is enough.",
        "Is it?",
    ],
)
def test_one_sentence(sentence):
    assert plain(lead(p(sentence + " Two."), limit=0)) == sentence


def test_no_cut_goes_through_a_node():
    shown = lead(p("Long ", {"type": "strong", "children": [text("one. Two")]}, ". " + LONG))
    assert plain(shown) == "Long one. Two. The first sentence says it."
    assert shown["children"][1]["type"] == "strong"


def test_a_colon_announces():
    assert announces(p("Both sides, for ", math("x"), ":"))
    assert not announces(p("Both sides."))
