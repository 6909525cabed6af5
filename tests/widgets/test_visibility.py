"""Visibility: its masks are those of the course's models; what it says, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect

from lmcourse.errors import CourseError
from lmcourse.models.attention import masked_softmax
from lmcourse.models.kbert import batch_of
from lmcourse.models.sentence_tree import Branch, SentenceTree
from lmcourse.widgets import Visibility
from tests.widgets.examples import tap, walk
from tests.widgets.examples.visibility import GIVEN, TOKENS
from tests.widgets.golden_masking import REAL, SEGMENTS, SELECTED, TREE, matrices
from tests.widgets.hosts import host_page, open_file
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
        (TOKENS, {"visible": [["x"] * 10] * 10}, r"visible holds something other"),
        (TOKENS, {"token_type_ids": [-1] * 10}, r"token_type_ids holds numbers that are no ids"),
        (TOKENS, {"scores": np.full((10, 10), np.nan)}, r"scores holds numbers that are not fin"),
        (TOKENS, {"tree": 7}, r"tree is of type int.*flatten"),
        (TOKENS, {"tree": SMALL}, r"tree has other tokens.*Visibility\(tree\.tokens"),
        (TOKENS, {"masks": ["segment"]}, r"mask 'segment' is not known.*causal, padding"),
        (TOKENS, {"masks": ["causal", "causal"]}, r"names one twice"),
        (TOKENS, {"added": "-1"}, r"added '-1' is not known"),
        (TOKENS, {"row": 10}, r"row is 10, outside of 0 to 9"),
    ],
)
def test_what_does_not_fit_is_refused(tokens, options, says):
    with pytest.raises(CourseError, match=says):
        Visibility(tokens, **options)


def test_512_tokens_with_scores_fit():
    n = 512
    widget = Visibility(["a"] * n, visible=np.tri(n), scores=np.zeros((n, n)))
    assert len(widget.arrays) < 1_200_000


def test_a_row_is_our_softmax(browser: Browser, tmp_path: Path):
    widget = Visibility(TOKENS, **GIVEN, masks=["causal", "padding"], row=5)
    scores = torch.tensor(GIVEN["scores"])
    wanted = masked_softmax(scores, torch.tensor(widget.matrix))[5]
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        it.page.get_by_text("Show values").click()
        found = it.page.locator(".lm-table tbody td:last-child").all_inner_texts()
        assert [float(p) for p in found] == pytest.approx(wanted.tolist(), rel=0.006)
        says(it.page, "The weights of what it sees sum to 1")
        it.page.get_by_label("Softmax first").check()
        kept = scores.softmax(-1)[5][torch.tensor(widget.matrix)[5]].sum().item()
        says(it.page, f"Its weights sum to {kept:.3g}")
        raised = scores + ~torch.tensor(widget.matrix)
        leaked = raised.softmax(-1)[5][torch.tensor(widget.matrix)[5]].sum().item()
        says(it.page, f"the sum is {leaked:.3g}: what is hidden leaks")


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


def test_hover_keyboard_pin_and_tree(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", Visibility(TREE.tokens, tree=TREE), tmp_path)) as it:
        page = it.page
        box = page.get_by_role("grid", name="Visibility").bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        expect(page.locator(".lm-tip")).to_contain_text("Query 0 “\u2068[CLS]\u2069”")
        page.mouse.move(box["x"] + 3.5 / 12 * box["width"], box["y"] + 2)
        expect(page.locator(".lm-tip")).to_contain_text("hidden, visible matrix")
        walk(page, "Visibility", "Control+Home", "ArrowDown", "Enter")
        says(page, "Query 1, “\u2068tim\u2069”, sees 8 of 12 keys")
        expect(page.get_by_text("The sentence tree")).to_be_visible()
        page.get_by_role("checkbox", name="Visible matrix").uncheck()
        says(page, "knowledge noise")
        tap(page, "Visibility", 0.5, 0.99)
        says(page, "Query 11")
        assert it.errors == []
