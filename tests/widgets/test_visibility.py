"""Visibility: its masks are those of the course's models; what it says, and what it refuses."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect

from lmcourse.errors import CourseError
from lmcourse.models.attention import masked_softmax
from lmcourse.models.kbert import batch_of
from lmcourse.models.sentence_tree import Branch, SentenceTree
from lmcourse.widgets import Visibility
from lmcourse.widgets.sentence_text import tree_of
from tests.widgets.examples import press, tap, walk
from tests.widgets.examples.visibility import GIVEN, TOKENS
from tests.widgets.golden_masking import REAL, SEGMENTS, SELECTED, TREE, matrices, written
from tests.widgets.hosts import host_page, open_file, show_values
from tests.widgets.test_every_widget import figure, says

SMALL = SentenceTree(("tim", "runs"), (Branch(0, 1, ("is", "tall")),)).flatten()


def test_the_matrix_is_that_of_our_models():
    each = matrices()
    widget = Visibility(
        TREE.tokens,
        attention_mask=REAL,
        token_type_ids=SEGMENTS,
        selected=SELECTED,
        visible=each["given"],
        tree=TREE,
    )
    for name, wanted in each.items():
        widget.masks = [name]
        np.testing.assert_array_equal(widget.matrix, wanted.numpy(), name)
    widget.masks = ["causal", "padding"]
    np.testing.assert_array_equal(widget.matrix, (each["causal"] & each["padding"]).numpy())


def test_a_tree_is_what_kbert_reads():
    batch = batch_of([SMALL], token_ids={it: i for i, it in enumerate(SMALL.tokens)})
    widget = Visibility(SMALL.tokens, tree=SMALL)
    np.testing.assert_array_equal(widget.matrix, batch["attention_mask"][0].bool().numpy())
    assert widget.masks == ["tree"]


def test_masks_are_chosen_by_what_is_given():
    assert Visibility(["a", "b"]).masks == ["causal"]
    assert Visibility(["a", "[PAD]"]).masks == ["padding"]
    assert Visibility(["a", "b"], visible=np.eye(2)).masks == ["given"]
    assert Visibility(["a", "b"], visible=np.eye(2), masks=[]).matrix.all()


@pytest.mark.parametrize(
    ("tokens", "options", "says"),
    [
        ([], {}, r"tokens is empty"),
        (["a"] * 513, {}, r"513 tokens; Visibility shows 512"),
        (TOKENS, {"attention_mask": [1]}, r"attention_mask has the shape \(1,\)"),
        (TOKENS, {"visible": np.zeros((10, 9))}, r"visible has the shape \(10, 9\)"),
        (TOKENS, {"visible": np.full((10, 10), -np.inf)}, r"other than 0 and 1.*mask == 0"),
        (TOKENS, {"visible": [["x"] * 10] * 10}, r"visible is not an array of real numbers"),
        (TOKENS, {"token_type_ids": [-1] * 10}, r"token_type_ids has invalid ids"),
        (TOKENS, {"scores": np.full((10, 10), np.nan)}, r"scores has numbers that are not fin"),
        (TOKENS, {"tree": 7}, r"tree is of type int.*flatten"),
        (TOKENS, {"tree": SMALL}, r"tree has other tokens.*Visibility\(tree\.tokens"),
        (TOKENS, {"masks": ["segment"]}, r"mask 'segment' is unknown.*causal, padding"),
        (TOKENS, {"masks": ["causal", "causal"]}, r"has duplicates"),
        (TOKENS, {"added": "-1"}, r"added '-1' is unknown"),
        (TOKENS, {"row": 10}, r"row is 10, not between 0 and 9"),
        (
            TOKENS,
            {"scores": np.full((10, 10), -np.inf)},
            r"scores has −∞.*before the mask.*visib",
        ),
        (TOKENS, {"attention_mask": np.ones((2, 10))}, r"attention_mask has the shape \(2, 10\)"),
        (TOKENS, {"text": "a [b]"}, r"no sentence tree to edit.*Visibility\(text="),
        (None, {}, r"There is no text.*sentence tree as text"),
        (None, {"text": 7}, r"not a line of at most 4,000"),
        (None, {"text": "a [b"}, r"“\[” is not closed\. Write “\]”"),
        (None, {"text": "(a [b])"}, r"“\(” is not closed\. Write “\)”"),
        (None, {"text": "[a] b"}, r"A branch is at the start.*before it"),
        (None, {"text": "a ] b"}, r"“\]” has no opening bracket\. Delete it"),
        (None, {"text": "a [ ]"}, r"“\[\]” is empty"),
        (None, {"text": "a " * 513}, r"513 tokens\. Write 1 to 512"),
    ],
)
def test_what_does_not_fit_is_refused(tokens, options, says):
    with pytest.raises(CourseError, match=says):
        Visibility(tokens, **options)


def test_what_tokenizers_return_is_taken():
    ids = torch.tensor([[0] * 4 + [1] * 6])
    wanted = Visibility(TOKENS, token_type_ids=ids[0].tolist()).matrix
    for given in (ids, ids.bool(), ids[0].bool().numpy(), ids.tolist()):
        np.testing.assert_array_equal(Visibility(TOKENS, token_type_ids=given).matrix, wanted)
    mask = torch.ones(1, 10, dtype=torch.int64)
    scores = torch.zeros(1, 10, 10, requires_grad=True)
    assert Visibility(TOKENS, attention_mask=mask, scores=scores).matrix.sum() == 55
    assert Visibility(["a", "<pad>"]).masks == ["padding"]


def test_the_words_for_paper_have_the_weights():
    widget = Visibility(TOKENS, **GIVEN, masks=["causal", "padding"], row=5)
    wanted = masked_softmax(torch.tensor(GIVEN["scores"]), torch.tensor(widget.matrix))[5]
    best = int(wanted.argmax())
    assert f"Its largest weights: “{TOKENS[best]}” {wanted[best]:.3g}, " in widget.alt
    assert widget.alt.endswith("they sum to 1.")
    widget.after = True
    kept = torch.tensor(GIVEN["scores"]).softmax(-1)[5][torch.tensor(widget.matrix)[5]].sum()
    assert widget.alt.endswith(f"they sum to {kept:.3g}.")
    blind = Visibility(TOKENS, attention_mask=[0] * 10, scores=GIVEN["scores"])
    assert "All its weights are NaN" in blind.alt
    blind.after = True
    assert "All its weights are 0." in blind.alt
    blind.after, blind.added = False, "lowest"
    assert "“[CLS]” 0.1 (hidden)" in blind.alt


def test_a_line_of_text_is_a_tree():
    random = Random(7)
    for _ in range(60):
        words = random.choices(["tim", "cook", "[CLS]", "is", "[PAD]"], k=random.randint(1, 9))
        text, tree = written(random, words)
        flat = tree.flatten()
        widget = Visibility(text=text)
        assert widget.tokens == list(flat.tokens)
        np.testing.assert_array_equal(widget._now[1]["soft"], flat.soft_positions)
        widget.masks = ["tree"]
        np.testing.assert_array_equal(widget.matrix, flat.visible.numpy())
        given = Visibility(flat.tokens, tree=flat)  # and back
        assert Visibility(text=given.text).text == given.text != ""
        np.testing.assert_array_equal(tree_of(given.text).tree, flat.visible.numpy())
    shared = SentenceTree(("new", "york"), (Branch(0, 2, ("a",)), Branch(1, 2, ("b",)))).flatten()
    assert Visibility(shared.tokens, tree=shared).text == ""  # which no line says


def test_an_edited_tree_has_its_own_masks():
    flat = SentenceTree(("tim", "runs"), (Branch(0, 1, ("is", "tall")),)).flatten()
    widget = Visibility(flat.tokens, tree=flat, scores=np.eye(4), token_type_ids=[0, 0, 1, 1])
    assert widget.text == "tim [is tall] runs" and widget.masks == ["segment", "tree"]
    widget.row, widget.text = 300, "a b [c]"
    assert widget.matrix.tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    assert "Query 2, “c”, attends to 2 of 3" in widget.alt and "tree: a b [c]." in widget.alt
    with pytest.raises(CourseError, match="not closed"):
        widget.text = "a [b"
    assert widget.text == "a b [c]"
    widget.text = "tim [is tall] runs"
    assert widget.matrix.sum() == 6


def test_512_tokens_with_scores_fit():
    n = 512
    widget = Visibility(["a"] * n, visible=np.tri(n), scores=np.zeros((n, n)))
    assert len(widget.arrays) < 1_200_000


def test_a_row_is_our_softmax(browser: Browser, tmp_path: Path):
    widget = Visibility(TOKENS, **GIVEN, masks=["causal", "padding"], row=5)
    scores = torch.tensor(GIVEN["scores"])
    wanted = masked_softmax(scores, torch.tensor(widget.matrix))[5]
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        show_values(it.page)
        found = it.page.locator(".lm-table tbody td:last-child").all_inner_texts()
        assert [float(p) for p in found] == pytest.approx(wanted.tolist(), rel=0.006)
        says(it.page, "The weights of visible keys sum to 1")
        it.page.get_by_label("Softmax first").check()
        kept = scores.softmax(-1)[5][torch.tensor(widget.matrix)[5]].sum().item()
        says(it.page, f"Its weights sum to {kept:.3g}")
        raised = scores + ~torch.tensor(widget.matrix)
        leaked = raised.softmax(-1)[5][torch.tensor(widget.matrix)[5]].sum().item()
        says(it.page, f"the sum is {leaked:.3g}: hidden scores leak")


def test_a_row_that_sees_nothing_is_named(browser: Browser, tmp_path: Path):
    widget = Visibility(TOKENS, attention_mask=[0] * 10, scores=GIVEN["scores"])
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        expect(page.get_by_text("the softmax is 0/0: NaN")).to_be_visible()
        expect(page.locator("svg[role=img] text", has_text="NaN")).to_have_count(11)
        says(page, "sum not a number")
        page.get_by_role("combobox").select_option("-10000")
        says(page, "as if there were no mask")
        page.get_by_role("combobox").select_option("lowest")
        says(page, "all hidden keys get the same weight")
        assert "0.1 (hidden)" in (figure(page).get_attribute("aria-label") or "")
        assert it.errors == []


def test_a_hidden_key_of_a_large_score_keeps_its_weight(browser: Browser, tmp_path: Path):
    scores = [[0, 2e4], [0, 0]]
    widget = Visibility(["a", "b"], scores=scores, masks=["causal"], added="-10000", row=0)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "The weights of visible keys sum to 0.")
        says(it.page, "1 (hidden)")


def test_the_trees_heading_fits_a_phone(browser: Browser, tmp_path: Path):
    widget = Visibility(text="tim [ceo apple] is here")
    with open_file(browser, host_page("file", widget, tmp_path), width=360) as it:
        says(it.page, "sentence tree")
        heading = it.page.get_by_text("boxed: hard").bounding_box()
        picture = figure(it.page).bounding_box()
        assert heading["x"] + heading["width"] <= picture["x"] + picture["width"]


def test_softmax_first_on_a_row_that_sees_nothing(browser: Browser, tmp_path: Path):
    widget = Visibility(TOKENS, attention_mask=[0] * 10, after=True)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        expect(it.page.get_by_text("All its weights become 0")).to_be_visible()
        expect(it.page.get_by_text("leaks")).to_have_count(0)


def test_letters_are_explained_where_they_are(browser: Browser, tmp_path: Path):
    scores = np.full((40, 40), -2.0)
    scores[:, 1] = -0.001
    given = {"masks": ["causal", "padding"], "attention_mask": [1] * 39 + [0], "scores": scores}
    with open_file(browser, host_page("file", Visibility(["a"] * 40, **given), tmp_path)) as it:
        expect(it.page.get_by_text("A letter says what hides")).to_have_count(0)
        expect(it.page.locator("svg[role=img] text", has_text="-")).to_have_count(0)
        expect(it.page.locator("svg[role=img] text", has_text="−2.00")).to_have_count(23)
        press(it.page, "Query", "Home", "ArrowRight")
        says(it.page, "Query 1")
    widget = Visibility(TOKENS, masks=["causal", "padding"])
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        expect(it.page.get_by_text("Letters: c causal, p padding.")).to_be_visible()


def test_a_reader_edits_the_tree(browser: Browser, tmp_path: Path):
    widget = Visibility(text="(tim cook) [ceo apple] is here", masks=["tree"])
    with open_file(browser, host_page("jupyter", widget, tmp_path), width=390) as it:
        page, line = it.page, it.page.get_by_label("Your sentence")
        expect(line).to_have_value("(tim cook) [ceo apple] is here")
        says(page, "Query 2, “\u2068ceo\u2069”, attends to 4 of 6 keys")
        line.fill("beijing [capital china] [is_a city] sleeps [PAD]")
        says(page, "Query 3, “\u2068is_a\u2069”, attends to 3 of 7 keys")
        widget.text = page.evaluate("host.saved.text")
        assert widget.matrix[3].sum() == 3
        press(page, "Query", "End")
        says(page, "Query 6")
        page.get_by_role("checkbox", name="Padding").check()
        says(page, "With padding and visible matrix")
        for text, wrong in (("[a] b", "is at the start"), ("a [b", "“[” is not closed")):
            line.fill(text)
            expect(page.get_by_text(wrong)).to_be_visible()
            says(page, "of 7 keys")  # the last picture stays
            assert "[PAD]" in page.evaluate("host.saved.text")
        line.fill("a [b]")
        says(page, "Query 1, “\u2068b\u2069”, attends to 2 of 2 keys")
        expect(page.get_by_text("is not closed")).to_have_count(0)
        page.evaluate("kernel('text', '(')")  # what Python refuses, a page does
        says(page, "of 2 keys")
        page.get_by_role("button", name="Reset").click()
        says(page, "attends to 4 of 6 keys")
        expect(line).to_have_value("(tim cook) [ceo apple] is here")
        assert it.errors == []


def test_hover_keyboard_pin_and_tree(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", Visibility(TREE.tokens, tree=TREE), tmp_path)) as it:
        page = it.page
        box = page.get_by_role("grid", name="Visibility").bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        expect(page.locator(".lm-tip")).to_contain_text("Query 0 “\u2068[CLS]\u2069”")
        page.mouse.move(box["x"] + 3.5 / 12 * box["width"], box["y"] + 2)
        expect(page.locator(".lm-tip")).to_contain_text("hidden, visible matrix")
        walk(page, "Visibility", "Control+Home", "ArrowDown", "Enter")
        says(page, "Query 1, “\u2068tim\u2069”, attends to 8 of 12 keys")
        expect(page.get_by_text("The sentence tree")).to_be_visible()
        page.get_by_role("checkbox", name="Visible matrix").uncheck()
        says(page, "knowledge noise")
        tap(page, "Visibility", 0.5, 0.99)
        says(page, "Query 11")
        assert it.errors == []
