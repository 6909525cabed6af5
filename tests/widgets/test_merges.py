"""Merges and Segmentation: the browser cuts as Python does, replays the training, and refuses."""

import json
import re
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.tokenizers import BPE, recipes
from lmcourse.tokenizers.recipes import Recipe, recipe_of
from lmcourse.tokenizers.well_known import with_parts
from lmcourse.widgets import Merges, Segmentation
from tests.widgets import golden_merges, strings
from tests.widgets.examples import tap, walk
from tests.widgets.examples.merges import LAST, TEXTS, TOOLS
from tests.widgets.hosts import host_page, open_file, show_values
from tests.widgets.test_every_widget import says
from tests.widgets.test_modules import node

COMPARE = Path(__file__).with_name("merges_compare.mjs")
P, N = pre_tokenizers, normalizers
MODEL = TOOLS["bpe"].tokenizer.model


# --- the browser's tokens are Python's ---


def random_text(random: Random) -> str:
    """Draw English, hostile words, or any characters of Unicode."""
    kind = random.random()
    if kind < 0.4:
        return " ".join(strings.tokens(random, random.randint(0, 6)))
    if kind < 0.6:
        letters = "lowerstdbi naLOW.,'\t"
        return "".join(random.choices(letters, k=random.randint(1, 60)))
    most = random.choice([0x7F, 0x24F, 0x2FFF, 0xFFFF, 0x1FFFF, 0x10FFFF])
    drawn = (random.randrange(most) for _ in range(random.randint(1, 30)))
    return "".join(chr(it) for it in drawn if not 0xD800 <= it <= 0xDFFF)


def in_javascript(plain: list[dict[str, Any]], texts: list[str]) -> list[Any]:
    """The [piece, id] pairs of each tokenizer and text, as the page computes them."""
    node("--version")  # skips where there is no node
    given = json.dumps({"tokenizers": plain, "texts": texts})
    done = subprocess.run(
        ["node", str(COMPARE)], input=given, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[:2000]
    found: list[Any] = json.loads(done.stdout)
    return found


def compared() -> list[Recipe]:
    """The recipes' kinds, and parts that no recipe joins so."""
    bare = Tokenizer(models.Unigram(_scored("ab"), 1))
    marked = with_parts(
        models.Unigram(_scored("▁ab "), 1), pre_tokenizer=P.Metaspace(prepend_scheme="first")
    )
    spaced = with_parts(
        TOOLS["wordpiece"].tokenizer.model,
        normalizer=N.BertNormalizer(),
        pre_tokenizer=P.Whitespace(),
    )
    prefixed = with_parts(
        recipes.gpt2(TEXTS, 280).tokenizer.model,
        normalizer=N.BertNormalizer(False, False, True, False),
        pre_tokenizer=P.Sequence([P.WhitespaceSplit(), P.ByteLevel()]),
    )
    return [*golden_merges.tools(), *(Recipe(it, None) for it in (bare, spaced, prefixed, marked))]


def _scored(characters: str) -> list[tuple[str, float]]:
    pieces = [characters, "<unk>", *characters]
    return [(it, -1.0 - index / 7) for index, it in enumerate(pieces)]


def test_a_page_cuts_thousands_of_texts_as_python_does():
    random = Random(0)
    texts = [random_text(random) for _ in range(300)]
    every = (chr(code) for code in range(0x20000) if not 0xD800 <= code <= 0xDFFF)
    texts += ["".join(it) for it in zip(*[every] * 512, strict=False)]
    chosen = compared()
    plain = [it.plain() for it in chosen]
    for recipe, cuts in zip(chosen, in_javascript(plain, texts), strict=True):
        recipe.tokenizer.encode_special_tokens = True
        for text, found in zip(texts, cuts, strict=True):
            wanted = golden_merges.cut(recipe, [text])[0]
            assert found == wanted, (recipe, text)


def test_at_each_step_a_page_cuts_as_what_was_learned_by_then():
    recipe, scored = TOOLS["bpe"], TOOLS["unigram"]
    words = ["lowest", "newer", "widestlow", "xlow"]
    plain = recipe.plain()
    facts = [{**plain, "step": step} for step in range(LAST + 1)]
    for step, cuts in enumerate(in_javascript(facts, words)):
        model = BPE(
            unk_token="<unk>",
            end_of_word_suffix="</w>",
            vocab=recipe.training.model.vocab,
            merges=recipe.training.model.merges[:step],
        )
        wanted = [[[it.value, it.id] for it in model.tokenize(word)] for word in words]
        assert cuts == wanted, step
    trainer, counts = scored.training.trainer, scored.training.word_counts
    rounds = [scores for step, scores in trainer.rounds(counts) if step.kind != "em"]
    facts = [{**scored.plain(), "step": step} for step in range(len(rounds))]
    for scores, cuts in zip(rounds, in_javascript(facts, words), strict=True):
        model = trainer.model(scores)
        wanted = [[[it.value, it.id] for it in model.tokenize(f"▁{word}")] for word in words]
        assert cuts == wanted


def test_the_reference_is_what_the_tokenizers_say_today():
    kept = json.loads(golden_merges.PATH.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(golden_merges.golden()))
    remedy = "run `python -m tests.widgets.golden_merges` and commit what it writes"
    assert len(kept) == len(found), remedy
    for old, new in zip(kept, found, strict=True):
        for part in ("texts", "words", "training"):
            assert _rounded(old[part]) == _rounded(new[part]), remedy
        assert _rounded(old["facts"]) == _rounded(new["facts"]), remedy


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {name: _rounded(it) for name, it in value.items()}
    return [_rounded(it) for it in value] if isinstance(value, list) else value


# --- what Python refuses ---


def bare(model: Any, **parts: Any) -> Recipe:
    """A tokenizer of the library as the widgets take it."""
    return recipe_of(with_parts(model, **parts))


@pytest.mark.parametrize(
    ("make", "what", "remedy"),
    [
        (lambda: Segmentation(), "no tokenizer to show", "recipe"),
        (lambda: Segmentation(bpe=5), "bpe is of type int, not a recipe", "recipe"),
        (lambda: Segmentation(wordpiece=TOOLS["bpe"]), "of the kind bpe", "bpe=…"),
        (lambda: Segmentation(bpe=bare(models.BPE())), "no vocabulary yet", "Train"),
        (
            lambda: Segmentation(bpe=bare(models.WordLevel({"a": 0}, "a"))),
            "has no pieces",
            "BPE",
        ),
        (
            lambda: Segmentation(bpe=bare(MODEL, normalizer=N.NFC())),
            "normalizer NFC",
            "BertNorm",
        ),
        (
            lambda: Segmentation(bpe=bare(MODEL, pre_tokenizer=P.Digits())),
            "Digits",
            "Metaspace",
        ),
        (
            lambda: Segmentation(bpe=bare(models.BPE({"a": 1}, []))),
            "not consecutive",
            "Number",
        ),
        (
            lambda: Segmentation(bpe=bare(models.BPE({"a": 0}, [], fuse_unk=True))),
            "option fuse_unk",
            "without it",
        ),
        (lambda: Segmentation(**TOOLS, text="x" * 201), "201 characters", "sentence"),
        (lambda: Segmentation(**TOOLS, text="👩" * 101), "202 characters", "emoji"),
        (lambda: Segmentation(**TOOLS, text="\ud800"), "surrogate", "Decode"),
        (lambda: Segmentation(**TOOLS, word=200), "word is 200", "range"),
        (lambda: Segmentation(bpe=TOOLS["bpe"], algorithm="unigram"), "'unigram'", "bpe"),
        (lambda: Merges(**TOOLS, step=LAST + 99), f"step is {LAST + 99}", "range"),
        (
            lambda: Merges(bpe=recipe_of(TOOLS["bpe"].tokenizer)),
            "has no training",
            "Segmentation",
        ),
        (
            lambda: Merges(bpe=recipes.char_bpe(TEXTS, 30, backend="tokenizers")),
            "has no training",
            "backend='course'",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_remedy(make, what, remedy):
    with pytest.raises(CourseError) as error:
        make()
    assert what in str(error.value) and remedy in error.value.remedy


def test_added_tokens_are_refused_but_special_ones_are_text():
    tokenizer = recipes.char_bpe(TEXTS, 30).tokenizer
    tokenizer.add_special_tokens(["[NEW]"])
    assert Segmentation(bpe=recipe_of(tokenizer)).tokenizers["bpe"]["kind"] == "bpe"
    tokenizer.add_tokens(["widget"])
    with pytest.raises(CourseError, match="added token 'widget'"):
        Segmentation(bpe=recipe_of(tokenizer))


def test_too_large_a_training_and_too_large_a_vocabulary_are_refused(monkeypatch):
    monkeypatch.setattr("lmcourse.widgets.merges.MOST_WORK", 10)
    with pytest.raises(CourseError, match="merges of 4 words are too many"):
        Merges(bpe=TOOLS["bpe"])
    tokenizer = Tokenizer(models.BPE({f"{'x' * 50}{it}": it for it in range(100_000)}, []))
    with pytest.raises(CourseError, match=r"take \d\.\d MB, and a page can hold 4 MB") as error:
        Segmentation(bpe=recipe_of(tokenizer))
    assert "vocab_size" in error.value.remedy


@pytest.fixture(scope="module")
def large() -> dict[str, Recipe]:
    """As the gallery shows them."""
    texts = [review.text for review in BookWorld().sample(200, seed=6)]
    return {
        "bpe": recipes.char_bpe(texts, 800),
        "wordpiece": recipes.bert(texts, 800),
        "unigram": recipes.albert(texts, 800),
    }


def test_a_page_of_800_tokens_stays_light(large):
    for widget in (Merges(**large), Segmentation(**large)):
        assert len(json.dumps(widget.state())) < 300_000


# --- what a reader does ---


def opened(browser: Browser, tmp_path: Path, widget: Any, **options: Any) -> Any:
    return open_file(browser, host_page("file", widget, tmp_path), **options)


def type_in(page: Page, text: str) -> None:
    page.get_by_label("Your text").fill(text)


def test_a_token_says_its_id_and_how_it_was_learned(browser, tmp_path):
    with opened(browser, tmp_path, Segmentation(**TOOLS, text="lowest")) as it:
        page = it.page
        says(page, "BPE redoes")
        grid = page.get_by_role("grid", name="Tokens")
        grid.hover(position={"x": 100, "y": 20})
        id_ = TOOLS["bpe"].tokenizer.token_to_id("lo")
        rank = TOOLS["bpe"].training.model.merges.index(("l", "o")) + 1
        tip = page.locator(".lm-tip")
        expect(tip).to_be_visible()
        assert tip.inner_text().replace("\u2068", "").replace("\u2069", "") == (
            f"“lo”\nBPE, id {id_}, merge {rank}"
        )
        page.mouse.move(5, 5)
        expect(tip).to_be_hidden()
        walk(page, "Tokens", "Home", "ArrowDown", "ArrowDown")
        expect(page.get_by_role("status")).to_contain_text("Unigram, id ")
        expect(page.get_by_role("status")).to_contain_text("log probability −")
        page.keyboard.press("Enter")
        says(page, "The most probable path of pieces wins: ▁low")
        assert it.errors == []


def test_bpe_is_not_longest_match_first(browser, tmp_path):
    # learned: b + c, then a + b; "abc" is a token that no merge of these characters reaches
    vocab = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "bc": 4, "ab": 5, "abc": 6}
    model = models.BPE(vocab, [("b", "c"), ("a", "b"), ("ab", "c")], unk_token="<unk>")
    tokenizer = with_parts(model, pre_tokenizer=P.WhitespaceSplit())
    widget = Segmentation(bpe=recipe_of(tokenizer), text="abc ab")
    with opened(browser, tmp_path, widget) as it:
        says(it.page, "would split 1 of 2 differently from BPE")
        says(it.page, "BPE: a bc ab")
        it.page.get_by_role("checkbox").check()
        says(it.page, "longest first: abc ab")
        assert it.errors == []


def test_the_words_of_a_text_are_pinned_by_a_click(browser, tmp_path):
    with opened(browser, tmp_path, Segmentation(**TOOLS, text="low newest")) as it:
        says(it.page, "BPE redoes")
        heading = it.page.locator(".lm-stage svg .strong").last
        expect(heading).to_contain_text("newest")
        tap(it.page, "Tokens", 0.12, 0.2)
        expect(heading).to_contain_text("low")


@pytest.mark.parametrize(
    "text", ["", "   ", "\u200b", "x" * 200, "👩‍👩‍👧" * 25, "שלום مرحبا \u202eabc", "a\u0301 " * 66]
)
def test_any_text_that_is_typed_is_shown(text, browser, tmp_path):
    recipe = recipes.gpt2(TEXTS, 280)
    widget = Segmentation(**{**TOOLS, "bpe": recipe})
    with opened(browser, tmp_path, widget, width=390) as it:
        says(it.page, "BPE redoes")
        type_in(it.page, text)
        says(it.page, "Tokens: BPE" if text.strip() else "There is no text")
        for algorithm in ("WordPiece", "Unigram", "BPE"):
            it.page.get_by_label("Algorithm").select_option(algorithm)
            it.page.wait_for_timeout(40)
        if text.strip():
            recipe.tokenizer.encode_special_tokens = True
            says(it.page, f"BPE {len(recipe.tokenizer.encode(text).ids)}")
        assert it.errors == []
        width = it.page.evaluate("document.documentElement.scrollWidth")
        assert width == 390


def test_the_training_is_stepped_played_and_scrubbed(browser, tmp_path):
    with opened(browser, tmp_path, Merges(**TOOLS, text="lowest", step=0)) as it:
        page = it.page
        says(page, f"After 0 of {LAST} merges")
        says(page, "Your text: l o w e s t</w>")
        first = TOOLS["bpe"].training.steps[0]
        says(page, f"become “\u2068{first.token}\u2069”")
        expect(page.get_by_text(f"▶ {' + '.join(first.pair)}")).to_be_visible()
        page.get_by_role("button", name="Step ▶").click()
        says(page, "After 1 of")
        page.get_by_role("button", name="Play").click()
        says(page, "After 3 of")
        page.get_by_role("button", name="Pause").click()
        walk(page, "Steps of the training", "End")
        says(page, f"After {LAST} of {LAST}")
        page.get_by_label("Algorithm").select_option("WordPiece")
        says(page, "How WordPiece learned")
        page.get_by_label("Algorithm").select_option("Unigram")
        says(page, "How Unigram learned\nRound")
        page.get_by_role("button", name="◀ Step back").click()
        says(page, ", the seeds: ")
        assert it.errors == []


def test_the_rounds_of_a_unigram_add_up(large, browser, tmp_path):
    rounds = large["unigram"].plain()["training"]["rounds"]
    sizes = [len(it["kept"]) for it in rounds]
    for before, after, it in zip(sizes[:-1], sizes[1:], rounds[1:], strict=True):
        assert before - it["seldom"] - it["pruned"] + it["added"] == after
    last = len(rounds) - 1
    assert rounds[last]["added"] > 0  # or the next lines would show nothing
    with opened(browser, tmp_path, Merges(unigram=large["unigram"], step=last)) as it:
        page = it.page
        says(page, f"{rounds[last]['added']} lost characters are added again; {sizes[last]} stay.")
        expect(page.get_by_text(re.compile(r"^Pruned, \d of \d+: probability"))).to_be_visible()
        assert falling(page)
        page.get_by_role("button", name="◀ Step back").click()
        spared = re.compile(r"^Pruned, \d of \d+, and ▶ stays: nats that a word loses")
        expect(page.get_by_text(spared)).to_be_visible()
        assert falling(page)
        walk(page, "Steps of the training", "Home")
        expect(page.get_by_text("Seeds: probability")).to_be_visible()
        assert falling(page)


def falling(page: Page) -> bool:
    """Whether there are bars, the longest first, and one is clearly longer than the last."""
    marks = page.locator(".lm-stage svg rect[height='18']")
    widths = marks.evaluate_all("all => all.map((it) => Number(it.getAttribute('width')))")
    return len(widths) > 4 and widths == sorted(widths)[::-1] and widths[0] > 1.1 * widths[-1]


def test_scores_have_a_unit(browser, tmp_path):
    pmi = recipes.bert(TEXTS, 40, score="pmi")
    for settings, unit in (
        ({"bpe": TOOLS["bpe"]}, "how often they occur"),
        ({"wordpiece": TOOLS["wordpiece"]}, "nats that the corpus gains"),
        ({"wordpiece": pmi}, "count ÷ product of the parts’ counts"),
    ):
        with opened(browser, tmp_path, Merges(**settings, step=0)) as it:
            expect(it.page.get_by_text(f"Pairs: {unit}")).to_be_visible()
            show_values(it.page)
            expect(it.page.get_by_role("columnheader", name=unit)).to_be_visible()


@pytest.mark.parametrize("width", [1000, 390])
def test_nothing_jumps_from_step_to_step(width, large, browser, tmp_path):
    text = "unbelievably rare words, which take many pieces at first"
    with opened(browser, tmp_path, Merges(**large, text=text, step=0), width=width) as it:
        page = it.page
        says(page, "After 0 of")
        places = []
        for step in (0, 1, 40, 300, 716):
            page.get_by_label("Step", exact=True).fill(str(step))
            says(page, f"After {step} of 716")
            found = [page.locator("text", has_text=it) for it in ("Pairs:", "Tokens a word")]
            stage = page.locator(".lm-stage")
            places.append([round(it.bounding_box()["y"]) for it in (*found, stage)])
        assert places == [places[0]] * 5
        below = page.get_by_text("After 716 of 716").bounding_box()
        player = page.get_by_role("button", name="Step ▶").bounding_box()
        assert 0 < below["y"] - player["y"] < 120 and below["y"] < places[0][2]


def test_a_field_takes_a_step_and_says_how_many_there_are(browser, tmp_path):
    with opened(browser, tmp_path, Merges(**TOOLS, step=0)) as it:
        page, field = it.page, it.page.get_by_label("Step", exact=True)
        expect(field).to_have_value("0")
        field.fill("3")
        says(page, f"After 3 of {LAST}")
        field.fill(str(LAST + 1))
        why = page.get_by_text(f"An integer from 0 to {LAST} is needed; 3 stays.")
        expect(why).to_be_visible()
        says(page, f"After 3 of {LAST}")
        field.press("Enter")
        expect(field).to_have_value("3")
        expect(why).to_be_visible()
        field.fill("1.5")
        field.blur()
        expect(field).to_have_value("3")
        expect(why).to_be_visible()
        page.get_by_role("button", name="Step ▶").click()
        expect(field).to_have_value("4")
        expect(why).to_have_count(0)
        page.get_by_label("Algorithm").select_option("Unigram")
        rounds = len(TOOLS["unigram"].plain()["training"]["rounds"]) - 1
        expect(field).to_have_attribute("max", str(rounds))
        expect(field).to_have_value(str(min(4, rounds)))


def test_a_long_training_plays_in_less_than_a_minute(large, browser, tmp_path):
    with opened(browser, tmp_path, Merges(**large, step=0)) as it:
        it.page.get_by_role("button", name="Play").click()
        it.page.wait_for_timeout(3000)
        it.page.get_by_role("button", name="Pause").click()
        assert int(it.page.get_by_label("Step", exact=True).input_value()) > 20  # at 2 a second: 6


def test_words_on_paper_say_what_comes_next(browser, tmp_path):
    step = TOOLS["bpe"].training.steps[2]
    widget = Merges(**TOOLS, text="lowest new", step=2)
    left, right = step.pair
    assert f"the next merges “{left}” and “{right}”, which" in widget.alt
    assert f"adjacent {step.count} times, into “{step.token}”" in widget.alt
    for algorithm, number in (("bpe", 2), ("wordpiece", 5), ("unigram", 0), ("unigram", LAST)):
        widget = Merges(**TOOLS, text="lowest new", algorithm=algorithm, step=number)
        with opened(browser, tmp_path, widget) as it:
            says(it.page, "Your text: ")
            alternative = it.page.locator(".lm-stage svg").get_attribute("aria-label")
            tokens = alternative.split("Your text: ")[1]
            assert f"is split into {len(tokens.split())} tokens ({tokens})" in widget.alt
    assert "none is left" in Merges(**TOOLS, step=LAST).alt
    assert "seed pieces" in Merges(unigram=TOOLS["unigram"], step=0).alt
    assert "text" not in Merges(**TOOLS, text="").alt


def test_the_table_has_the_candidates_of_the_next_merge(browser, tmp_path):
    with opened(browser, tmp_path, Merges(bpe=TOOLS["bpe"], step=3)) as it:
        says(it.page, "After 3 of")
        show_values(it.page)
        cells = it.page.locator(".lm table tbody tr").first
        step = TOOLS["bpe"].training.steps[3]
        expect(cells).to_contain_text(" + ".join(step.pair))
        expect(cells).to_contain_text(str(step.count))
