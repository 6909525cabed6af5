"""Segmentation: what it says of every word, in the picture, its table, its caption and on paper."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lmcourse.tokenizers import recipes
from lmcourse.widgets import Segmentation
from tests.widgets.examples.merges import TEXTS, TOOLS
from tests.widgets.hosts import show_values
from tests.widgets.test_every_widget import figure, says
from tests.widgets.test_merges import opened

LONG = "lowestestestestestest"  # two lines of letters on a phone
NAMES = {"bpe": "BPE", "wordpiece": "WordPiece", "unigram": "Unigram"}


def alternative(page: Page) -> str:
    """The figure's, without the marks of direction around quoted tokens."""
    return re.sub("[\u2068\u2069]", "", figure(page).get_attribute("aria-label") or "")


def caption(page: Page) -> str:
    return re.sub("[\u2068\u2069]", "", page.locator(".lm-stage ~ p").first.inner_text())


def test_longest_first_loses_a_character_where_bpe_does(browser, tmp_path):
    with opened(browser, tmp_path, Segmentation(**TOOLS, text="lo☃w <unk>x")) as it:
        says(it.page, "would split 0 of 2 differently")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "split 0 of 1 words"),  # x</w>, x and ▁ x
        ("x w low", "split 0 of 3 words"),
        ("e 🙂 ☃", "split 0 of 3 words"),
        ("newestlow low", "split 1 of 2 words"),
    ],
)
def test_cuts_between_letters_are_compared(text, said, browser, tmp_path):
    with opened(browser, tmp_path, Segmentation(**TOOLS, text=text)) as it:
        says(it.page, f"They {said} differently")


@pytest.mark.parametrize("algorithm", TOOLS)
def test_a_long_word_goes_on_below_and_nothing_is_cut_off(algorithm, browser, tmp_path):
    widget = Segmentation(**TOOLS, text=LONG, algorithm=algorithm)
    with opened(browser, tmp_path, widget, width=360) as it:
        says(it.page, LONG)
        edges = it.page.evaluate(
            """() => {
                const stage = document.querySelector(".lm").getBoundingClientRect();
                return [...document.querySelectorAll(".lm-stage svg :is(text, rect)")]
                  .map((it) => [it.textContent, it.getBoundingClientRect()])
                  .filter(([_, it]) => it.left < stage.left + 5 || it.right > stage.right - 5)
                  .map(([words]) => words);
            }"""
        )
        assert edges == []
        below = it.page.locator(".lm-stage svg").evaluate(
            """(svg, from) => {
                const all = [...svg.querySelectorAll("text")];
                const start = all.findIndex((it) => it.textContent.startsWith(from));
                return all.slice(start + 1).map((it) => it.textContent);
            }""",
            f"How {NAMES[algorithm]} splits",
        )
        letters = re.sub(r"[^a-z]", "", "".join(below))
        assert all(letters.count(c) >= LONG.count(c) for c in set(LONG))


def test_the_steps_are_in_the_alternative_and_in_the_table(browser, tmp_path):
    text = "newestlow"
    with opened(browser, tmp_path, Segmentation(**TOOLS, text=text)) as it:
        page = it.page
        says(page, "BPE redoes")
        show_values(page)
        table = page.locator(".lm table")
        steps = TOOLS["bpe"].training.model.steps(text).steps[1:]
        for number, step in enumerate(steps, 1):
            words = f"{number}. {' + '.join(step.pair)}, merge {step.rank + 1}"
            assert words in alternative(page)
            expect(table.get_by_text(f"BPE, step {number}", exact=True)).to_be_visible()
        page.get_by_label("Algorithm").select_option("WordPiece")
        says(page, "WordPiece looks up")
        looks = TOOLS["wordpiece"].training.model.steps(text).steps
        for number, look in enumerate(looks, 1):
            assert (f"{number}. {look.piece}, found" in alternative(page)) == look.found
        expect(table.locator("tbody tr", has_text="WordPiece, step")).to_have_count(len(looks))
        page.get_by_label("Algorithm").select_option("Unigram")
        says(page, "on the best")
        best, _ = TOOLS["unigram"].training.model.nbest(f"▁{text}", 2)
        assert alternative(page).count("on the best") == len(best.tokens)


@pytest.mark.parametrize(
    ("algorithm", "text", "said"),
    [
        (
            "wordpiece",
            "x" * 101,
            "101 characters: WordPiece looks up none of more than 100, and it is [UNK]",
        ),
        ("wordpiece", "low☃est", "No piece fits at “☃”, and so the whole word is [UNK]."),
        ("unigram", "lo☃w", "“☃”: no piece, which counts −"),
        ("bpe", " ", "There is no text."),
    ],
)
def test_the_caption_says_why(algorithm, text, said, browser, tmp_path):
    with opened(browser, tmp_path, Segmentation(**TOOLS, text=text, algorithm=algorithm)) as it:
        says(it.page, "There is no text" if text == " " else "Tokens")
        assert said in caption(it.page)
        assert ("differently" in caption(it.page)) == (text != " ")


def test_a_penalty_is_no_log_probability(browser, tmp_path):
    widget = Segmentation(**TOOLS, text="lo☃w low", word=0, algorithm="unigram")
    scores = TOOLS["unigram"].training.model.scores
    penalty = f"−{10 - min(scores.values()):.3g}"
    with opened(browser, tmp_path, widget) as it:
        says(it.page, "☃, a penalty, −")
        assert f"counts {penalty}, a penalty 10 below" in caption(it.page)
        assert "log probability" not in caption(it.page)
        lost = it.page.locator(".lm-stage svg rect[stroke-dasharray][width='50']")
        expect(lost).to_have_attribute("fill-opacity", "0")  # as the chip of what has no token
        it.page.get_by_label("Your text").fill("low")
        says(it.page, "has the log probability")


def test_on_a_phone_a_tapped_word_comes_into_view(browser, tmp_path):
    text = "lowest newest widest lower " * 6
    widget = Segmentation(**TOOLS, text=text.strip(), word=0)
    with opened(browser, tmp_path, widget, width=390, touch=True) as it:
        says(it.page, "BPE redoes")
        heading = it.page.locator(".lm-stage svg text", has_text="How BPE splits")
        it.page.evaluate("scrollTo(0, 0)")
        box = it.page.get_by_role("grid", name="Tokens").bounding_box()
        assert heading.bounding_box()["y"] > 900
        it.page.touchscreen.tap(box["x"] + 110, box["y"] + 20)
        it.page.wait_for_function(
            "scrollY > 0 && [...document.querySelectorAll('.lm-stage text')].some((it) => "
            "it.textContent.startsWith('How BPE') && it.getBoundingClientRect().top < 800)"
        )
        assert it.errors == []


# --- on paper ---


def shown(page: Page, name: str) -> list[str]:
    """The tokens of a row, as the page says them."""
    (line,) = [it for it in alternative(page).split("\n") if it.startswith(f"{name}: ")]
    return line.removeprefix(f"{name}: ").split(" ")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"word": 1},
        {"word": 99, "algorithm": "wordpiece"},
        {"algorithm": "unigram"},
        {"longest_first": True},
    ],
    ids=str,
)
def test_words_on_paper_say_the_same_cuts_and_the_same_word(
    settings: dict[str, Any], browser, tmp_path
):
    widget = Segmentation(**TOOLS, text="lowest [UNK] wide☃st, newestlow", **settings)
    with opened(browser, tmp_path, widget) as it:
        says(it.page, "Tokens:")
        rows = [("BPE", "BPE"), ("WordPiece", "WordPiece"), ("Unigram", "unigram")]
        if settings.get("longest_first"):
            rows.append(("longest first", "not what BPE does"))
        for there, here in rows:
            tokens = shown(it.page, there)
            assert f"{here}, {len(tokens)} tokens ({' '.join(tokens)})" in widget.alt
        heading = it.page.locator(".lm-stage svg text", has_text="How ").text_content()
        word = re.search("“\u2068(.*)\u2069”", heading)[1]
        assert f"splits “{word}”: " in widget.alt


def test_words_on_paper_name_what_is_there():
    one = Segmentation(bpe=TOOLS["bpe"], text="a b", word=99)
    assert "as BPE splits it" in one.alt and "word 100" not in one.alt
    assert "how BPE splits “b”" in one.alt
    assert Segmentation(**TOOLS, text="").alt.startswith("Segmentation: there is no text")
    strange = Segmentation(bpe=recipes.gpt2(TEXTS, 280), text="\u200b", longest_first=True)
    assert "⟨200B⟩" in strange.alt
