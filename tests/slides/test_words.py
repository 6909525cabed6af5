"""Words and sentences of a slide."""

import pytest

from coursekit.book.slides.wording import count, plain, sentences
from tests.slides import trees
from tests.slides.trees import bullets, equation, math, p


def test_a_formula_is_one_word_and_an_equation_none():
    assert plain(p("See ", math("x + y"), ".")) == "See \ufffc."
    assert count([p("See ", math("x + y"), "."), equation("x", "1", "eq")]) == 2


def test_code_and_folded_text_do_not_count():
    code = {"type": "code", "value": "one two"}
    assert count([code, bullets("One two.", "Three."), *trees.question("Why?", "So it is.")]) == 5


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
def test_sentences(sentence):
    assert sentences(p(sentence)) == 1
    assert sentences(p(sentence + " Two.")) == 2
