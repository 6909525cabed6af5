"""Graph's own: what Python refuses and says, and what a reader does in the browser."""

import copy
import json
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.widgets import Graph
from lmcourse.widgets.chain_rule import gradients
from lmcourse.widgets.expression import Mistake, is_name, parse
from lmcourse.widgets.graph_words import LEXICON, ODD, OPERATIONS
from tests.widgets import golden_graph
from tests.widgets.examples import press, tap, walk
from tests.widgets.hosts import host_page, open_file, overflow, show_values
from tests.widgets.test_every_widget import figure, says

KEPT = json.loads(golden_graph.PATH.read_text(encoding="utf-8"))


def test_the_reference_is_what_torch_and_the_parser_say_today():
    found = json.loads(json.dumps(golden_graph.golden()))
    remedy = "run `python -m tests.widgets.golden_graph` and commit what it writes"
    assert KEPT["lexicon"] == found["lexicon"] and KEPT["verdicts"] == found["verdicts"], remedy
    assert len(KEPT["cases"]) == len(found["cases"]) >= 300, remedy
    for old, new in zip(KEPT["cases"], found["cases"], strict=True):
        assert (old["text"], old["given"]) == (new["text"], new["given"]), remedy
        assert new["value"] == pytest.approx(old["value"], rel=1e-9), remedy
        assert _numbers(new) == pytest.approx(_numbers(old), rel=1e-9, abs=1e-12), remedy


def _numbers(case: dict) -> dict[str, float]:
    return {name: float(it) for name, it in case["gradients"].items()}


def test_python_computes_as_torch_does():
    for case in KEPT["cases"]:
        nodes = parse(case["text"])
        values, slopes = gradients(nodes, case["given"])
        assert values[-1] == pytest.approx(case["value"], rel=1e-9, abs=1e-12), case["text"]
        found = {
            it.name: slope for it, slope in zip(nodes, slopes, strict=True) if it.op == "variable"
        }
        assert found == pytest.approx(_numbers(case), rel=1e-9, abs=1e-9), case["text"]


def test_small_values_are_not_lost():
    nodes = parse("sigmoid(a)")
    for a, right in ((-40.0, 4.248354255291589e-18), (-700.0, 9.85967654375977e-305)):
        values, slopes = gradients(nodes, {"a": a})
        assert values[-1] == pytest.approx(right, rel=1e-12, abs=0)
        assert slopes[0] == pytest.approx(right, rel=1e-12, abs=0)


def test_overwriting_keeps_what_comes_last():
    nodes = parse("(x + y)*x*y**2")
    given = {"x": 1.0, "y": 2.0}
    assert gradients(nodes, given)[1][:2] == [16.0, 16.0]
    assert gradients(nodes, given, overwrite=True)[1][:2] == [4.0, 4.0]


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        (
            "2a",
            1,
            r"Between “2” and “a” an operator is missing\.\n    2a\n     \^\n Write products",
        ),
        ("a b", 2, "Between “a” and “b” an operator is missing"),
        ("a*(b + c", 8, "“\\)” is missing before the end"),
        ("a + ", 4, "A number, a name or “\\(” is needed before the end"),
        ("__import__('os')", 11, "“'” is not part of an expression"),
        (
            "__import__(a)",
            0,
            "“__import__” is not a function. The functions are tanh, .* as __import__",
        ),
        ("a.b", 1, "“.” is not part"),
        ("a[0]", 1, "“\\[” is not part"),
        ("a × b", 2, r"“×” is not part of an expression\.\n.*\n.*\n Write \* instead"),
        ("a\u200bb", 1, "U\\+200b is not part"),
        ("tanh x", 5, "“\\(” is missing after tanh"),
        ("max(a)", 5, "“,” is missing before “\\)”"),
        ("sin(a, b)", 5, "sin takes one argument"),
        ("h = a*b; c*2", 0, "“h” is never used"),
        ("a*b; c", 0, "Only the last part may be unnamed"),
        ("2 + 3", 0, "There is no variable. Write at least one name"),
        ("a" * 10_000, 200, "has 10000 characters. At most 200"),
        ("(" * 50 + "a", 30, "More than 30 levels are nested here"),
        ("a" + "+a" * 45, 81, "There are more than 40 nodes"),
        ("+".join("abcdefghi"), 16, "“i” is one variable too many. At most 8 are allowed"),
        ("abcdefghijklm", 0, "“abcdefghijklm” is longer than 12 letters"),
    ],
)
def test_a_mistake_is_named_with_its_place(text, at, says):
    with pytest.raises(Mistake, match=re.compile(says.replace(". ", r"\.\s+(?:.*\n)*\s*"), re.S)):
        Graph(text)
    with pytest.raises(Mistake) as caught:
        parse(text)
    assert caught.value.at == at and caught.value.remedy
    made = Graph("a*b")
    with pytest.raises(Mistake):
        made.expression = text
    assert made.expression == "a*b"


def test_a_mistake_comes_back_from_another_process():
    with pytest.raises(Mistake) as caught:
        parse("2a")
    back = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(back, CourseError) and str(back) == str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"expression": None}, "The expression is of type NoneType, not a string. Pass text"),
        ({"values": [1, 2]}, "values is of type list, not a dictionary. Pass {"),
        ({"values": {"a b": 1.0}}, "'a b' cannot be a variable's name. Pass letters"),
        ({"values": {"tanh": 1.0}}, "'tanh' cannot be a variable's name"),
        ({"values": {"a": "1x"}}, "The value of a is '1x', not a number"),
        ({"values": {"a": b"3"}}, "The value of a is b'3', not a number"),
        ({"values": {"a": " 1_0 "}}, "The value of a is ' 1_0 ', not a number"),
        ({"values": {"a": 10**400}}, "The value of a is 1000.*, not a number"),
        ({"values": {"a": 10**5000}}, "The value of a is a very large number, not a number"),
        ({"values": {"a": None}}, "The value of a is None, not a number"),
        ({"values": {"a": [1.0, 2.0]}}, "The value of a is"),
        ({"values": {"a": math.nan}}, "The value of a is nan, not between"),
        ({"values": {"a": 2e6}}, "The value of a is 2e.06, not between"),
        ({"c": 1.0}, r"c is not a variable of 'a\*b'. Its variables are a, b"),
        ({"step": -1}, "step is -1. Pass 0 or more"),
        ({"step": True}, "step is True. Pass 0 or more"),
        ({"step": 2.5}, "step is 2.5, not an integer"),
        ({"learning_rate": "0.1"}, "learning_rate is '0.1', not a number"),
        ({"learning_rate": 10**400}, "learning_rate is 1000.*, not a number"),
        ({"learning_rate": 0.0}, "learning_rate is 0, not"),
        ({"learning_rate": math.inf}, "learning_rate is inf, not"),
    ],
)
def test_what_does_not_fit_is_refused(change, says):
    with pytest.raises(CourseError, match=says) as caught:
        Graph(**({"expression": "a*b"} | change))
    assert caught.value.remedy


def test_values_change_as_a_whole_and_never_inside():
    widget = Graph("a*b", a=0.5)
    with pytest.raises(CourseError, match=r'widget.values = \{\*\*widget.values, "a": 5\}'):
        widget.values["a"] = 5
    for change in (
        lambda it: it.update(a="seven"),
        lambda it: it.pop("a"),
        lambda it: it.setdefault("c", 1),
        lambda it: it.__ior__({"a": 5}),
        lambda it: it.clear(),
    ):
        with pytest.raises(CourseError):
            change(widget.values)
    assert widget.values == {"a": 0.5} and type(copy.deepcopy(widget.values)) is dict
    widget.values = {**widget.values, "a": 5}
    assert widget.values == {"a": 5.0} and json.dumps(widget.state()["values"]) == '{"a": 5.0}'
    assert "∂L/∂b = 5" in widget.alt


def test_a_constants_slope_is_nobodys_trouble():
    assert "slope" not in Graph("x**(1+1)", x=-3).alt
    assert "the derivative is infinite" in Graph("x**n", x=-3, n=2).alt
    assert "tie" not in Graph("a*max(1, 1)", a=2).alt


def test_values_are_numbers_of_any_kind():
    made = Graph("a*b + c", {"a": np.float32(0.5), "old": 3}, b=torch.tensor(2.0), c=True)
    assert made.values == {"a": 0.5, "old": 3.0, "b": 2.0, "c": 1.0}
    one = Graph("a*b", a=np.array([2.0]), b=torch.tensor([[3.0]], requires_grad=True))
    assert one.values == {"a": 2.0, "b": 3.0}
    assert "L = 2;" in made.alt
    assert "a = 0.5 with ∂L/∂a = 2, b = 2 with ∂L/∂b = 0.5" in Graph("a*b").alt  # the defaults


def test_the_words_follow_each_setting():
    made = Graph("(x + y)*x*y**2", x=1, y=2)
    assert "L = 12; x = 1 with ∂L/∂x = 16" in made.alt
    seen = {made.alt}
    for name, value in (
        ("overwrite", True),
        ("step", 3),
        ("pinned", "x"),
        ("learning_rate", 0.5),
        ("values", {"x": 0, "y": 2}),
        ("expression", "log(x)"),
    ):
        setattr(made, name, value)
        assert made.alt not in seen, name
        seen.add(made.alt)
    assert "L = −∞" in made.alt and "nan" not in made.alt
    assert "L = log(x): log is defined only above 0" in made.alt
    assert "no value" in Graph("log(x)", x=-1).alt
    assert "v₁ = 1 / x: division by zero" in Graph("1/x + x", x=0).alt
    assert "No box is called h" in Graph("h = a; h*b", pinned="h").alt
    assert "learning rate" not in Graph("a*b").alt


def test_the_words_go_as_far_as_the_step():
    said = [Graph("(x + y)*x", x=1, y=2, step=step).alt for step in range(7)]
    assert said[0].endswith("Step 0 of 6, forward: values so far: x = 1, y = 2.")
    assert said[1].endswith("values so far: x = 1, y = 2, v₁ = 3.")
    assert "∂" not in "".join(said[:3])
    assert said[3].endswith("Step 3 of 6, backward: L = 3; gradients so far: ∂L/∂L = 1.")
    assert "∂L/∂x = 3, ∂L/∂v₁ = 1, ∂L/∂L = 1." in said[4] and "∂L/∂x = 4" in said[5]
    whole = Graph("(x + y)*x", x=1, y=2)
    assert said[6] == whole.alt and "x = 1 with ∂L/∂x = 4" in whole.alt
    whole.step = 99
    assert said[6] == whole.alt


def test_names_and_lexicon():
    assert is_name("η") and is_name("w1") and not is_name("tanh") and not is_name("v₁")
    assert len(json.dumps(LEXICON)) < 10_000
    assert set(ODD) - set(OPERATIONS) == {"overflow", "steep", "kink", "tie"}


# In the browser


def shown(browser: Browser, tmp_path: Path, widget: Graph, **options):
    return open_file(browser, host_page("file", widget, tmp_path), **options)


def lines(page: Page):
    """What a step says, above the picture."""
    return page.locator(".lm p[aria-live]")


def paths(page: Page):
    return page.locator(".lm-stage ~ div:not([class])").first


def test_a_mistake_stays_with_a_caret_and_changes_nothing(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        page = it.page
        field = page.get_by_label("Expression")
        field.fill("a*b + 2c")
        expect(page.locator(".lm pre")).to_have_text("a*b + 2c\n       ^")
        expect(page.get_by_text("Between “2” and “c” an operator is missing")).to_be_visible()
        expect(field).to_have_attribute("aria-invalid", "true")
        says(page, "Computation graph of a*b, ")
        page.get_by_role(
            "button", name="Overwriting: off"
        ).click()  # it does not take the text away
        says(page, "overwriting changes nothing")
        expect(field).to_have_value("a*b + 2c")
        field.fill("a*b + 2*c")
        expect(page.locator(".lm pre")).to_have_count(0)
        says(page, "Computation graph of a*b + 2*c, ")
        expect(page.get_by_label("c", exact=True)).to_have_value("-1")  # it got a field
        field.fill("<img src=x onerror=executed=1>")
        expect(page.get_by_text("“<” is not part of an expression")).to_be_visible()
        assert page.locator(".lm img").count() == 0 and it.errors == []


def test_step_by_step(browser, tmp_path):
    widget = Graph("(x + y)*x", x=1, y=2, step=0)
    with shown(browser, tmp_path, widget) as it:
        page = it.page
        step = page.get_by_role("button", name="Step ▶")
        says(page, "step 0 of 6. The variables have their values")
        assert page.locator(".lm svg text", has_text="∂").count() == 0
        step.click()
        says(page, "Forward, 1 of 2: v₁ = x + y = 1 + 2 = 3.")
        step.click()
        says(page, "Forward, 2 of 2: L = v₁ · x = 3 · 1 = 3.")
        step.click()
        says(page, "The backward pass begins: ∂L/∂L = 1")
        step.click()
        says(page, "Backward, 1 of 2: L passes on its gradient 1")
        expect(lines(page)).to_contain_text("∂L/∂v₁ += ∂L/∂L · ∂L/∂v₁ = 1 · 1 = 1")
        expect(lines(page)).to_contain_text("∂L/∂x = v₁ = 3")
        step.click()
        expect(lines(page)).to_contain_text("∂L/∂x += ∂L/∂v₁ · ∂v₁/∂x = 1 · 1 = 1, now 4")
        page.get_by_role("button", name="Overwriting: off").click()
        expect(lines(page)).to_contain_text("∂L/∂x = ∂L/∂v₁ · ∂v₁/∂x = 1 · 1 = 1, replacing 3")
        step.click()
        says(page, "Overwriting keeps only the last contribution to x")
        expect(page.get_by_text("∂ 1, finite difference 4 ✗ differs")).to_be_visible()
        expect(step).to_have_attribute("aria-disabled", "true")
        page.get_by_role("button", name="Play", exact=True).click()
        says(page, "step 0 of 6")
        says(page, "step 1 of 6")
        page.get_by_role("button", name="Pause").click()


def test_the_gradients_have_their_color(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        color = "el => getComputedStyle(el).getPropertyValue('--grad')"
        assert it.page.locator(".lm").first.evaluate(color) == "light-dark(#a84300, #ff9e64)"


def test_hover_pin_and_keys(browser, tmp_path):
    with shown(browser, tmp_path, Graph("(x + y)*x*y**2", x=1, y=2)) as it:
        page = it.page
        cell = page.get_by_role("gridcell")
        grid = page.get_by_role("grid")
        says(page, "L = 12.")
        box = grid.bounding_box()
        page.mouse.move(box["x"] + 0.21 * box["width"], box["y"] + 0.1 * box["height"])
        tip = page.locator(".lm-tip")
        expect(tip).to_have_text(
            "x = 1\n∂L/∂x = 16\n  4 · 1 = 4 by way of v₁\n  4 · 3 = 12 by way of v₂"
        )
        page.mouse.move(box["x"] + 0.99 * box["width"], box["y"] + 2)
        expect(tip).to_be_hidden()
        tap(page, "Nodes", 0.21, 0.1)
        expect(paths(page)).to_contain_text("x → v₁ → v₂ → L:  1 · 1 · 4 = 4")
        expect(paths(page)).to_contain_text("x → v₂ → L:  3 · 4 = 12\n  Sum: 16")
        walk(page, "Nodes", "Home", "ArrowRight", "Enter")
        says(page, "Paths from y to L: 2.")
        expect(cell).to_have_attribute("aria-label", re.compile("^y = 2, ∂L/∂y = 16"))
        walk(page, "Nodes", "End")
        expect(page.get_by_role("status")).to_have_text("L = v₂ · v₃ = 12, ∂L/∂L = 1")
        walk(page, "Nodes", "Home", "ArrowRight", "Enter")  # once more: it is let go
        expect(figure(page)).not_to_have_attribute("aria-label", re.compile("Paths from"))


def test_values_move_and_one_step_goes_downhill(browser, tmp_path):
    with shown(browser, tmp_path, Graph("(w*x - y)**2", w=1, x=2, y=6)) as it:
        page = it.page
        says(page, "L = 16.")
        press(page, "w, slider", "ArrowRight")
        says(page, "L = 15.2.")
        page.get_by_label("w", exact=True).fill("42")
        says(page, "L = 6.1·10³.")
        assert page.get_by_label("w, slider").get_attribute("max") == "50"
        page.get_by_label("w", exact=True).fill("1")
        page.get_by_label("Learning rate").fill("0.01")
        page.get_by_role("button", name="Step downhill").click()
        says(page, "L = 12.3.")
        expect(page.get_by_role("status")).to_have_text("L was 16 and is 12.3.")
        page.get_by_role("button", name="Undo").click()
        says(page, "L = 16.")
        page.get_by_label("w", exact=True).fill("9e9")  # is no value: the last one stays
        page.get_by_label("w", exact=True).blur()
        expect(page.get_by_label("w", exact=True)).to_have_value("1")
        page.get_by_label("Expression").fill("log(w)")
        says(page, "Computation graph of log(w)")
        page.get_by_label("w", exact=True).fill("0")
        says(page, "L = −∞.")
        says(page, "log is defined only above 0")
        page.get_by_role("button", name="Step downhill").click()
        expect(page.get_by_role("status")).to_contain_text("w would leave the allowed range")
        assert it.errors == []


def test_examples_and_phones(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b"), width=360, touch=True) as it:
        page = it.page
        for name, expression, values in LEXICON["examples"][1:]:
            page.get_by_label("Examples").select_option(label=name)
            says(page, f"Computation graph of {expression}, ")
            for variable, value in values.items():
                expect(page.get_by_label(variable, exact=True)).to_have_value(f"{value:g}")
            assert overflow(page) == 0
        says(page, "a kink, with derivative 0 on its left")
        says(page, "✗ differs")
        box = page.locator(".lm svg text", has_text=re.compile("^a$")).bounding_box()
        page.touchscreen.tap(box["x"] + 3, box["y"] + 3)
        expect(paths(page)).to_contain_text("Paths from a to L: 2.")
        assert overflow(page) == 0 and it.errors == []


def test_a_name_that_javascript_has_already(browser, tmp_path):
    with shown(browser, tmp_path, Graph("__proto__*2", {"__proto__": 3})) as it:
        says(it.page, "L = 6.")
        assert it.errors == []


def test_the_table_of_values(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        show_values(it.page)
        expect(it.page.locator(".lm tbody tr").last).to_have_text("L = a · b613, 2")


NETWORKS = [
    "h = tanh(w*x + b); p = v*h + c; (p - y)**2",
    "-log(sigmoid(y*(w1*x1 + w2*x2 + b)))",
    "h1 = tanh(w1*x + b1); h2 = tanh(w2*x + b2); (v1*h1 + v2*h2 - y)**2",
]


@pytest.mark.parametrize("text", [it for _, it, _ in LEXICON["examples"][1:]])
def test_the_output_is_on_a_phones_screen(text, browser, tmp_path):
    with shown(browser, tmp_path, Graph(text), width=390) as it:
        says(it.page, f"Computation graph of {text}, ")
        box = it.page.locator(".lm-stage rect[stroke-width='2']").bounding_box()
        room = it.page.locator(".lm-stage").bounding_box()
        assert room["x"] <= box["x"] and box["x"] + box["width"] <= room["x"] + room["width"]
        assert overflow(it.page) == 0


@pytest.mark.parametrize("text", NETWORKS)
def test_a_network_fits_a_page_and_scrolls_on_a_phone(text, browser, tmp_path):
    with shown(browser, tmp_path, Graph(text, step=0), width=1000) as it:
        page = it.page
        stage = page.locator(".lm-stage")
        says(page, "step 0 of")
        assert stage.evaluate("(it) => it.scrollWidth <= it.clientWidth")
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(100)
        assert overflow(page) == 0
        assert stage.evaluate("(it) => it.scrollLeft === 0")
        for key in ("End", "Home"):  # by keyboard
            walk(page, "Nodes", key)
            cell, room = page.get_by_role("gridcell").bounding_box(), stage.bounding_box()
            assert room["x"] - 1 < cell["x"]
            assert cell["x"] + cell["width"] < room["x"] + room["width"] + 1
        for _ in range(40):  # and to each node whose turn it is
            if page.get_by_role("button", name="Step ▶").get_attribute("aria-disabled") == "true":
                break
            page.get_by_role("button", name="Step ▶").click()
            page.wait_for_timeout(20)
            active = page.locator(".lm svg text", has_text=re.compile("^(value ▶|◀ gradient)$"))
            if active.count():
                box, room = active.bounding_box(), stage.bounding_box()
                assert (
                    room["x"] <= box["x"] and box["x"] + box["width"] <= room["x"] + room["width"]
                )
        assert it.errors == []


def test_stepping_can_be_read_on_a_phone_and_moves_nothing(browser, tmp_path):
    widget = Graph("h = tanh(w*x + b); (h - y)**2", step=0)
    with shown(browser, tmp_path, widget, width=390, touch=True) as it:
        page = it.page
        page.set_viewport_size({"width": 390, "height": 844})
        says(page, "step 0 of")
        places = set()
        for step in range(1, 12):
            page.get_by_role("button", name="Step ▶").click()
            says(page, f"step {step} of")
            assert page.evaluate("scrollY") == 0
            box = lines(page).bounding_box()
            assert box["y"] + box["height"] < 600
            places.add(page.locator(".lm-stage").bounding_box()["y"])
            places.add(page.locator(".lm-stage").bounding_box()["y"])
        assert len(places) == 1


def test_examples_are_chosen_by_arrow_keys_and_bring_their_values(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        page = it.page
        says(page, "L = 6.")
        for _, expression, _ in LEXICON["examples"][1:]:
            press(page, "Examples", "ArrowDown")
            says(page, f"Computation graph of {expression}, ")
        says(page, "a kink, with derivative 0 on its left")
        expect(page.get_by_label("a", exact=True)).to_have_value("0.5")
        page.get_by_label("Expression").fill("a*b")
        expect(page.get_by_label("Examples")).to_have_value("0")


def test_reset_clears_a_mistake(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        page = it.page
        field = page.get_by_label("Expression")
        field.fill("a*b +")
        expect(field).to_have_attribute("aria-invalid", "true")
        page.get_by_role("button", name="Reset").click()
        expect(field).to_have_value("a*b")
        expect(field).to_have_attribute("aria-invalid", "false")
        expect(page.locator(".lm pre")).to_have_count(0)
        field.press("End")
        field.press_sequentially(" + a")
        says(page, "Computation graph of a*b + a, ")
        expect(field).to_have_value("a*b + a")


def test_a_number_that_is_not_taken_is_said(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        page = it.page
        for label, text, needed in (
            ("a", "2000000", "A number from −1,000,000 to 1,000,000 is needed; 2 stays."),
            ("a", "", "A number from −1,000,000 to 1,000,000 is needed; 2 stays."),
            ("Learning rate", "0", "A number above 0, and up to 1,000,000, is needed; 0.1 stays."),
        ):
            field = page.get_by_label(label, exact=label == "a")
            field.fill(text)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(page.get_by_text(needed)).to_be_visible()
            field.blur()  # it goes back, and says why
            expect(page.get_by_text(needed)).to_be_visible()
            expect(field).to_have_attribute("aria-invalid", "false")
            field.fill("1")
            expect(page.get_by_text(needed)).to_have_count(0)
            field.fill("2" if label == "a" else "0.1")
            says(page, "L = 6.")


def test_a_tip_of_a_node_at_the_top_leaves_the_player_free(browser, tmp_path):
    with shown(browser, tmp_path, Graph("(x + y)*x*y**2", x=1, y=2)) as it:
        page = it.page
        says(page, "L = 12.")
        box = page.locator(".lm svg text", has_text=re.compile("^x$")).bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        tip, stage = page.locator(".lm-tip"), page.locator(".lm-stage").bounding_box()
        expect(tip).to_be_visible()
        assert tip.bounding_box()["y"] >= stage["y"]


def test_downhill_stands_in_line_with_its_rate(browser, tmp_path):
    with shown(browser, tmp_path, Graph("a*b", a=2, b=3)) as it:
        rate = it.page.get_by_label("Learning rate").bounding_box()
        step = it.page.get_by_role("button", name="Step downhill").bounding_box()
        assert rate["y"] + rate["height"] == pytest.approx(step["y"] + step["height"], abs=1)
