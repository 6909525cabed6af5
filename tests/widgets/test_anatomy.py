"""Anatomy: pictures, comparisons, budgets, and what a reader can do beside all widgets' tests."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser, expect

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.evaluation.anatomy import anatomy
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.deberta import Deberta, DebertaConfig
from lmcourse.models.distilbert import DistilBert, DistilBertConfig
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.style import PARTS
from lmcourse.widgets import Anatomy
from lmcourse.widgets.anatomy_layout import text_width
from lmcourse.widgets.anatomy_marks import View, extent
from lmcourse.widgets.anatomy_view import views
from tests.models.subjects import SUBJECTS
from tests.widgets import golden_anatomy
from tests.widgets.examples import tap, walk
from tests.widgets.examples.anatomy import drawn, make
from tests.widgets.hosts import WEB, axe, host_page, open_file, show_values
from tests.widgets.test_modules import STATE_BYTES

IDS = torch.arange(6)[None]
SMALL = {"vocab_size": 20, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12}
DRAWN = (
    "BERT for pre-training",
    "DeBERTa",
    "ELMo over words",
    "GPT-2",
    "Transformer's target, pre-norm",
)
MODELS = [it for it in SUBJECTS if it.name in DRAWN or "seq2seq's target" in it.name]


def test_the_reference_is_what_torch_says_today():
    kept = json.loads(golden_anatomy.PATH.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(golden_anatomy.golden()))
    remedy = "run `python -m tests.widgets.golden_anatomy` and commit what it writes"
    assert [[name for name, _ in it] for it in found["blocks"]] == [
        [name for name, _ in it] for it in kept["blocks"]
    ], remedy


def small(kind: Any, config: Any, layers: int = 2) -> Any:
    torch.manual_seed(0)
    return anatomy(kind(config(num_hidden_layers=layers, **SMALL)), input_ids=IDS)


def marks(widget: Anatomy, model: int) -> dict[str, str]:
    """The marked blocks of a model, by their names."""
    blocks = widget._drawings[model].blocks
    return {it.path: it.mark for it in blocks if it.mark}


def test_what_albert_shares_is_marked():
    widget = Anatomy(drawn("bert"), drawn("albert"))
    found = marks(widget, 1)
    shared = {name for name, it in found.items() if it == "shared"}
    assert {"encoder.attention.0", "encoder.feed_forward.0", "encoder.attention.0.query"} <= shared
    assert found["embeddings.projection"] == "new" and found["embeddings.word"] == "× 0.5"
    assert not any(it in ("gone", "shared") for it in marks(widget, 0).values())
    assert not any(it.mark for it in drawn("bert").blocks)  # the drawings themselves stay


def test_what_distilbert_lacks_is_marked():
    widget = Anatomy(small(Bert, BertConfig), small(DistilBert, DistilBertConfig, 1))
    gone = {name for name, it in marks(widget, 0).items() if it == "gone"}
    assert gone == {"embeddings.segment", "add", "pooler.dense", "tanh"}
    assert marks(widget, 1) == {"encoder.layers.0": "1 instead of 2"}


def test_what_deberta_adds_is_marked_and_its_attention_is_beside_berts():
    widget = Anatomy(
        small(Bert, BertConfig), small(Deberta, DebertaConfig), inside="encoder.layers.0.attention"
    )
    new = {name for name, it in marks(widget, 1).items() if it == "new"}
    attention = "encoder.layers.0.attention"
    assert {f"{attention}.position_key", f"{attention}.position_query", "encoder.distance"} <= new
    assert f"{attention}.query" not in new
    labels = [[it[3] for it in view.marks if it[0] == "text"] for _, view in widget.shown()]
    assert "query" in labels[0] and "position key" in labels[1]


def test_three_recurrent_models_beside_each_other():
    torch.manual_seed(0)
    cells: Any = ("rnn", "lstm", "gru")
    models = [RNNLanguageModel(RNNConfig(20, 6, 5, cell)) for cell in cells]
    drawings = [
        anatomy(it, title=cell, input_ids=IDS) for it, cell in zip(models, cells, strict=True)
    ]
    widget = Anatomy(*drawings, inside="rnn.layers.0.step")
    assert [title for title, _ in widget.shown()] == [*cells]
    texts = [{it[3] for it in view.marks if it[0] == "text"} for _, view in widget.shown()]
    assert "tanh" in texts[0] and "f = σ" in texts[1] and {"r = σ", "n = tanh"} <= texts[2]
    assert widget.svg().count("<title>") == 1


def boxes(view: View) -> list[tuple[float, float, float, float]]:
    return [extent(it) for it in view.marks if it[0] in ("box", "circle")]


def overlap(one: Any, other: Any) -> bool:
    return all(one[i] < other[i + 2] - 0.5 and other[i] < one[i + 2] - 0.5 for i in (0, 1))


@pytest.mark.parametrize("subject", MODELS, ids=str)
def test_no_box_or_label_lies_on_another(subject: Any):
    torch.manual_seed(0)
    model = subject.build()
    batch = {k: v[:1] for k, v in subject.batch().items() if not re.search("mask|label", k)}
    for view in views(anatomy(model, most=1000, **batch)).values():
        words = [extent(it) for it in view.marks if it[0] == "text" and it[4] in ("shape", "mark")]
        for one, other in combinations(boxes(view), 2):
            assert not overlap(one, other)
        for word in words:
            assert not any(overlap(word, box) for box in boxes(view))
        for one, other in combinations(words, 2):
            assert not overlap(one, other)
        for mark in view.marks:
            if mark[0] != "path":
                left, top, right, bottom = extent(mark)
                assert left >= -1 and top >= -1 and right <= view.width + 1
                assert bottom <= view.height + 1


def test_every_label_fits_its_box():
    for name in ("bert", "albert", "lstm"):
        for view in views(drawn(name)).values():
            for mark in view.marks:
                if mark[0] == "text" and mark[4] == "name":
                    x, y, words = mark[1:4]
                    room = [b for b in boxes(view) if b[0] <= x <= b[2] and b[1] <= y <= b[3]]
                    assert any(text_width(words) <= b[2] - b[0] for b in room), words


def test_the_static_picture_is_the_same():
    widget = make()
    picture = ElementTree.fromstring(widget.svg())
    texts = [it.text for it in picture.iter("{http://www.w3.org/2000/svg}text")]
    (_, view), *_ = widget.shown()
    assert texts == [it[3] for it in view.marks if it[0] == "text"]
    paths = [it.get("d") for it in picture.iter("{http://www.w3.org/2000/svg}path")]
    assert paths == [it[1] for it in view.marks if it[0] == "path"]
    data, _ = widget._repr_mimebundle_()
    assert {"text/html", "text/plain", "image/svg+xml"} <= data.keys()
    assert "var(" not in widget.svg() and "<script" not in widget.svg()


def test_tokens_and_names_are_text_everywhere():
    bad = "</title><script>alert(1)</script>"
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(20, 6, 5))
    widget = Anatomy(anatomy(model, title=bad, tokens=[bad] * 6, input_ids=IDS))
    assert "<script>" not in widget.svg() and widget.to_html().count("<script") == 1


def test_the_colors_are_the_styles():
    text = (WEB / "widgets/shared/colors.js").read_text(encoding="utf-8")
    listed = re.search(r"PARTS = \{([^}]+)\}", text)
    assert listed is not None
    found = dict(re.findall(r'"?([\w-]+)"?: "(#\w{6})"', listed[1]))
    assert found == {name: color for name, color in PARTS.items() if name != "plain"}


def test_the_courses_models_are_light_enough_for_a_page():
    drawings = []
    for name in ("bookworld-mlm", "bookworld-albert"):
        loaded = hub.load(name)
        assert loaded.tokenizer is not None
        encoded = loaded.tokenizer.encode("the story was [MASK] .")
        ids = torch.tensor([encoded.ids])
        one = anatomy(loaded.model, tokens=encoded.tokens, input_ids=ids)
        assert len(json.dumps(Anatomy(one).state())) <= STATE_BYTES
        drawings.append(anatomy(loaded.model, tokens=encoded.tokens, most=50_000, input_ids=ids))
    assert len(json.dumps(Anatomy(*drawings).state())) <= STATE_BYTES


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((), {}, "1 to 3 results"),
        (("bert",), {}, "1 to 3 results"),
        ((drawn("bert"),) * 4, {}, "1 to 3 results"),
        ((drawn("bert"),), {"block": "encoder.layers.9"}, "has no block"),
        ((drawn("bert"),), {"inside": "embeddings.word"}, "has no inside"),
        ((drawn("bert"),), {"model": 1}, "model is 1"),
        ((drawn("bert"),), {"row": -1}, "row is -1"),
    ],
)
def test_bad_arguments_have_a_remedy(arguments: Any, settings: Any, message: str):
    with pytest.raises(CourseError, match=message) as caught:
        Anatomy(*arguments, **settings)
    assert caught.value.remedy


def test_a_reader_goes_down_to_one_number_and_up_again(browser: Browser, tmp_path: Path):
    attention = "encoder.layers.0.attention"
    widget = Anatomy(drawn("bert"), block=attention)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        image = page.locator(".lm-stage svg[role=img]")
        expect(page.locator(".lm-facts .lm-title")).to_have_text(re.compile("Multi-head attention"))
        page.get_by_role("button", name="Look inside").click()
        expect(image).to_have_attribute("aria-label", re.compile("the inside of Multi-head"))
        walk(page, "Blocks", *["ArrowUp"] * 20, "ArrowDown", "ArrowDown", "Enter")
        expect(page.locator(".lm-facts .lm-title")).to_have_text("softmax")
        page.get_by_role("combobox", name="Layer").select_option("1")
        page.get_by_role("combobox", name="Head").select_option("1")
        tap(page, "Numbers", 0.05, 0.05)
        numbers = page.locator(".lm-facts pre[aria-live]")
        expect(numbers).to_contain_text("exp(")
        code = page.locator(".lm-facts")
        expect(code).to_contain_text("return scores.softmax(-1)")
        expect(code).to_contain_text("lmcourse/models/attention.py")
        page.get_by_role("button", name="Bert", exact=True).click()
        expect(image).to_have_attribute("aria-label", re.compile("Shown is the whole model"))
        assert it.errors == [] and it.requests == []


def anatomy_of(name: str) -> Anatomy:
    """The anatomy of a model that all models' tests use."""
    torch.manual_seed(0)
    subject = next(it for it in SUBJECTS if it.name == name)
    batch = {k: v[:1] for k, v in subject.batch().items() if not re.search("mask|label", k)}
    return Anatomy(anatomy(subject.build(), most=1000, **batch))


@pytest.mark.parametrize("name", ["BERT for pre-training", "Transformer's target, pre-norm"])
def test_on_a_phone_a_model_can_be_read_without_scrolling_sideways(
    name: str, browser: Browser, tmp_path: Path
):
    path = host_page("file", anatomy_of(name), tmp_path)
    with open_file(browser, path, width=390, touch=True) as it:
        stage = it.page.locator(".lm-stage")
        sizes = stage.locator("svg[role=img] text").evaluate_all(
            """all => all.map((it) =>
              it.getScreenCTM().a * parseFloat(getComputedStyle(it).fontSize))"""
        )
        assert len(sizes) > 10 and min(sizes) >= 9
        assert stage.evaluate("it => it.scrollWidth <= it.clientWidth")
        show_values(it.page)
        assert it.page.locator(".lm-table").evaluate("it => it.scrollWidth <= it.clientWidth")


def test_on_a_phone_the_details_are_beside_the_selected_block(browser: Browser, tmp_path: Path):
    path = host_page("file", anatomy_of("BERT for pre-training"), tmp_path)
    with open_file(browser, path, width=390, touch=True) as it:
        page = it.page
        image = page.locator(".lm-stage svg[role=img]")
        image.scroll_into_view_if_needed()
        attention = image.get_by_text("attention", exact=True).first

        def touch() -> None:
            box = attention.bounding_box()
            assert box is not None
            page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

        touch()
        facts = page.locator(".lm-facts .lm-title")
        expect(facts).to_contain_text("Multi-head attention")
        cell = page.get_by_role("grid", name="Blocks").get_by_role("gridcell")
        expect(facts).to_be_in_viewport(ratio=1)
        expect(cell).to_be_in_viewport(ratio=1)
        block, title = cell.bounding_box(), facts.bounding_box()
        assert block is not None and title is not None
        assert block["y"] + block["height"] <= title["y"]
        assert axe(page) == []
        page.get_by_role("button", name="Close").click()
        expect(facts).to_be_hidden()
        touch()
        expect(facts).to_be_visible()
        touch()
        expect(image).to_have_attribute("aria-label", re.compile("the inside of Multi-head"))
        assert it.errors == []
