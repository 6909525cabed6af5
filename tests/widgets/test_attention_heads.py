"""AttentionHeads: what it accepts and refuses, how small it gets, what a reader does with it."""

import base64
import json
import re
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.widgets import AttentionHeads
from lmcourse.widgets.attention_inputs import partners
from lmcourse.widgets.attention_measures import MEASURES, measures, most_informative
from lmcourse.widgets.attention_scores import value_norms
from lmcourse.widgets.attention_text import rollout
from lmcourse.widgets.attentions import as_attentions, pooled, quantized
from tests.widgets import golden_attention_heads as golden
from tests.widgets.examples import press, tap, walk
from tests.widgets.examples.attention_heads import PARTS, TOKENS, make, softmax, weights
from tests.widgets.hosts import axe, host_page, open_file, overflow, show_values
from tests.widgets.test_every_widget import beside, figure, resize, says
from tests.widgets.test_fuzz import PAGE as MANY

NUMBERS = np.random.default_rng(0)
FOUR = softmax(NUMBERS.standard_normal((2, 3, 4, 4))).astype(np.float32)
WORDS = ["a", "b", "c", "d"]
IDS = torch.tensor([[2, 7, 9, 3]])
SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}


def heads(count):
    """So many tokens that look at random places, two layers of three heads."""
    return softmax(3 * NUMBERS.standard_normal((2, 3, count, count))).astype(np.float32)


@pytest.mark.parametrize(
    "form",
    [
        FOUR,
        FOUR[:, None],
        torch.tensor(FOUR),
        torch.tensor(FOUR, requires_grad=True),
        torch.tensor(FOUR).bfloat16(),
        FOUR.astype(np.float16),
        list(FOUR),
        tuple(torch.tensor(FOUR)[:, None]),
        FOUR.tolist(),
        SimpleNamespace(attentions=tuple(FOUR)),
        SimpleNamespace(attentions=None, cross_attentions=FOUR),
    ],
)
def test_every_form_is_the_same(form):
    found = as_attentions("attentions", form)
    assert found.shape == FOUR.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, FOUR, atol=4e-3)


def test_less_axes_are_one_layer_and_one_head():
    assert as_attentions("attentions", FOUR[0]).shape == (1, 3, 4, 4)
    assert as_attentions("attentions", FOUR[0, 0]).shape == (1, 1, 4, 4)


def test_our_model_and_transformers_give_the_same_widget():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        **SIZES, vocab_size=20, intermediate_size=24, attn_implementation="eager"
    )
    theirs = transformers.BertModel(config).eval()
    ours = Bert.from_transformers(theirs).eval()
    with torch.no_grad():
        theirs, ours = (it(IDS, output_attentions=True) for it in (theirs, ours))
    one, other = (AttentionHeads(it, WORDS) for it in (ours, theirs))
    codes = [np.frombuffer(it.arrays, np.uint8)[-96:].astype(int) for it in (one, other)]
    assert np.abs(codes[0] - codes[1]).max() <= 1
    assert AttentionHeads(theirs.attentions, WORDS).arrays == other.arrays


def test_without_eager_attention_the_remedy_is_named():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**SIZES, vocab_size=20, intermediate_size=24)
    with torch.no_grad():
        output = transformers.BertModel(config).eval()(IDS)
    with pytest.raises(CourseError, match='attn_implementation="eager"'):
        AttentionHeads(output, WORDS)


BATCH = np.concatenate([FOUR[:, None]] * 3, 1)
DROPPED = torch.tensor(FOUR) * (torch.arange(4) > 0) / 0.6  # as dropout would
NAN = FOUR.copy()
NAN[1, 2, 3] = np.nan
BOTH = SimpleNamespace(encoder_attentions=FOUR, cross_attentions=FOUR)
OTHER = heads(5)
LONG = np.broadcast_to(np.float32(1 / 2000), (10, 10, 2000, 2000))


@pytest.mark.parametrize(
    ("attentions", "more", "said"),
    [
        (None, {}, "attentions is None.*eager"),
        ((), {}, "attentions is empty.*eager"),
        ((FOUR[0], None), {}, "attentions\\[1\\] is None.*eager"),
        (list(BATCH), {}, "3 sequences.*layer\\[:1\\]"),
        (BATCH, {}, "3 sequences.*attentions\\[:, :1\\]"),
        ([(FOUR[0], FOUR[1])], {}, "tuple of arrays.*generate"),
        ([FOUR[0], OTHER[0]], {}, "attentions\\[1\\] has the shape \\(3, 5, 5\\)"),
        (DROPPED, {}, "layer 0, head 0, query 0 sum to .*model.eval\\(\\)"),
        (np.log(FOUR), {}, "below 0.*before the softmax"),
        (FOUR.swapaxes(-1, -2), {}, "The columns do"),
        (NAN, {}, "nan or inf, first in layer 1, head 2, query 3"),
        (FOUR[..., :0], {}, "it is empty"),
        ("text", {}, "type str"),
        (FOUR[0, 0, 0], {}, "does not fit an attention"),
        (BOTH, {}, 'encoder, cross.*part="encoder" or part="cross"'),
        (BOTH, {"part": "decoder"}, "decoder_attentions is None"),
        (BOTH, {"part": "head"}, "'head' is unknown"),
        ({"a": FOUR, "b": OTHER}, {}, "'b' has 5 × 5 queries and keys, 'a' has 4 × 4"),
        ({}, {}, "0 channels"),
        ({3: FOUR}, {}, "called 3"),
        (FOUR[..., :3, :], {}, "tokens has 4 tokens, the arrays have 3"),
        (FOUR, {"tokens": WORDS[:3]}, "tokens has 3 tokens"),
        (FOUR, {"key_tokens": WORDS[:3]}, "4 queries and 4 keys.*3 key_tokens"),
        (FOUR, {"segments": [0, 1, 2, 0]}, "segments has the value 2"),
        (FOUR, {"segments": [0, 1]}, "segments has the shape \\(2,\\)"),
        (FOUR, {"segments": [0, 0, 1, 1], "key_tokens": WORDS}, "there are key_tokens"),
        (FOUR, {"between": "A-B"}, "'A-B' is unknown"),
        (FOUR, {"queries": FOUR}, "keys is None"),
        (FOUR, {"mask": np.tri(4)}, "queries is None.*Pass queries and keys"),
        (FOUR, {"queries": FOUR, "keys": FOUR, "mask": [1, 1, 1, 0]}, "would be added.*mask == 1"),
        (FOUR, {"queries": FOUR, "keys": FOUR, "mask": np.tri(4)}, "would be added.*mask == 1"),
        (FOUR, {"layer": True}, "layer is True.*integer"),
        (FOUR, {"queries": FOUR, "keys": FOUR}, "In layer ., head .*pass scale="),
        (FOUR, {"queries": FOUR, "keys": FOUR[..., :2]}, "keys has the shape .*2, 3, 4, 4"),
        (FOUR, {"values": FOUR[..., :3, :]}, "values has the shape .2, 3, 3, 4.*2, 3, 4, …"),
        (FOUR, {"values": NAN}, "values has numbers that are not finite"),
        (FOUR, {"values": "text"}, "values is of type str"),
        (FOUR, {"picture": "line"}, "picture 'line' is unknown.*map, lines, heads"),
        (FOUR[:, :1], {"picture": "heads"}, "picture 'heads' is unknown.*map, lines"),
        (FOUR, {"picture": "scores"}, "'scores' needs queries and keys.*attention_arrays"),
        (FOUR, {"measure": "norm"}, "measure 'norm' is unknown. Choose one of weight"),
        (FOUR, {"picture": "lines", "measure": "norm"}, "Choose one of weight, mean, rollout"),
        (FOUR, {"picture": "lines", "measure": "norm", "values": None}, "'norm' is unknown"),
        (FOUR[:1], {"picture": "lines", "measure": "rollout"}, "Choose one of weight, mean"),
        (
            FOUR,
            {"picture": "heads", "measure": "rollout", "key_tokens": WORDS},
            "Choose one of weight, mean",
        ),
        (FOUR[:1, :1], {"picture": "lines", "compare": "beside"}, "'beside' is unknown"),
        (FOUR, {"layer": 2}, "layer is 2, not between 0 and 1"),
        (FOUR, {"held": [0, 3]}, "held\\[1\\] is 3"),
        (FOUR, {"temperature": 2.0}, "temperature is 2"),
        (FOUR, {"layer_map": {"x": [0]}}, "layer_map is {'x'"),
        ({"a": FOUR, "b": FOUR}, {"layer_map": {"b": [0, 9]}}, "0 to 1"),
        ({"a": FOUR, "b": FOUR}, {"layer_map": [0, 1]}, "layer_map is \\[0, 1\\].*Map names"),
        ({"a": FOUR, "b": FOUR}, {"layer_map": {1: [0], "c": [1]}}, "layer_map is {1"),
        (FOUR, {"held": 1}, "held is 1, not a list"),
        (FOUR, {"part": "cross"}, "part='cross' needs a model's output.*Leave out part"),
        (BOTH, {"part": ["cross"]}, "\\['cross'\\] is unknown"),
        (FOUR, {"queries": FOUR, "keys": FOUR, "mask": [[1], [1, 0]]}, "mask is not an array"),
        (torch.empty(2, 3, 4, 4, device="meta"), {}, "not attention weights"),
        (FOUR, {"lines": 5}, "'5' is unknown.*1, 3, 8"),
        (FOUR, {"segments": [[0, 1]]}, "segments has the shape"),
        (FOUR[:, [0] * 70], {}, "2 layers of 70 heads"),
        (LONG, {"tokens": ["x"] * 2000}, "page can hold 4 MB.*fewer tokens"),
    ],
)
def test_what_is_refused_says_what_to_do(attentions, more, said):
    with pytest.raises(CourseError, match=f"(?s){said}"):
        AttentionHeads(attentions, **({"tokens": WORDS} | more))


def test_the_reference_is_what_torch_says_today():
    kept, found = json.loads(golden.PATH.read_text(encoding="utf-8")), golden.golden()
    remedy = "run `python -m tests.widgets.golden_attention_heads` and commit what it writes"
    assert kept.keys() == found.keys(), remedy
    for name, numbers in found["stack"].items():
        assert numbers == pytest.approx(kept["stack"][name], rel=1e-6, abs=1e-9), remedy
    for name in set(kept) - {"cases", "stack"}:
        assert kept[name] == json.loads(json.dumps(found[name])), remedy
    for old, new in zip(kept["cases"], found["cases"], strict=True):
        assert old["how"] == new["how"] and old["at"] == list(new["at"]), remedy
        for name in ("p", "entropy", "dot"):
            assert new[name] == pytest.approx(old[name], rel=1e-6, abs=1e-9), remedy


def test_a_byte_keeps_small_weights():
    p = np.linspace(0, 1, 10001, dtype=np.float32)
    assert np.abs((quantized(p) / 255.0) ** 2 - p).max() < 0.004
    assert quantized(np.float32([0, 1e-5, 1e-9, 1e-30])).tolist() == [0, 1, 1, 1]


def test_a_causal_head_has_no_holes():
    scores = np.where(np.tri(40, dtype=bool), 40 * NUMBERS.standard_normal((40, 40)), -np.inf)
    codes = quantized(softmax(scores).astype(np.float32))
    np.testing.assert_array_equal(codes > 0, softmax(scores).astype(np.float32) > 0)
    assert (codes[np.tril_indices(40)] > 0).mean() > 0.5  # underflow alone is 0
    mild = quantized(softmax(scores / 10).astype(np.float32))
    np.testing.assert_array_equal(mild > 0, np.tri(40, dtype=bool))


def test_a_thumbnail_keeps_the_largest():
    codes = quantized(heads(50))
    small = pooled(codes, 7)
    assert small.shape == (2, 3, 7, 7)
    np.testing.assert_array_equal(small.max((2, 3)), codes.max((2, 3)))


def test_the_measures_of_heads_that_are_known():
    n = 6
    before = np.eye(n, k=-1)
    before[0, 0] = 1
    uniform, first = np.full((n, n), 1 / n), np.zeros((n, n))
    first[:, 0] = 1
    weights = np.stack([[np.eye(n), before, uniform, first]])
    found = measures(weights, ["[CLS]", "x", "[SEP]", "y", "z", "[SEP]"], same=True)[0]
    table = dict(zip(MEASURES, found.T.tolist(), strict=True))
    assert table["entropy"] == pytest.approx([0, 0, np.log2(n), 0], abs=1e-6)
    assert table["itself"] == pytest.approx([1, 1 / 6, 1 / 6, 1 / 6])
    assert table["previous"] == pytest.approx([0, 5 / 6, 5 / 36, 1 / 6])
    assert table["first"] == pytest.approx([1 / 6, 2 / 6, 1 / 6, 1])
    assert table["separators"] == pytest.approx([2 / 6, 1 / 6, 2 / 6, 0])
    assert table["distance"] == pytest.approx([0, 5 / 6, 70 / 36, 15 / 6])
    entropies = found[None, :, 0]
    assert most_informative(weights, entropies, True, (None, None, None, None))[:2] == (0, 0)
    assert most_informative(weights, entropies, True, (0, 1, 3, None)) == (0, 1, 3, 2)
    assert most_informative(weights[:, 2:], entropies[:, 2:], True)[:2] in {(0, 0), (0, 1)}


def test_padding_counts_for_no_measure():
    weights = np.zeros((1, 1, 4, 4))
    weights[0, 0, :2, :2] = np.eye(2)
    assert measures(weights, WORDS, True)[0, 0, 1] == 1


def test_layers_are_compared_at_the_same_depth_and_heads_by_likeness():
    teacher, student = heads(5)[[0, 1, 0, 1, 0, 1]], heads(5)[:, :2]
    teacher[2, 1], teacher[5, 0] = student[0, 1], student[1, 0]
    found = partners({"teacher": teacher, "student": student}, None)
    assert found["partner1"][:, :, 0].tolist() == [[2, 2], [5, 5]]
    assert found["partner1"][0, 1, 1] == 1 and found["partner1"][1, 0, 1] == 0
    assert found["partner0"][:, 0, 0].tolist() == [0, 0, 0, 0, 1, 1]
    mapped = partners({"teacher": teacher, "student": student}, {"student": [0, 1]})
    assert mapped["partner1"][:, 0, 0].tolist() == [0, 1]
    assert partners({"a": teacher, "b": teacher}, None) == {}


def test_what_is_large_is_sent_in_part_and_a_layer_on_demand():
    p = np.zeros((3, 4, 600, 600), np.float32)
    p[..., 0] = 0.5
    p[:, :, np.arange(600), np.arange(600)] += 0.5
    widget = AttentionHeads(p, ["x"] * 600)
    assert {"at0", "top0", "thumbs0"} <= set(widget.index) and len(widget.arrays) < 200_000
    assert "8 largest weights" in widget.alt
    widget.wanted = [[0, 2]]
    assert widget.full_of == [[0, 2]] and [len(it) for it in widget.full] == [4 * 600 * 600]
    widget.wanted = [[0, 2], [0, 0]]  # of the head beside it, too
    assert widget.full_of == [[0, 2], [0, 0]] and [len(it) for it in widget.full] == 2 * [
        4 * 600 * 600
    ]
    assert widget.state()["full"] == [] and widget.state()["wanted"] == []
    for nonsense in ([[7, 7]], [[0]], [[0, 0], [0, 1], [0, 2]], []):
        widget.wanted = nonsense
        assert widget.full_of == [[0, 2], [0, 0]]
    widget.compare = "beside"
    assert "Largest difference" not in widget.alt  # which the page does not know


def cell(page: Page, name: str = "Weights") -> str:
    """What the one cell of a grid says."""
    found = page.get_by_role("grid", name=name).get_by_role("gridcell")
    return (found.get_attribute("aria-label") or "").replace("\u2068", "").replace("\u2069", "")


def test_hover_names_both_tokens_and_their_weight(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        box = it.page.get_by_role("grid", name="Weights").bounding_box()
        at = (box["x"] + 0.2 * box["width"], box["y"] + 0.45 * box["height"])
        it.page.mouse.move(*at)
        p = PARTS["attentions"][0, 1, 3, 1]
        wanted = f"“\u2068was\u2069” (3) → “\u2068the\u2069” (1)\n{p:.2f}"
        expect(it.page.locator(".lm-tip")).to_have_text(wanted)
        names = it.page.locator(".lm-stage svg > g:last-of-type text.strong").all_text_contents()
        assert {"was 3", "the 1"} <= set(names)
        it.page.mouse.move(2, 2)
        expect(it.page.locator(".lm-tip")).to_be_hidden()
        assert it.errors == []


def test_a_pin_survives_another_head_and_the_table_has_its_weights(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        tap(page, "Weights", 0.2, 0.45)
        says(page, "Pinned: “\u2068was\u2069” (3) → “\u2068the\u2069” (1)")
        walk(page, "Heads", "ArrowDown", "Enter")
        says(page, "Layer 1, head 1:")
        says(page, "Pinned: “\u2068was\u2069” (3) → “\u2068the\u2069” (1)")
        show_values(page)
        shown = [float(it) for it in page.locator("tbody td:nth-child(2)").all_text_contents()]
        assert shown == pytest.approx(PARTS["attentions"][1, 1, 3], abs=0.01)


def test_arrows_walk_over_the_weights_and_enter_pins(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        walk(it.page, "Weights", "ArrowUp", "ArrowLeft")
        assert cell(it.page).startswith("“∅” (5) → “the” (1): ")
        expect(it.page.get_by_role("status")).to_contain_text("→")
        it.page.keyboard.press("Enter")
        says(it.page, "Pinned: “\u2068∅\u2069” (5) → “\u2068the\u2069” (1)")


def test_one_weight_is_taken_apart_and_can_be_computed_anew(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        lines = "\n".join(page.locator(".lm-stage svg text").all_text_contents())
        assert f"{PARTS['attentions'][0, 1, 6, 2]:.3g}" in lines and "× scale 0.5" in lines
        says(page, "(6) attends to")
        before = figure(page).get_attribute("aria-label")
        press(page, "Temperature", "End")
        says(page, "recomputed")
        masked = figure(page).get_attribute("aria-label")
        bits = [float(re.search(r"; entropy ([\d.]+) bits", it)[1]) for it in (before, masked)]
        assert bits[0] < bits[1] < np.log2(7) + 0.01
        page.get_by_label("Mask").first.select_option("none")
        expect(figure(page)).not_to_have_attribute("aria-label", masked)
        wide = figure(page).get_attribute("aria-label")
        assert float(re.search(r"; entropy ([\d.]+) bits", wide)[1]) > np.log2(7)


@pytest.mark.parametrize("kind", ["beside", "difference"])
def test_a_held_head_is_compared_with_the_next(kind, browser: Browser, tmp_path):
    with open_file(browser, host_page("jupyter", make(), tmp_path)) as it:
        page = it.page
        page.get_by_label("Compare").select_option(kind)
        says(page, "Compared: Layer 0, head 2:")  # the next one, so that there is something to see
        before = figure(page).get_attribute("aria-label")
        walk(page, "Heads", "ArrowDown", "Enter")
        says(page, "Layer 1, head 1:")
        says(page, "Compared: Layer 0, head 1:")  # the one that was there stays
        page.wait_for_function("String(host.changed.held) === '0,1'")
        other = page.get_by_role("grid", name="Other head")
        expect(other).to_be_visible() if kind == "beside" else expect(other).to_be_hidden()
        found = PARTS["attentions"]
        most = np.abs(found[1, 1] - found[0, 1]).max()
        said = re.search(
            r"Largest difference: .*?difference: −?(\d+(?:\.\d+)?)",
            figure(page).get_attribute("aria-label"),
        )
        assert float(said[1]) == pytest.approx(most, abs=0.006)
        walk(page, "Heads", "ArrowUp", "Enter")  # the held one: never compared with itself
        says(page, "Compared: Layer 0, head 2:")
        for _ in range(2):  # each choice is one step
            page.get_by_role("button", name="Undo").click()
        expect(figure(page)).to_have_attribute("aria-label", before)
        page.get_by_role("button", name="Undo").click()
        expect(figure(page)).not_to_have_attribute("aria-label", re.compile("Compared"))
        assert it.errors == []


def test_a_difference_is_said_and_drawn(browser: Browser, tmp_path):
    widget = make()
    widget.compare = "difference"
    first, other = PARTS["attentions"][0, 1], PARTS["attentions"][0, 2]
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "Compared: Layer 0, head 2:")
        away = first[6, 2] - other[6, 2]
        said = re.search(r"difference: (−?)([\d.]+)$", cell(it.page))
        assert float(said[2]) == pytest.approx(abs(away), abs=0.006)
        assert bool(said[1]) == (away < 0)
        show_values(it.page)
        heads = it.page.locator("thead th").all_text_contents()
        assert heads == ["Key", "Weight", "Layer 0, head 2", "Difference", "Score"]
        shown = it.page.locator("tbody td:nth-child(4)").all_text_contents()
        shown = [float(x.replace("−", "-").replace("≈ ", "")) for x in shown]
        assert shown == pytest.approx(first[6] - other[6], abs=0.006)
        colors = it.page.locator(".lm-stage svg path[fill=none][opacity]").evaluate_all(
            "all => all.map((it) => it.getAttribute('stroke'))"
        )
        assert len(colors) == np.count_nonzero(first[6] - other[6]) and len(set(colors)) == 2
        assert it.errors == []


def test_without_comparing_the_table_has_no_empty_column(browser: Browser, tmp_path):
    with open_file(
        browser, host_page("file", AttentionHeads(FOUR, WORDS, query=1), tmp_path)
    ) as it:
        show_values(it.page)
        assert it.page.locator("thead th").all_text_contents() == ["Key", "Weight"]
        assert it.page.locator("tbody th").nth(2).text_content() == "“\u2068c\u2069” (2)"


def test_segments_leave_what_goes_from_one_to_the_other(browser: Browser, tmp_path):
    segments = [0, 0, 0, 1, 1, 1, 1, 1]
    widget = AttentionHeads(PARTS["attentions"], TOKENS, segments=segments, query=6, key=2)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        it.page.get_by_label("Segments", exact=False).first.select_option("B-A")
        says(it.page, "segments: B-A")
        grid = it.page.get_by_role("grid", name="Weights")
        expect(grid).to_have_attribute("aria-rowcount", "5")
        expect(grid).to_have_attribute("aria-colcount", "3")
        assert cell(it.page).startswith("“long” (6) → “novel” (2): ")


def test_a_pin_outside_of_the_segments_is_kept(browser: Browser, tmp_path):
    segments = np.array([[False] * 3 + [True] * 5])  # as a tokenizer's token_type_ids
    more = {"segments": segments, "between": "A-B"}
    widget = AttentionHeads(PARTS["attentions"], TOKENS, query=6, key=5, **more)
    assert (widget.query, widget.key) == (6, 5)
    found = AttentionHeads(PARTS["attentions"], TOKENS, **more)
    assert found.query < 3 <= found.key
    for it, shown in ((widget, 0), (found, found.query)):  # of the other, the first of A
        assert f"({shown}) attends to none of these; 0% of its weight is shown" in it.alt
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        says(it.page, "“\u2068[CLS]\u2069” (0) attends to none of these; 0% of its weight is shown")
        it.page.get_by_label("Segments").first.select_option("all")
        says(it.page, "(6) attends to")


def test_of_some_of_the_keys_it_is_said_how_much_they_hold(browser: Browser, tmp_path):
    segments = [0, 0, 0, 1, 1, 1, 1, 1]
    widget = AttentionHeads(**PARTS, tokens=TOKENS, segments=segments, query=6, between="B-A")
    share = PARTS["attentions"][widget.layer, widget.head, 6, :3].sum()
    said = f"; {int(100 * share)}% of its weight is shown."
    assert said in widget.alt
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, said)
        assert "; entropy" not in figure(it.page).get_attribute("aria-label")
        it.page.get_by_label("Segments").first.select_option("all")
        row = PARTS["attentions"][widget.layer, widget.head, 6]
        bits = -(row[row > 0] * np.log2(row[row > 0])).sum()
        says(it.page, f"; entropy {bits:.3g} bits.")


def test_both_heads_are_computed_anew(browser: Browser, tmp_path):
    widget = AttentionHeads(**PARTS, tokens=TOKENS, layer=0, head=1, query=6, key=2)
    widget.compare, widget.temperature = "beside", 5.0
    scores = [(PARTS["queries"] @ PARTS["keys"].swapaxes(-1, -2))[0, h, 6, :7] / 2 for h in (1, 2)]
    p = [softmax(it / 5)[2] for it in scores]
    said = f"(2): {p[0]:.2f}; Layer 0, head 2, recomputed: {p[1]:.2f}; difference"
    assert said in widget.alt
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, said)
        titles = it.page.locator(".lm-stage svg text.strong").all_text_contents()
        assert {f"Layer 0, head {h}, recomputed" for h in (1, 2)} <= set(titles)


def numbers_apart(text: str) -> tuple[str, list[float]]:
    """What is said without its numbers, and these."""
    said = text.replace("−", "-").replace("≈ 0", "0")
    pattern = r"(-?\d+(?:\.\d+)?)(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    found = re.findall(pattern, said)
    numbers = [float(x) * 10.0 ** int(e.translate(plain) or 0) for x, e in found]
    return re.sub(pattern, "#", said), numbers


def settings_of(seed: int) -> AttentionHeads:
    """A widget of random weights at random settings; its tokens are plain words."""
    random = Random(seed)
    cross = random.random() < 0.3
    rows, columns = random.randint(2, 9), random.randint(2, 9) if cross else 0
    columns = columns or rows
    parts = weights(random, random.randint(1, 3), random.randint(2, 4), rows, columns)
    layers, heads = parts["attentions"].shape[:2]
    given = {"attentions": parts["attentions"]}
    if random.random() < 0.6:
        given = parts | {"temperature": random.choice([1, 1, 0.3, 7])}
        given |= {"masking": random.choice(["given", "none", "causal"])}
        given |= {"scaling": random.choice(["given", "none"])}
    elif random.random() < 0.5:
        other = weights(random, 2, 3, rows, columns)["attentions"]
        given = {"attentions": {"one": parts["attentions"], "two": other}}
        given["channel"] = random.choice(["one", "two"])
    if not cross and random.random() < 0.6:
        given["segments"] = [int(2 * i >= rows) for i in range(rows)]
        given["between"] = random.choice(["all", "A-A", "A-B", "B-A", "B-B"])
    several = isinstance(given["attentions"], dict)
    pictures = ["map", "lines", "heads"] + ["scores"] * ("queries" in given)
    given["picture"] = random.choice(pictures)
    if random.random() < 0.5:
        given["values"] = np.random.default_rng(seed).standard_normal((layers, heads, columns, 3))
    measures = ["weight", "mean"] + ["norm"] * ("values" in given and not several)
    measures += ["rollout"] * (not cross and layers > 1)
    given["measure"] = random.choice(measures)
    return AttentionHeads(
        **given,
        tokens=[f"t{i % 4}" for i in range(rows)],
        key_tokens=[f"k{i % 4}" for i in range(columns)] if cross else None,
        compare=random.choice(["off", "beside", "difference"]),
        held=random.choice([None, [layers - 1, heads - 1], [0, 0]]),
        query=random.choice([None, rows - 1, 0]),
        key=random.choice([None, columns - 1]),
        lines=random.choice(["1", 3, "8", "50%", "90%", "100%"]),
    )


@pytest.mark.parametrize("pictures", [("map",), ("lines", "heads"), ("scores",)])
def test_python_says_what_the_page_says(pictures, browser: Browser, tmp_path):
    widgets = {seed: settings_of(seed) for seed in range(120)}
    mine = {seed: it for seed, it in widgets.items() if it.picture in pictures}
    assert len(mine) > 10
    module = json.dumps(str(next(iter(mine.values()))._esm)).replace("<", "\\u003c")
    path = tmp_path / "many.html"
    path.write_text(MANY.format(module=module), encoding="utf-8")
    with open_file(browser, path) as it:
        it.page.wait_for_function("window.ready")
        for seed, widget in mine.items():
            found = it.page.evaluate("(state) => mount(state, 1)", widget.state())["first"]
            (page, shown), (paper, wanted) = numbers_apart(found), numbers_apart(widget.alt)
            assert page == paper, seed
            assert shown == pytest.approx(wanted, rel=0.006, abs=0.002), seed
        assert it.errors == []


def test_a_large_page_says_what_it_does_not_know(browser: Browser, tmp_path):
    uniform = np.full((1, 2, 1400, 1400), 1 / 1400, np.float32)
    widget = AttentionHeads(uniform, ["x"] * 1400, query=5, key=700, compare="beside")
    with pytest.raises(CourseError, match="'difference' is unknown"):
        widget.compare = "difference"
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "(700): not among the 8 largest; Layer 0, head 1: not among the 8 largest")
        assert "; 0% of its weight is shown" in figure(it.page).get_attribute("aria-label")
        expect(it.page.get_by_text("largest weight of each block; blank: 0")).to_be_visible()
        clear = (
            it.page.locator("canvas")
            .nth(1)
            .evaluate(
                """(it) => it.getContext("2d").getImageData(0, 0, it.width, it.height).data
                .filter((_, i) => i % 4 === 3).filter((it) => !it).length"""
            )
        )
        assert clear == 0 and it.errors == []  # of a uniform head nothing is blank


def test_many_heads_can_be_chosen_by_a_finger(browser: Browser, tmp_path):
    p = np.tile(FOUR[:1, :1], (12, 12, 1, 1))
    with open_file(
        browser, host_page("file", AttentionHeads(p, WORDS, layer=3, head=4), tmp_path), width=360
    ) as it:
        box = it.page.get_by_label("Head", exact=True).bounding_box()
        assert box["height"] >= 44 and box["width"] > 100
        it.page.get_by_label("Layer", exact=True).press("ArrowRight")
        says(it.page, "Layer 4, head 4:")


def test_channels_of_other_sizes_stand_beside_each_other(browser: Browser, tmp_path):
    channels = {"teacher": heads(4)[[0, 1, 0, 1]], "student": FOUR}
    widget = AttentionHeads(channels, WORDS, channel="student", compare="beside", layer=1, head=0)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "Layer 1, head 0 of student")
        says(it.page, "Compared: Layer 3, head 0 of teacher")
        it.page.get_by_label("Show").select_option("teacher")
        says(it.page, "4 × 3 heads")
        assert it.errors == []


def test_segments_of_one_sequence_may_be_listed():
    assert AttentionHeads(FOUR, WORDS, segments=[[0, 0, 1, 1]]).segments == [0, 0, 1, 1]
    with pytest.raises(CourseError) as caught:
        AttentionHeads(FOUR, WORDS, segments=[[0, 0, 1, 1, 1]])
    assert caught.value.remedy == "Pass an array of that shape."


def test_a_mask_of_nothing_may_be_added():
    nothing = np.zeros((1, len(TOKENS)))
    full = softmax(PARTS["queries"] @ PARTS["keys"].swapaxes(-1, -2) / 2)
    AttentionHeads(**PARTS | {"attentions": full, "mask": nothing}, tokens=TOKENS)


def test_one_channel_may_have_a_name():
    widget = AttentionHeads({"teacher": FOUR}, WORDS)
    assert widget.channel == "teacher"
    with pytest.raises(CourseError, match="Choose one of teacher"):
        widget.channel = "attention"


@pytest.mark.parametrize("lines", [8, np.int64(8), "8"])
def test_numbers_of_lines_are_taken(lines):
    assert AttentionHeads(FOUR, WORDS, lines=lines).lines == "8"


def send_layers(page: Page, widget: AttentionHeads) -> None:
    """Hand a page in Jupyter what the kernel answers: bytes come as DataViews."""
    page.evaluate(
        """([full, of]) => {
          const bytes = full.map((it) => Uint8Array.from(atob(it), (c) => c.charCodeAt(0)));
          kernel("full", bytes.map(({buffer}) => new DataView(buffer)));
          kernel("full_of", of);
        }""",
        [[base64.b64encode(it).decode() for it in widget.full], widget.full_of],
    )


def test_a_kernel_sends_the_layer_that_a_page_lacks(browser: Browser, tmp_path):
    p = softmax(NUMBERS.standard_normal((1, 2, 1400, 1400)).astype(np.float32))
    widget = AttentionHeads(p, ["x"] * 1400, head=1, query=5, key=0)
    order = np.argsort(p[0, 1, 5])
    widget.key = int(order[0])
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        says(it.page, "not among the 8 largest")
        says(it.page, "a running kernel has all")
        it.page.wait_for_function("JSON.stringify(host.changed.wanted) === '[[0,0]]'")
        widget.wanted = [[0, 0]]
        send_layers(it.page, widget)
        lacks = re.compile("not among|on this page")
        expect(figure(it.page)).not_to_have_attribute("aria-label", lacks)
        expect(it.page.get_by_text("on this page are")).to_have_count(0)
        assert it.errors == []


def test_a_kernel_sends_the_layer_of_the_head_beside_it(browser: Browser, tmp_path):
    p = np.full((2, 1, 1400, 1400), 1 / 1400, np.float32)
    p[1, 0, 5], p[1, 0, 5, 9] = 0.5 / 1399, 0.5
    widget = AttentionHeads(p, ["x"] * 1400, layer=0, query=5, key=700, compare="beside")
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        says(it.page, "(700): not among the 8 largest; Layer 1, head 0: not among")
        it.page.wait_for_function("JSON.stringify(host.changed.wanted) === '[[0,0],[0,1]]'")
        assert "Largest difference" not in figure(it.page).get_attribute("aria-label")
        widget.wanted = [[0, 0], [0, 1]]
        send_layers(it.page, widget)
        says(it.page, "Largest difference: “\u2068x\u2069” (5) → “\u2068x\u2069” (9): 0.001; ")
        says(it.page, "Layer 1, head 0: 0.50; difference: −0.50.")
        assert it.errors == []


def test_padding_looks_nowhere(browser: Browser, tmp_path):
    p = FOUR.copy()
    p[:, :, 3] = 0
    with open_file(
        browser, host_page("file", AttentionHeads(p, WORDS, query=3), tmp_path), width=390
    ) as it:
        says(it.page, "(3) attends to none of these")
        assert "attends to none of these" in cell(it.page)
        assert "attends to none of these. Pinned" in figure(it.page).get_attribute("aria-label")
        assert it.errors == []


def test_a_rollout_is_a_product_of_matrices():
    p = heads(5).astype(np.float64)
    p[1, :, 4] = 0  # padding
    mixed = [layer.mean(0) + np.eye(5) for layer in p]
    below, above = (it / it.sum(-1, keepdims=True) for it in mixed)
    np.testing.assert_allclose(rollout(list(p.mean(1))), above @ below, atol=1e-6)
    np.testing.assert_allclose(rollout(list(p.mean(1))[:1]), below, atol=1e-6)


def test_norms_are_those_of_what_each_weight_moves():
    values = NUMBERS.standard_normal((2, 3, 4, 6))
    moved = np.linalg.norm(FOUR[..., None] * values[:, :, None], axis=-1)  # one vector a weight
    widget = AttentionHeads(FOUR, WORDS, values=torch.tensor(values), picture="lines", layer=1)
    widget.head, widget.query, widget.key, widget.measure = 2, 3, 1, "norm"
    assert f"“\u2068d\u2069” (3) → “\u2068b\u2069” (1): {moved[1, 2, 3, 1]:.2f}" in widget.alt
    norms = np.linalg.norm(values, axis=-1)
    np.testing.assert_allclose(value_norms(values, FOUR.shape)["norms0"], norms)


def test_a_page_has_what_each_of_its_pictures_needs():
    widget = AttentionHeads(**PARTS, values=PARTS["queries"], tokens=TOKENS)
    assert set(widget.index) == {"entropy0", "weights0", "q", "k", "mask", "scale", "norms0"}
    pictures = {name: it for name, _, it in widget.choices}["picture"]
    assert list(pictures) == ["map", "lines", "heads", "scores"]
    channels = AttentionHeads({"a": FOUR, "b": FOUR}, WORDS, values=FOUR)  # whose norms?
    assert set(channels.index) == {"entropy0", "weights0", "entropy1", "weights1"}


def drawing(page: Page, name: str) -> Locator:
    """The button that draws a picture."""
    return page.get_by_role("group", name="Draw").get_by_role("button", name=name, exact=True)


def all_pictures(**more) -> AttentionHeads:
    """A widget whose reader can draw every picture."""
    given = PARTS | {"values": PARTS["queries"], "layer": 0, "head": 1, "query": 6, "key": 2}
    return AttentionHeads(**given | more, tokens=TOKENS)


@pytest.mark.parametrize("how", ["mouse", "keys", "finger"])
def test_a_reader_switches_between_the_pictures(how, browser: Browser, tmp_path):
    path, touch = host_page("jupyter", all_pictures(), tmp_path), how == "finger"
    own = {"Map": "Weights", "Lines": None, "All heads": None, "Scores": "q ⊙ k by dimension"}
    with open_file(browser, path, touch=touch, width=390 if touch else 1000) as it:
        page = it.page
        for name in ("Lines", "All heads", "Scores", "Map"):
            button = drawing(page, name)
            if how == "keys":
                button.focus()
                page.keyboard.press("Enter")
            else:
                button.tap() if touch else button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(page.get_by_role("button", pressed=True)).to_have_count(1)
            for other, grid in own.items():
                if grid:
                    there = page.get_by_role("grid", name=grid)
                    expect(there).to_have_count(int(name == other))
            value = page.evaluate("host.changed.picture")
            assert value == ("heads" if name == "All heads" else name.lower())
            assert axe(page) == [] and overflow(page) == 0 and beside(page) == []
        page.get_by_role("button", name="Undo").click()
        expect(drawing(page, "Scores")).to_have_attribute("aria-pressed", "true")
        assert it.errors == []


def test_only_the_controls_of_the_picture_are_shown(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", all_pictures(), tmp_path)) as it:
        for name, wanted in {
            "Map": {"Lines to", "Compare", "Mask", "Scale"},
            "Lines": {"Numbers", "Lines to", "Compare", "Mask", "Scale"},
            "Scores": {"Mask", "Scale"},
        }.items():
            drawing(it.page, name).click()
            boxes = it.page.get_by_role("combobox")
            expect(boxes).to_have_count(len(wanted))
            assert {x.evaluate("it => it.labels[0].firstChild.data") for x in boxes.all()} == wanted


def test_a_picture_on_file_has_nothing_of_the_others(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", all_pictures(), tmp_path)) as it:
        drawing(it.page, "Lines").click()
        expect(it.page.get_by_role("grid", name="Weights")).to_have_count(0)
        with it.page.expect_download() as caught:
            it.page.get_by_role("button", name="Save SVG").click()
        images = re.findall(r"<image [^>]*>", caught.value.path().read_text(encoding="utf-8"))
        assert sum(not re.search(r' width="0"', image) for image in images) == 1  # the heads


def test_on_a_phone_the_picture_is_before_the_controls(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", all_pictures(), tmp_path), width=390) as it:
        page = it.page
        controls = page.locator(".lm-controls")

        def top(where: Locator) -> float:
            return where.bounding_box()["y"]

        says(page, "Layer 0, head 1:")
        assert top(page.locator(".lm-stage")) < 180
        assert top(controls) > top(page.get_by_role("grid", name="Weights"))
        resize(page, 1000)
        assert top(controls) < top(page.locator(".lm-stage"))
        resize(page, 390)
        assert top(controls) > top(page.locator(".lm-stage"))


def touching(page: Page) -> list:
    """The pairs of tokens' names in the picture that overlap, but for covered ones."""
    return page.locator(".lm-stage svg[role=img]").evaluate(
        """(svg) => {
          const box = (it) => it.getBoundingClientRect();
          const holds = (a, b) => a.left <= b.left + 1 && a.right >= b.right - 1
            && a.top <= b.top + 1 && a.bottom >= b.bottom - 1;
          const papers = [...svg.querySelectorAll(".paper")];
          const covered = (it) => papers.some((paper) => holds(box(paper), box(it))
            && it.compareDocumentPosition(paper) & Node.DOCUMENT_POSITION_FOLLOWING);
          const seen = [...svg.querySelectorAll("text")]
            .filter((it) => it.textContent.startsWith("word") && !covered(it));
          const touch = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
          return seen.flatMap((one, i) => seen.slice(i + 1)
            .filter((other) => touch(box(one), box(other)))
            .map((other) => [one.textContent, other.textContent]));
        }"""
    )


@pytest.mark.parametrize("picture", ["map", "lines", "scores"])
def test_no_name_of_a_token_lies_on_another(picture, browser: Browser, tmp_path):
    words = [f"word {i}" for i in range(40)]
    widget = AttentionHeads(
        **weights(Random(2), 1, 2, 40, 40), tokens=words, picture=picture, query=18, key=11
    )
    with open_file(browser, host_page("file", widget, tmp_path), width=390) as it:
        page = it.page
        for width in (390, 1000):
            resize(page, width)
            assert touching(page) == []
            for grid in ("Queries", "Keys"):
                walk(page, grid, "ArrowDown", "ArrowRight")
                assert touching(page) == []
        assert page.locator(".lm-stage svg .strong").count() > 2


def test_a_token_shows_its_row_and_its_column(browser: Browser, tmp_path):
    widget = AttentionHeads(**PARTS, tokens=TOKENS, layer=0, head=1, query=6, key=2)
    p = PARTS["attentions"][0, 1]
    for picture in ("map", "lines"):
        widget = AttentionHeads(
            **PARTS, tokens=TOKENS, layer=0, head=1, query=6, key=2, picture=picture
        )
        with open_file(browser, host_page("file", widget, tmp_path)) as it:
            page, tip = it.page, it.page.locator(".lm-tip")
            lines = page.locator(".lm-stage svg > g:last-of-type path[fill=none]")
            box = page.get_by_role("grid", name="Queries").bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3.5 / 8 * box["height"])
            expect(tip).to_contain_text("“\u2068was\u2069” (3) attends to ")
            expect(tip).to_contain_text("“\u2068was\u2069” (3) is attended to by ")
            assert lines.count() == np.count_nonzero(p[3]) + np.count_nonzero(p[:, 3])
            page.mouse.move(2, 2)
            expect(tip).to_be_hidden()
            expect(lines).to_have_count(0)
            walk(page, "Keys", *["ArrowUp" if picture == "lines" else "ArrowLeft"])
            most = p[:, 1].argmax()
            said = f"(1) is attended to by “\u2068{TOKENS[most]}\u2069” ({most}) {p[most, 1]:.2f}"
            expect(page.get_by_role("status")).to_contain_text(said)
            assert lines.count() == np.count_nonzero(p[1]) + np.count_nonzero(p[:, 1])
            page.keyboard.press("Enter")
            says(page, "Pinned: “\u2068the\u2069” (1) → “\u2068the\u2069” (1)")
            page.keyboard.press("Tab")
            expect(lines).to_have_count(0)
            assert it.errors == []


def test_all_lines_of_one_head_and_of_all(browser: Browser, tmp_path):
    given = PARTS | {"values": PARTS["queries"]}
    p = PARTS["attentions"][1]
    widget = AttentionHeads(
        **given, tokens=TOKENS, layer=1, head=2, query=6, key=2, picture="lines"
    )
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        lines = page.locator(".lm-stage svg > g:first-of-type path[fill=none]")

        def count(some):
            """All lines, and again those of the pinned tokens."""
            return int(sum(map(np.count_nonzero, (some, some[:, 6], some[:, :, 2]))))

        expect(lines).to_have_count(count(p[2:]))
        drawing(page, "All heads").click()
        expect(lines).to_have_count(count(p))
        expect(page.get_by_text("Layer 1, all heads")).to_be_visible()
        for measure, said in {
            "mean": "Layer 1, mean of heads: mean entropy",
            "rollout": "Rollout to layer 1: mean entropy",
            "norm": "Layer 1, head 2, × norm:",
        }.items():
            page.get_by_label("Numbers").select_option(measure)
            says(page, said)
        p = PARTS["attentions"].mean(1) + np.eye(8)
        p /= p.sum(-1, keepdims=True)
        page.get_by_label("Numbers").select_option("rollout")
        says(page, f"(6) → “\u2068novel\u2069” (2): {(p[1] @ p[0])[6, 2]:.2f}.")
        assert it.errors == []


def test_scores_by_dimension(browser: Browser, tmp_path):
    widget = AttentionHeads(
        **PARTS, tokens=TOKENS, layer=0, head=1, query=6, key=2, picture="scores"
    )
    q, k = (PARTS[name][0, 1].astype(float) for name in ("queries", "keys"))
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        name = "q ⊙ k by dimension"
        walk(it.page, name, "Home", *["ArrowDown"] * 2, *["ArrowRight"] * 3)
        text, found = cell(it.page, name), []
        for n in range(4):
            walk(it.page, name, "Home", *["ArrowRight"] * n)
            said = re.fullmatch(
                r".*; dimension (\d): q (.*); k (.*); product (.*)", cell(it.page, name)
            )
            numbers = [float(x.replace("−", "-")) for x in said.groups()]
            j = 2
            assert numbers == pytest.approx([n, q[6, n], k[j, n], q[6, n] * k[j, n]], rel=0.01)
            found.append(numbers[3])
        assert text.startswith("“novel” (2); dimension 3:")
        says(it.page, "q · k: ")
        assert sum(found) == pytest.approx(q[6] @ k[2], abs=0.02)
        shown = it.page.locator(".lm-stage svg text").all_text_contents()
        dots = [f"{x:.3g}".replace("-", "−") for x in k @ q[6] if abs(x) > 0.01]
        assert set(dots) <= set(shown)
        assert it.errors == []
