"""AttentionHeads: what it accepts and refuses, how small it gets, what a reader does with it."""

import base64
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.widgets import AttentionHeads
from lmcourse.widgets.attention_channels import partners
from lmcourse.widgets.attention_measures import MEASURES, measures, most_telling
from lmcourse.widgets.attentions import as_attentions, pooled, quantized
from tests.widgets import golden_attention_heads as golden
from tests.widgets.examples import press, tap, walk
from tests.widgets.examples.attention_heads import PARTS, TOKENS, make, softmax
from tests.widgets.hosts import host_page, open_file
from tests.widgets.test_every_widget import figure, says

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
DROPPED = torch.nn.functional.dropout(torch.tensor(FOUR), 0.4)
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
        (FOUR[..., :0], {}, "nothing in it"),
        ("text", {}, "type str"),
        (FOUR[0, 0, 0], {}, "no attention's"),
        (BOTH, {}, 'encoder, cross.*part="encoder" or part="cross"'),
        (BOTH, {"part": "decoder"}, "decoder_attentions is None"),
        (BOTH, {"part": "head"}, "'head' is not known"),
        ({"a": FOUR, "b": OTHER}, {}, "'b' has 5 × 5 queries and keys, 'a' has 4 × 4"),
        ({}, {}, "0 channels"),
        ({3: FOUR}, {}, "called 3"),
        (FOUR[..., :3, :], {}, "tokens has 4 tokens, where the arrays have 3"),
        (FOUR, {"tokens": WORDS[:3]}, "tokens has 3 tokens"),
        (FOUR, {"key_tokens": WORDS[:3]}, "4 queries and 4 keys.*3 key_tokens"),
        (FOUR, {"segments": [0, 1, 2, 0]}, "segments holds 2"),
        (FOUR, {"segments": [0, 1]}, "segments has the shape \\(2,\\)"),
        (FOUR, {"segments": [0, 0, 1, 1], "key_tokens": WORDS}, "there are key_tokens"),
        (FOUR, {"between": "A-B"}, "'A-B' is not known"),
        (FOUR, {"queries": FOUR}, "keys is None"),
        (FOUR, {"mask": np.tri(4)}, "without queries and keys"),
        (FOUR, {"queries": FOUR, "keys": FOUR}, "In layer ., head .*pass scale="),
        (FOUR, {"queries": FOUR, "keys": FOUR[..., :2]}, "keys has the shape .*2, 3, 4, 4"),
        (FOUR, {"layer": 2}, "layer is 2, outside of 0 to 1"),
        (FOUR, {"held": [0, 3]}, "held\\[1\\] is 3"),
        (FOUR, {"temperature": 2.0}, "temperature is 2"),
        (FOUR, {"layer_map": {"x": [0]}}, "layer_map has 'x'"),
        ({"a": FOUR, "b": FOUR}, {"layer_map": {"b": [0, 9]}}, "0 to 1"),
        (FOUR[:, [0] * 70], {}, "2 layers of 70 heads"),
        (LONG, {"tokens": ["x"] * 2000}, "page carries 4 MB.*fewer tokens"),
    ],
)
def test_what_is_refused_says_what_to_do(attentions, more, said):
    with pytest.raises(CourseError, match=f"(?s){said}"):
        AttentionHeads(attentions, **({"tokens": WORDS} | more))


def test_the_reference_is_what_torch_says_today():
    kept, found = json.loads(golden.PATH.read_text(encoding="utf-8")), golden.golden()
    remedy = "run `python -m tests.widgets.golden_attention_heads` and commit what it writes"
    assert kept.keys() == found.keys(), remedy
    for name in set(kept) - {"cases"}:
        assert kept[name] == json.loads(json.dumps(found[name])), remedy
    for old, new in zip(kept["cases"], found["cases"], strict=True):
        assert old["how"] == new["how"] and old["at"] == list(new["at"]), remedy
        for name in ("p", "entropy", "dot"):
            assert new[name] == pytest.approx(old[name], rel=1e-6, abs=1e-9), remedy


def test_a_byte_keeps_small_weights():
    p = np.linspace(0, 1, 10001, dtype=np.float32)
    assert np.abs((quantized(p) / 255.0) ** 2 - p).max() < 0.004
    assert quantized(np.float32([1e-5]))[0] == 1


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
    assert most_telling(weights, entropies, True, (None, None, None, None))[:2] == (0, 0)
    assert most_telling(weights, entropies, True, (0, 1, 3, None)) == (0, 1, 3, 2)
    assert most_telling(weights[:, 2:], entropies[:, 2:], True)[:2] in {(0, 0), (0, 1)}


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
    widget.wanted = [0, 2]
    assert widget.full_of == [0, 2] and len(widget.full) == 4 * 600 * 600
    assert widget.state()["full"] == "" and widget.state()["wanted"] == []
    widget.wanted = [7, 7]
    assert widget.full_of == [0, 2]


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
        wanted = f"“\u2068was\u2069” → “\u2068the\u2069”\n{p:.2f}"
        expect(it.page.locator(".lm-tip")).to_have_text(wanted)
        names = it.page.locator(".lm-stage svg > g:last-of-type text.strong").all_text_contents()
        assert {"was", "the"} <= set(names)
        it.page.mouse.move(2, 2)
        expect(it.page.locator(".lm-tip")).to_be_hidden()
        assert it.errors == []


def test_a_pin_survives_another_head_and_the_table_has_its_weights(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        tap(page, "Weights", 0.2, 0.45)
        says(page, "Pinned: “\u2068was\u2069” → “\u2068the\u2069”")
        walk(page, "Heads", "ArrowDown", "Enter")
        says(page, "Layer 1, head 1:")
        says(page, "Pinned: “\u2068was\u2069” → “\u2068the\u2069”")
        page.get_by_text("Show values").click()
        shown = [float(it) for it in page.locator("tbody td:nth-child(3)").all_text_contents()]
        assert shown == pytest.approx(PARTS["attentions"][1, 1, 3], abs=0.01)


def test_arrows_walk_over_the_weights_and_enter_pins(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        walk(it.page, "Weights", "ArrowUp", "ArrowLeft")
        assert cell(it.page).startswith("“∅” → “the”: ")
        expect(it.page.get_by_role("status")).to_contain_text("→")
        it.page.keyboard.press("Enter")
        says(it.page, "Pinned: “\u2068∅\u2069” → “\u2068the\u2069”")


def test_one_weight_is_taken_apart_and_can_be_computed_anew(browser: Browser, tmp_path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        lines = "\n".join(page.locator(".lm-stage svg text").all_text_contents())
        assert f"{PARTS['attentions'][0, 1, 6, 2]:.4f}" in lines and "× scale 0.5" in lines
        says(page, "token 6, looks at")
        before = figure(page).get_attribute("aria-label")
        press(page, "Temperature", "End")
        says(page, "computed anew")
        bits = [
            float(re.search(r"; entropy ([\d.]+) bits", it)[1])
            for it in (before, figure(page).get_attribute("aria-label"))
        ]
        assert bits[0] < bits[1] < np.log2(7) + 0.01
        page.get_by_label("Mask").select_option("none")
        says(page, "computed anew")
        wide = figure(page).get_attribute("aria-label")
        assert float(re.search(r"; entropy ([\d.]+) bits", wide)[1]) > np.log2(7)


@pytest.mark.parametrize("kind", ["beside", "difference"])
def test_a_held_head_is_compared_with_the_next(kind, browser: Browser, tmp_path):
    with open_file(browser, host_page("jupyter", make(), tmp_path)) as it:
        page = it.page
        page.get_by_label("Compare").select_option(kind)
        says(page, "Compared: Layer 0, head 1:")
        walk(page, "Heads", "ArrowDown", "Enter")
        says(page, "Layer 1, head 1:")
        says(page, "Compared: Layer 0, head 1:")
        page.wait_for_function("String(host.changed.held) === '0,1'")
        other = page.get_by_role("grid", name="Other head")
        expect(other).to_be_visible() if kind == "beside" else expect(other).to_be_hidden()
        found = PARTS["attentions"]
        most = np.abs(found[1, 1] - found[0, 1]).max()
        said = re.search(r"difference: −?([\d.]+)", figure(page).get_attribute("aria-label"))
        assert float(said[1]) == pytest.approx(most, abs=0.011)
        assert it.errors == []


def test_segments_leave_what_goes_from_one_to_the_other(browser: Browser, tmp_path):
    segments = [0, 0, 0, 1, 1, 1, 1, 1]
    widget = AttentionHeads(PARTS["attentions"], TOKENS, segments=segments, query=6, key=2)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        it.page.get_by_label("Segments", exact=False).first.select_option("B-A")
        says(it.page, "segments: B-A")
        grid = it.page.get_by_role("grid", name="Weights")
        expect(grid).to_have_attribute("aria-rowcount", "5")
        expect(grid).to_have_attribute("aria-colcount", "3")
        assert cell(it.page).startswith("“long” → “novel”: ")


def test_channels_of_other_sizes_stand_beside_each_other(browser: Browser, tmp_path):
    channels = {"teacher": heads(4)[[0, 1, 0, 1]], "student": FOUR}
    widget = AttentionHeads(channels, WORDS, channel="student", compare="beside", layer=1, head=0)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "Layer 1, head 0 of student")
        says(it.page, "Compared: Layer 3, head 0 of teacher")
        it.page.get_by_label("Show").select_option("teacher")
        says(it.page, "4 × 3 heads")
        assert it.errors == []


def test_a_kernel_sends_the_layer_that_a_page_lacks(browser: Browser, tmp_path):
    p = softmax(NUMBERS.standard_normal((1, 2, 1400, 1400)).astype(np.float32))
    widget = AttentionHeads(p, ["x"] * 1400, head=1, query=5, key=0)
    order = np.argsort(p[0, 1, 5])
    widget.key = int(order[0])
    widget.wanted = [0, 0]
    full = base64.b64encode(widget.full).decode()
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        says(it.page, "below the top 8")
        it.page.wait_for_function("String(host.changed.wanted) === '0,0'")
        it.page.evaluate(
            """(full) => {
              const bytes = Uint8Array.from(atob(full), (c) => c.charCodeAt(0));
              kernel("full", new DataView(bytes.buffer));
              kernel("full_of", [0, 0]);
            }""",
            full,
        )
        expect(figure(it.page)).not_to_have_attribute("aria-label", re.compile("below the top"))
        assert it.errors == []


def test_padding_looks_nowhere(browser: Browser, tmp_path):
    p = FOUR.copy()
    p[:, :, 3] = 0
    with open_file(
        browser, host_page("file", AttentionHeads(p, WORDS, query=3), tmp_path), width=390
    ) as it:
        says(it.page, "looks at nothing")
        assert "looks nowhere" in cell(it.page)
        assert it.errors == []
