"""Masking: what it draws, compares and refuses, in Python and in a browser."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect

from lmcourse.errors import CourseError
from lmcourse.widgets import Masking
from lmcourse.widgets.masking_draw import Rules, draw, numbers, units_of
from lmcourse.widgets.packing import divergence
from lmcourse.widgets.tokens import SPECIAL
from tests.widgets import golden_masking
from tests.widgets.examples import press, tap, walk
from tests.widgets.examples.masking import GIVEN, TOKENS, WORDS
from tests.widgets.hosts import host_page, open_file, show_values
from tests.widgets.test_every_widget import figure, says

BERT = Rules("token", 0.15, 0.8, 0.1)


@pytest.mark.parametrize("name", golden_masking.GOLDENS)
def test_the_reference_is_what_python_says_today(name):
    kept = json.loads(golden_masking.path(name).read_text(encoding="utf-8"))
    found = json.loads(json.dumps(golden_masking.GOLDENS[name]()))
    remedy = "run `python -m tests.widgets.golden_masking` and commit what it writes"
    assert golden_masking.near(kept, found), remedy


def test_the_generator_is_mulberry32():
    stream = numbers(0, 0)  # published for the seed 0
    assert [next(stream) for _ in range(2)] == [0.26642920868471265, 0.0003297457005828619]
    many = numbers(5, 0)
    assert np.mean([next(many) for _ in range(20_000)]) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("kind", ["token", "word", "span"])
def test_shares_are_kept_on_average(kind):
    words = [i // 2 for i in range(200)]
    actions = np.array(
        [
            draw(BERT._replace(kind=kind), words, [0] * 200, 7, seed, 3).actions
            for seed in range(200)
        ]
    )
    assert (actions > 0).mean() == pytest.approx(0.15, abs=0.01)
    shares = [(actions == action).sum() / (actions > 0).sum() for action in (1, 2, 3)]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.03)
    together = (actions.reshape(200, 100, 2) > 0).all(-1) == (actions.reshape(200, 100, 2) > 0).any(
        -1
    )
    assert (together.mean() == 1) == (kind != "token")


def test_spans_are_as_long_as_spanberts_and_stop_at_special_tokens():
    special = [int(i % 50 == 0) for i in range(400)]
    lengths = []
    for seed in range(300):
        actions = draw(BERT._replace(kind="span"), range(400), special, 1, seed, 0).actions
        lengths += [len(run) for run in re.findall(r"[123]+", "".join(map(str, actions)))]
        assert not any(action for action, never in zip(actions, special, strict=True) if never)
    assert 3.2 < np.mean(lengths) < 5  # 3.8; some are cut at an edge, some run into each other
    assert units_of([1, 1, 2], [0, 0, 0]) == [(0, 2), (2, 3)]


def test_special_tokens_stay_and_python_reads_what_the_page_shows(browser: Browser, tmp_path: Path):
    widget = Masking(TOKENS, kind="word", rate=1, seed=5)
    drawn = widget.drawn
    assert drawn.actions[0] == drawn.actions[-1] == 0 and all(drawn.actions[1:-1])
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        show_values(it.page)
        column = it.page.locator(".lm-table tbody td:nth-child(3)")
        expect(column).to_have_text(widget.read)


def test_given_draws_are_told_apart():
    selected = [[0] * 14, [0] * 14]
    selected[1][2] = selected[1][3] = selected[1][4] = 1
    read = [TOKENS, [*TOKENS[:2], "[MASK]", "dull", *TOKENS[4:]]]
    widget = Masking(TOKENS, selected=selected, read=read)
    assert widget.kind == "given" and not any(widget.drawn.actions)
    widget.epoch = 1
    assert widget.drawn.actions[:6] == [0, 0, 1, 2, 3, 0] and widget.read == read[1]
    widget.dynamic = False
    assert widget.read == TOKENS
    assert Masking(TOKENS, selected=torch.tensor(selected), epoch=1).read[2:5] == ["[MASK]"] * 3


def test_divergence_is_kl_in_nats():
    exact, model = np.array([0.5, 0.5, 0]), np.array([0.25, 0.25, 0.5])
    assert divergence(exact, model) == pytest.approx(np.log(2))
    assert divergence(exact, exact) == 0
    assert divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == np.inf
    sent = Masking(["a"], vocabulary=["a", "b"], exact=[[0.5, 0.5]], model=[[1, 0]])
    assert sent._held["divergence"] == [[-1]] and "KL(exact ‖ model) is ∞" in sent.alt


@pytest.mark.parametrize(
    ("tokens", "options", "says"),
    [
        ([], {}, r"tokens is empty.*at least one"),
        (["a"] * 513, {}, r"513 tokens; Masking shows 512.*tokens\[:512\]"),
        (TOKENS, {"special": [1]}, r"special has the shape \(1,\), not \(14,\)"),
        (TOKENS, {"special": [0.5] * 14}, r"special has values other than 0 and 1"),
        (TOKENS, {"word_ids": [1, 2]}, r"word_ids has 2 entries for 14.*encoding\.word_ids"),
        (TOKENS, {"word_ids": [-1] * 14}, r"word_ids\[0\] is -1.*None for special"),
        (TOKENS, {"read": [TOKENS]}, r"read needs selected"),
        (TOKENS, {"selected": [[0, 1]]}, r"selected has the shape \(1, 2\)"),
        (TOKENS, {"selected": [[0] * 14], "read": []}, r"not a list of 1 texts"),
        (TOKENS, {"selected": [[0] * 14], "read": [["x"] * 14]}, r"read\[0\]\[0\] is 'x'.*Select"),
        (TOKENS, {"model": GIVEN["model"]}, r"need a vocabulary"),
        (TOKENS, GIVEN | {"vocabulary": [*WORDS[1:], WORDS[1]]}, r"twice.*once"),
        (TOKENS, GIVEN | {"model": GIVEN["model"][1:]}, r"model has the shape \(13, 1\d\)"),
        (
            TOKENS,
            GIVEN | {"model": 2 * GIVEN["model"]},
            r"model\[0\] is not a distr.*sum is 2.*soft",
        ),
        (TOKENS, GIVEN | {"exact": GIVEN["exact"][None]}, r"several draws, but selected is None"),
        (
            TOKENS,
            GIVEN | {"exact": GIVEN["exact"][None], "selected": [[0] * 14]},
            r"not for the same draws",
        ),
        (["unknown", *TOKENS[1:]], GIVEN, r"'unknown' at position 0.*rows of zeros"),
        (TOKENS, {"rate": 1.5}, r"rate is 1\.5, not between 0 and 1"),
        (TOKENS, {"kind": "given"}, r"kind 'given' is unknown.*token, word, span"),
        (TOKENS, {"epoch": 10}, r"epoch is 10, not between 0 and 9"),
        (TOKENS, {"position": 14}, r"position is 14"),
        (TOKENS, {"seed": -1}, r"seed is -1"),
        (TOKENS, {"answer": dict, "selected": [[0] * 14]}, r"answer is for typed texts"),
        (TOKENS, {"answer": 5}, r"answer is 5, not a function.*leave out answer"),
        (TOKENS, {"tokenize": "split"}, r"tokenize is 'split', not a function"),
        (TOKENS, {"answer": list}, r"answer\(tokens\) returned list.*vocabulary, model, exact"),
        (TOKENS, {"text": " "}, r"text has 0 tokens\. Write 1 to 512"),
        (TOKENS, {"text": "x " * 513}, r"text has 513 tokens"),
        (TOKENS, {"text": "x" * 4001}, r"4,001 characters"),
        (TOKENS, {"selected": [[0] * 14], "text": "new"}, r"for another text.*selected"),
    ],
)
def test_what_does_not_fit_is_refused(tokens, options, says):
    with pytest.raises(CourseError, match=says):
        Masking(tokens, **options)


def test_half_precision_and_one_draw_are_taken():
    rows = torch.randn(14, 400, generator=torch.manual_seed(0)).softmax(-1)
    words = [*WORDS, *(f"w{i}" for i in range(400 - len(WORDS)))]
    for dtype in (torch.bfloat16, torch.float16):
        Masking(TOKENS, vocabulary=words, model=rows.to(dtype))
    with pytest.raises(CourseError, match=r"sum is 0\.99"):
        Masking(TOKENS, vocabulary=words, model=0.99 * rows)
    one = [0, 1, 1, *[0] * 11]
    for selected in (one, np.array(one, bool), torch.tensor(one)):
        assert Masking(TOKENS, selected=selected).read[:4] == ["[CLS]", "[MASK]", "[MASK]", "is"]


def test_the_words_for_paper_are_true():
    plain, with_answers = Masking(TOKENS, position=3), Masking(TOKENS, position=3, **GIVEN)
    assert "of 12 tokens are selected" in plain.alt  # [CLS] and [SEP] never are
    assert "Position 3, “is”: there is no prediction for it." in plain.alt
    true, model, exact = WORDS.index("is"), GIVEN["model"][3], GIVEN["exact"][3]
    said = with_answers.alt
    assert f"the exact answer is “{WORDS[exact.argmax()]}” with {exact.max():.3g}" in said
    assert f"its loss of the true token {-np.log(model[true]):.3g} nats; KL" in said
    assert f"KL(exact ‖ model) is {divergence(exact, model):.3g} nats" in said
    hostile = Masking(["a"], mask_token="\u202e\x00", rate=1, masked=1)
    assert "become ⟨202E⟩⟨0000⟩" in hostile.alt
    widget = Masking(["a", "b"], selected=[[1, 0], [0, 1]], kind="token", epoch=7)
    widget.kind = "given"
    assert "in epoch 1, 1 of 2" in widget.alt


def answer(tokens):
    """Return made-up answers to a text without "x"."""
    if "x" in tokens:
        raise CourseError("Nobody knows “x”.", "Write y.")
    if "crash" in tokens:
        raise ZeroDivisionError("division by zero")
    words = sorted({*tokens, "old"})
    exact = np.full((len(tokens), len(words)), 1 / len(words))
    return {"vocabulary": words, "exact": exact}


TYPED = "[CLS] it rains , and how ! [SEP]"


def test_a_typed_text_is_answered_and_what_goes_wrong_is_a_sentence():
    told = []
    own = ["[CLS]", "the", "prose", "[SEP]"]
    widget = Masking(own, answer=answer)
    widget.observe(lambda change: told.append(change["new"]), "answered")
    assert widget.text == "[CLS] the prose [SEP]" and "exact answer" in widget.alt
    first = widget.arrays
    widget.position = 300
    widget.text = TYPED
    assert widget.tokens == ["[CLS]", "it", "rains", ",", "and", "how", "!", "[SEP]"]
    assert widget.answered == TYPED == told[-1] and widget.trouble == ""
    assert widget._held["special"].tolist() == [1, 0, 0, 0, 0, 0, 0, 1]
    assert "the exact answer is" in widget.alt and len(widget.read) == 8
    for text, said in (
        ("x rains", "Nobody knows “x”. Write y."),
        ("crash !", "There are no predictions: ZeroDivisionError: division by zero. Call answer"),
    ):
        widget.text = text
        assert widget.trouble.startswith(said) and said in widget.alt
        assert widget.tokens == text.split() and "known" not in widget._held
        assert widget.answered == text
    widget.text = "[CLS] the prose [SEP]"
    assert widget.arrays == first and widget.trouble == "" and widget.tokens == own
    with pytest.raises(CourseError, match="0 tokens"):
        widget.text = " "
    with pytest.raises(CourseError, match="tokens cannot change"):
        widget.tokens = ["a"]


def test_a_tokenizer_may_split_what_is_typed():
    widget = Masking(TOKENS, tokenize=lambda text: ["[CLS]", *text.lower(), "[SEP]"])
    assert widget.text == ""  # these tokens are no text with spaces
    widget.text = "Hi"
    assert widget.tokens == ["[CLS]", "h", "i", "[SEP]"] and "answer=" in widget.trouble
    widget.text = ""
    assert widget.tokens == TOKENS and widget.trouble == ""
    assert Masking(TOKENS, text="new plot").tokens == ["new", "plot"]


def test_a_reader_types_a_text_without_a_kernel(browser: Browser, tmp_path: Path):
    widget = Masking(["[CLS]", "it", "rains", "[SEP]"], answer=answer)
    with open_file(browser, host_page("file", widget, tmp_path), width=390) as it:
        page, line = it.page, it.page.get_by_label("Your sentence")
        expect(line).to_have_value("[CLS] it rains [SEP]")
        line.fill("[CLS] it pours , again [SEP]")
        says(page, "of 4 tokens selected")
        expect(page.get_by_text("its answers come from a notebook’s kernel")).to_be_visible()
        expect(page.get_by_text("exact answer")).to_have_count(0)
        line.fill("")
        expect(page.get_by_text("The text has 0 tokens: write 1 to 512.")).to_be_visible()
        says(page, "of 4 tokens selected")  # the last picture stays
        line.fill("[CLS] it rains [SEP]")
        says(page, "of 2 tokens selected")
        says(page, "only this one is masked")
        assert it.errors == []


def test_page_and_kernel_know_the_same_special_tokens(browser: Browser, tmp_path: Path):
    text = " ".join([*sorted(SPECIAL), "the", "[UNK]", "[MASK]", "<unk>", "<b>", "<mask>", "mat"])
    widget = Masking(["a"], rate=1)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        it.page.get_by_label("Your sentence").fill(text)
        says(it.page, "7 of 7 tokens selected")
    widget.text = text
    assert "7 of 7 tokens are selected" in widget.alt


def test_a_kernel_answers_what_a_reader_types(browser: Browser, tmp_path: Path):
    widget = Masking(["it", "rains"], answer=answer)
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        page, line = it.page, it.page.get_by_label("Your sentence")
        for text, said in (
            (TYPED, "only this one is masked"),
            ("x rains", "Nobody knows “x”. Write y."),
        ):
            line.fill(text)
            assert page.evaluate("host.changed.text") != text  # not at every letter
            line.press("Enter")
            page.wait_for_function("(text) => host.saved?.text === text", arg=text)
            says(page, "its answers come from a notebook’s kernel")
            widget.text = text
            state = widget.state()
            for name in ("arrays", "index", "tokens", "words", "pool", "trouble", "answered"):
                page.evaluate("([name, value]) => kernel(name, value)", [name, state[name]])
            says(page, said)
            expect(line).to_have_value(text)
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Undo").click()
        says(page, "of 2 tokens selected")
        says(page, "only this one is masked")
        assert it.errors == []


def test_what_changes_nothing_is_not_there(browser: Browser, tmp_path: Path):
    selected = np.eye(14, dtype=int)[2:4]
    widget = Masking(TOKENS, selected=selected, kind="token", masked=0.8, random=0.6, epoch=7)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        expect(page.get_by_text("[MASK] and random exceed 100%")).to_be_visible()
        expect(page.get_by_text("random gets the remaining 20%")).to_be_visible()
        expect(page.get_by_text("% expected")).to_be_visible()
        expect(page.get_by_role("slider")).to_have_count(3)
        kind = page.locator("select").first
        kind.select_option("span")
        expect(page.get_by_text("% expected")).to_have_count(0)
        kind.select_option("given")
        expect(page.get_by_role("slider")).to_have_count(0)
        expect(page.get_by_label("Your sentence")).to_have_count(0)
        says(page, "epoch 1 of 0 to 1")
        page.get_by_role("button", name="Step back").click()
        says(page, "epoch 0 of 0 to 1")
        assert it.errors == []


def test_it_opens_where_the_exact_answer_knows_more(browser: Browser, tmp_path: Path):
    widget = Masking(TOKENS, **GIVEN, mask_token="<mask>", rate=0.6, seed=0)
    selected = [i for i, action in enumerate(widget.drawn.actions) if action]
    columns = [WORDS.index(token) for token in TOKENS]
    ahead = (GIVEN["exact"] - GIVEN["model"])[range(14), columns]
    wanted = max(selected, key=lambda i: ahead[i])
    assert f"Position {wanted}, " in widget.alt and wanted != selected[0]
    with open_file(browser, host_page("file", widget, tmp_path), width=390) as it:
        page = it.page
        says(page, f"” at {wanted}, selected")
        expect(page.get_by_label("Of these: <mask>")).to_be_visible()
        answers, epochs = (
            page.locator("svg[role=img] text", has_text=words).first.bounding_box()
            for words in (f"Position {wanted}", "One row an epoch")
        )
        assert answers["y"] < epochs["y"]  # right under the tokens


def test_a_large_vocabulary_does_not_travel():
    words = [f"w{i}" for i in range(30_000)]
    rows = np.zeros((3, 30_000))
    rows[:, [5, 29_999]] = 0.5
    widget = Masking(words[:3], vocabulary=words, model=rows)
    assert widget.pool <= 2000 and "w29999" in widget.words
    assert len(json.dumps(widget.state())) < 60_000


def test_losses_divergence_and_words_are_those_of_the_arrays(browser: Browser, tmp_path: Path):
    at = 3
    true = WORDS.index(TOKENS[at])
    model, exact = GIVEN["model"][at], GIVEN["exact"][at]
    with open_file(browser, host_page("file", Masking(TOKENS, **GIVEN), tmp_path)) as it:
        page = it.page
        tap(page, "Tokens", (at + 0.5) / 10, 0.2)
        says(page, f"“\u2068{TOKENS[at]}\u2069” at {at}")
        said = figure(page).get_attribute("aria-label")
        for wanted, name in (
            (-np.log(model[true]), r"Model’s loss (?:would be )?([\d.]+)"),
            (-np.log(exact[true]), r"Exact loss (?:would be )?([\d.]+)"),
            ((exact * np.log(exact / model)).sum(), r"KL\(exact ‖ model\) ([\d.]+)"),
        ):
            assert float(re.search(name, said)[1]) == pytest.approx(wanted, rel=0.006)
        assert WORDS[int(np.argmax(exact))] in said and WORDS[int(np.argmax(model))] in said
        expect(page.get_by_text("only this one is masked")).to_be_visible()
        expect(page.get_by_text("← true")).to_have_count(1)


def test_hover_keyboard_and_play(browser: Browser, tmp_path: Path):
    widget = Masking(TOKENS, **GIVEN, rate=0.0)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        box = page.get_by_role("grid", name="Tokens").bounding_box()
        page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 10)
        expect(page.locator(".lm-tip")).to_contain_text("“\u2068prose\u2069” at 2")
        expect(page.locator(".lm-tip")).to_contain_text("no loss")
        expect(page.locator(".lm-tip")).to_contain_text("if masked, −log p exact")
        walk(page, "Tokens", "Home", "ArrowRight", "Enter")
        says(page, "Chosen: “\u2068the\u2069” at 1, not selected")
        press(page, "Select", "End")
        says(page, "at 100%, epoch 0 of 0 to 9: 12 of 12 tokens selected")
        page.get_by_role("button", name="Draw again").click()
        page.get_by_label("Dynamic masking").uncheck()
        page.get_by_role("button", name="Step ▶").click()
        says(page, "epoch 1")
        expect(page.get_by_text("Static masking selects the same tokens")).to_be_visible()
        page.get_by_role("button", name="Play").click()
        says(page, "epoch 3")
        page.get_by_role("button", name="Pause").click()
        assert it.errors == []


def test_answers_for_a_whole_draw_say_so(browser: Browser, tmp_path: Path):
    selected = np.zeros((2, 14), int)
    selected[:, 2:4] = 1
    given = {name: np.stack([GIVEN[name]] * 2) for name in ("model", "exact")}
    for rows in given.values():
        rows[selected == 0] = 0
    widget = Masking(TOKENS, vocabulary=WORDS, selected=selected, **given)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        expect(it.page.get_by_text("with all selected tokens masked")).to_be_visible()
        tap(it.page, "Tokens", 0.05, 0.2)
        expect(it.page.get_by_text("There is no prediction for it.")).to_be_visible()
        it.page.locator("select").first.select_option("span")
        expect(it.page.get_by_text("Predictions are for the given draws.")).to_be_visible()


@pytest.mark.parametrize(
    ("dark", "blue"), [(False, "rgb(0, 114, 178)"), (True, "rgb(86, 180, 233)")]
)
def test_the_models_bars_are_bright_on_a_dark_page(dark, blue, browser: Browser, tmp_path: Path):
    widget = Masking(TOKENS, **GIVEN)
    with open_file(browser, host_page("file", widget, tmp_path), dark=dark) as it:
        bars = it.page.locator(".lm-stage svg rect[height='8'][fill=none]")
        expect(bars).not_to_have_count(0)
        assert set(bars.evaluate_all("all => all.map((it) => getComputedStyle(it).stroke)")) == {
            blue
        }
