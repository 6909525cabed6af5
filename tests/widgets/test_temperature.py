"""Temperature's own: what Python refuses and says, and what a reader does in the browser."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.models.distillation import distillation_loss, soft_targets
from lmcourse.widgets import Temperature
from tests.widgets import golden_temperature
from tests.widgets.examples import press, tap, walk
from tests.widgets.examples.temperature import CLASSES, EXAMPLE, STUDENT, TEACHER, TEXTS, make
from tests.widgets.hosts import host_page, open_file, overflow, show_values
from tests.widgets.test_every_widget import figure, says


def test_the_reference_is_what_torch_says_today():
    kept = json.loads(golden_temperature.PATH.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(golden_temperature.golden()))
    remedy = "run `python -m tests.widgets.golden_temperature` and commit what it writes"
    assert kept["arrays"] == found["arrays"] and kept["index"] == found["index"], remedy
    assert len(kept["cases"]) == len(found["cases"]), remedy
    for old, new in zip(kept["cases"], found["cases"], strict=True):
        assert old["settings"] == new["settings"] and old["label"] == new["label"], remedy
        for name in ("t", "s", "entropies", "loss", "gradient", "length", "path"):
            assert new[name] == pytest.approx(old[name], rel=1e-9, abs=1e-9), remedy


def test_logits_travel_and_labels_are_the_teachers():
    widget = make()
    flat = np.frombuffer(widget.arrays, "<f4").reshape(2, 2, 5)
    assert (flat[0] == TEACHER).all() and (flat[1] == STUDENT).all()
    assert widget.labels == [0, 3] and widget.classes == CLASSES and widget.examples == TEXTS
    one = Temperature(torch.tensor(TEACHER[0]), torch.tensor(STUDENT[:1]), CLASSES)
    assert one.index["teacher"]["shape"] == one.index["student"]["shape"] == [1, 5]
    bfloat = torch.tensor(STUDENT).bfloat16().requires_grad_()
    labels = torch.tensor([1, 2])
    assert Temperature(TEACHER, bfloat, CLASSES, labels=labels).labels == [1, 2]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"student": STUDENT[:, :4]}, r"student has the shape \(2, 4\), not \(2, 5\)"),
        ({"student": STUDENT[0]}, r"student has the shape \(5,\), not \(2, 5\)"),
        ({"teacher": np.zeros((2, 2, 5))}, r"teacher has the shape \(2, 2, 5\)"),
        ({"teacher": np.zeros((2, 0))}, r"teacher has the shape \(2, 0\)"),
        ({"teacher": [[1, 2], [3]]}, "teacher is not an array of real numbers"),
        ({"teacher": None}, "teacher is not an array of real numbers"),
        ({"teacher": [[0.0] * 4 + [-math.inf]] * 2}, r"not finite.*pass np.log\(p \+ 1e-6\)"),
        ({"student": STUDENT * np.nan}, "student has numbers that are not finite"),
        ({"student": STUDENT * 1e300}, "student has numbers too large for float32. Scale"),
        ({"classes": CLASSES[:4]}, "classes has 4 names, but teacher has 5 classes. Pass one"),
        ({"classes": "abcde"}, "classes is of type str, not a list of strings"),
        ({"classes": [1, 2, 3, 4, 5]}, r"classes\[0\] is of type int, not a string"),
        ({"examples": ["one"]}, "examples has 1 names, but teacher has 2 examples"),
        ({"labels": [1]}, "labels has 1 classes, but there are 2 examples"),
        ({"labels": [1, 5]}, "a class in labels is 5, not between 0 and 4"),
        ({"labels": ["cat", "dog"]}, r"labels is \['cat', 'dog'\], not a list of integers"),
        ({"labels": 0}, "labels is 0, not a list of integers. Pass a list of integers"),
        ({"moves": None}, r"moves is None, not a list of \[example, class, amount\]. Pass a list"),
        ({"moves": 3}, r"moves is 3, not a list of \[example, class, amount\]"),
        ({"moves": [3]}, r"moves is \[3\], not a list of \[example, class, amount\]"),
        ({"moves": [[3]]}, r"\[3\] in moves is not of the form \[example, class, amount\]"),
        ({"moves": [[0, 5, 1.0]]}, "class in moves is 5, not between 0 and 4"),
        ({"moves": [[0.5, 1, 1.0]]}, "example in moves is 0.5, not an integer"),
        ({"moves": [[0, 1, 21]]}, "amount in moves is 21, not between -20 and 20"),
        ({"moves": [[0, 1, math.nan]]}, "amount in moves is nan"),
    ],
)
def test_data_that_do_not_fit(change, says):
    given = {"teacher": TEACHER, "student": STUDENT, "classes": CLASSES} | change
    with pytest.raises(CourseError, match=says) as caught:
        Temperature(**given)
    assert caught.value.remedy


def test_more_classes_than_a_slider_can_follow():
    logits = np.zeros(5001)
    with pytest.raises(CourseError, match=r"5,001 classes.*5,000.*teacher's 1,000 most"):
        Temperature(logits, logits, ["x"] * 5001)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"temperature": 0.0}, "temperature is 0, not between 0.1 and 1000"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"alpha": 1.1}, "alpha is 1.1, not between 0 and 1"),
        ({"learning_rate": 0.0}, "learning_rate is 0, not between 0.01 and 20"),
        ({"example": 2}, "example is 2, not between 0 and 1"),
        ({"pinned": 5}, "pinned is 5, not between 0 and 4"),
        ({"step": 51}, "step is 51, not between 0 and 50"),
    ],
)
def test_a_setting_out_of_range(setting, says):
    with pytest.raises(CourseError, match=says):
        Temperature(TEACHER, STUDENT, CLASSES, **setting)
    made = make()
    with pytest.raises(CourseError, match=says):
        made.set_trait(*next(iter(setting.items())))


def test_moves_may_be_an_array():
    made = Temperature(TEACHER, STUDENT, CLASSES, moves=np.array([[0, 1, 2.5]]))
    assert made.moves == [[0, 1, 2.5]] and type(made.moves[0][0]) is int
    made.moves = ((1, 2, np.float32(0.5)),)
    assert made.moves == [[1, 2, 0.5]]


@pytest.mark.parametrize("scaled", [True, False])
def test_the_words_have_the_numbers(scaled):
    settings = {"temperature": 3, "alpha": 0.5, "step": 4, "scaled": scaled, "show": "all"}
    widget = Temperature(TEACHER, STUDENT, CLASSES, examples=TEXTS, **settings)
    widget.moves = [[0, 1, 2.5], [1, 0, 3.0]]
    teacher, z = torch.tensor(TEACHER[0]), torch.tensor(STUDENT[0])
    z[1] += 2.5
    for _ in range(4):
        z = z.detach().requires_grad_()
        soft = distillation_loss(z[None], teacher[None], 3.0) / (1 if scaled else 9)
        hard = torch.nn.functional.cross_entropy(z[None], torch.tensor([0]))
        z = z - torch.autograd.grad((soft + hard) / 2, z)[0]
    t, s = soft_targets(teacher, 3.0), soft_targets(z, 3.0)
    kl = distillation_loss(z[None], teacher[None], 3.0) / 9
    assert f"“cat” {t[0]:.3g} and {s[0]:.3g}, “dog” {t[1]:.3g} and {s[1]:.3g}" in widget.alt
    assert f"KL {kl:.3g} nats" in widget.alt and "of “a small ▢ purred”" in widget.alt
    others = (("pinned", 2, "“owl” picked"), ("alpha", 0.25, "α = 0.25"), ("exact", True, "exact"))
    for name, value, words in others:
        assert words not in widget.alt
        setattr(widget, name, value)
        assert words in widget.alt


def numbers(page: Page, before: str) -> float:
    """The number in the figure's words that follows some words."""
    words = figure(page).get_attribute("aria-label") or ""
    found = re.search(re.escape(before) + r" ([\d.]+)", words)
    assert found, f"{before!r} is not in {words}"
    return float(found[1])


def test_the_browser_says_what_python_says(browser: Browser, tmp_path: Path):
    widget = make()
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        it.page.wait_for_function("window.host?.ready")
        for setting in ({"temperature": 5.0}, {"step": 9, "alpha": 0.5}, {"moves": [[0, 2, 4.5]]}):
            for name, value in setting.items():
                setattr(widget, name, value)
                it.page.evaluate("([name, value]) => kernel(name, value)", [name, value])
            it.page.wait_for_timeout(100)
            kl = float(re.search(r"KL ([\d.]+) nats", widget.alt)[1])
            assert numbers(it.page, "KL(t ‖ s):") == pytest.approx(kl, rel=1e-2)
            own = float(re.search(r"“cat” [\d.]+ and ([\d.]+)", widget.alt)[1])
            label = "“\u2068cat\u2069”, the label, picked; teacher: logit 6, "
            words = figure(it.page).get_attribute("aria-label")
            found = re.search(re.escape(label) + r".*?student: logit \S+ ([\d.]+)", words)
            assert float(found[1]) == pytest.approx(own, rel=1e-2)


def test_a_limit_is_none_at_a_low_temperature(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("jupyter", make(), tmp_path)) as it:
        says(it.page, EXAMPLE.first)
        it.page.evaluate("kernel('temperature', 0.123456)")
        says(it.page, "high-T approximation at this T 103; times T² it is")
        says(it.page, "with the limit 1.57 for T → ∞.")
        out = it.page.locator(".lm-field", has_text="Temperature T").locator("output")
        expect(out).to_have_text("0.12")  # as precisely as the slider's positions
        slider = it.page.get_by_label("Temperature T")
        expect(slider).to_have_attribute("aria-valuetext", "0.12")


def test_the_exact_posterior_has_a_color_of_its_own(browser: Browser, tmp_path: Path):
    def colors(page: Page) -> set[str]:
        bars = page.locator(".lm-stage svg rect[fill-opacity]")
        return set(bars.evaluate_all("all => all.map((it) => getComputedStyle(it).fill)"))

    student, gradient = "rgb(0, 114, 178)", "rgb(0, 158, 115)"
    with open_file(browser, host_page("jupyter", make(), tmp_path)) as it:
        says(it.page, "T = 2 ")
        assert colors(it.page) == {"rgb(213, 94, 0)", student, gradient}
        assert it.page.get_by_text("teacher t", exact=True).count() == 1
        it.page.evaluate("kernel('exact', true)")
        ink = it.page.locator(".lm").evaluate("it => getComputedStyle(it).color")
        expect(it.page.locator(".lm-stage svg rect[fill=currentColor]")).not_to_have_count(0)
        assert colors(it.page) == {ink, student, gradient}
        expect(it.page.get_by_text("teacher t", exact=True)).to_have_count(1)


def test_picked_moved_and_taken_back(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        says(page, "“\u2068cat\u2069”, the label, picked")
        walk(page, "Classes", "End", "ArrowDown", "Enter")
        says(page, "“\u2068dog\u2069”, picked; teacher: logit 4.5, ")
        press(page, "Move the logit of “\u2068dog", *["ArrowRight"] * 4)
        says(page, "student: logit 3, ")
        tap(page, "Classes", 0.5, 0.1)
        press(page, "Move the logit of “\u2068cat", "ArrowLeft")
        says(page, "student: logit 1.5, ")
        says(page, "student: logit 3, ")
        assert it.page.get_by_label("Move the logit").input_value() == "39"
        page.get_by_label("Example").select_option(index=1)
        says(page, "“\u2068cat\u2069”, picked")
        assert it.page.get_by_label("Move the logit").input_value() == "40"
        for _ in range(2):
            page.get_by_role("button", name="Undo").click()
        says(page, "student: logit 2, ")
        assert it.errors == []


def test_steps_walk_down_and_the_factor_makes_them_longer(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        press(page, "Temperature T", *["ArrowRight"] * 3)
        says(page, "T = 4 ")
        start = numbers(page, "KL(t ‖ s):")
        for _ in range(3):
            page.get_by_role("button", name="Step", exact=True).click()
        says(page, "step 3")
        says(page, "In 3 steps KL(t ‖ s) went from")
        scaled = numbers(page, "KL(t ‖ s):")
        page.get_by_label("L_d times T²").uncheck()
        says(page, "Without T²")
        plain = numbers(page, "KL(t ‖ s):")
        assert scaled < plain < start
        tap(page, "KL by step", 0.999, 0.5)
        says(page, "step 50")
        page.get_by_role("button", name="Step", exact=True).click()
        page.get_by_role("button", name="Play again").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        expect(figure(page)).to_have_attribute("aria-label", re.compile("step [1-9]"))
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Undo").click()
        says(page, "step 50")
        assert it.errors == []


def test_a_tip_stays_on_a_phone(browser: Browser, tmp_path: Path):
    names = np.array(["a word that takes all the room it gets", "b"])  # an array is a list, too
    settings = {"temperature": 4, "scaled": False, "show": "all"}
    widget = Temperature([[3.0, -12.5]], [[-1.25, 0.5]], names, **settings)
    with open_file(browser, host_page("file", widget, tmp_path), width=360) as it:
        place = it.page.get_by_role("grid", name="Classes")
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        for right in (0.02, 0.5, 0.98):
            it.page.mouse.move(box["x"] + right * box["width"], box["y"] + 20)
            tip = it.page.locator(".lm-tip")
            expect(tip).to_contain_text("high-T approximation")
            shown = tip.bounding_box()
            assert shown["x"] >= box["x"] - 1
            assert shown["x"] + shown["width"] <= box["x"] + box["width"] + 1
            assert overflow(it.page) == 0


def test_the_pointer_is_told_numbers(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page, tip = it.page, it.page.locator(".lm-tip")
        says(page, "T = 2 ")
        for grid, words in (
            (
                "Classes",
                r"“\W*owl\W*”\nteacher: logit 3, [\d.]+, at T = 1 [\d.]+\nstudent: logit −1,",
            ),
            (
                "Gradient by T",
                r"T = 10\nwith T² [\d.]+, limit [\d.]+\nwithout [\d.·⁻¹²³]+, high-T approx",
            ),
            ("KL by step", r"Step 25\nKL with T² [\d.·⁻¹²³⁴⁵]+\nwithout [\d.]+"),
        ):
            place = page.get_by_role("grid", name=grid)
            place.scroll_into_view_if_needed()
            place.hover()
            expect(tip).to_be_visible()
            assert re.match(words, tip.text_content())
        page.mouse.move(2, 2)
        expect(tip).to_be_hidden()
        page.get_by_label("L_d times T²").uncheck()  # nothing has a limit then but 0
        place = page.get_by_role("grid", name="Classes")
        place.hover()
        assert "high-T approximation" in tip.text_content()
        expect(page.get_by_text("for high T", exact=True)).to_have_count(2)
        expect(page.get_by_text("T → ∞", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        walk(page, "Gradient by T", "End", "Enter")
        says(page, "T = 1000 ")
        assert "T = 1000, with T²" in page.get_by_role("status").text_content()
        show_values(page)
        cells = page.get_by_role("row", name="owl").get_by_role("cell")
        expect(cells).to_have_count(6)
        row = cells.all_text_contents()
        now, limit = (float(it.replace("−", "-")) for it in row[-2:])
        assert row[:2] == ["3", "−1"] and now == pytest.approx(limit, rel=0.02)


def test_of_a_thousand_classes_the_rest_is_one_bar(browser: Browser, tmp_path: Path):
    logits = np.linspace(5, -5, 1000)
    widget = Temperature(logits, -logits, [f"w{i}" for i in range(1000)], pinned=500)
    with open_file(browser, host_page("file", widget, tmp_path), width=390) as it:
        says(it.page, "the other 990; teacher: 0.9")
        says(it.page, "“\u2068w500\u2069”, picked")
        says(it.page, "“\u2068w999\u2069”; teacher")
        grid = it.page.get_by_role("grid", name="Classes")
        assert grid.get_attribute("aria-rowcount") == "11"
        walk(it.page, "Classes", "End", "PageDown", "PageDown", "Enter")  # the rest is no class
        says(it.page, "“\u2068w0\u2069”, the label, picked")
        assert it.errors == []


def overlapping(page: Page) -> list[str]:
    """The words of the picture of which one is over another."""
    found: list[str] = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll(".lm-stage svg text")].map((it) =>
                [it.textContent, it.getBoundingClientRect()]);
            return all.flatMap(([words, a], i) => all.slice(i + 1)
                .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 4 && b.top < a.bottom - 4)
                .map(([others]) => `${words} / ${others}`));
        }"""
    )
    return found


@pytest.mark.parametrize("width", [360, 390, 1000])
def test_at_first_there_are_the_soft_targets_alone(width, browser: Browser, tmp_path: Path):
    made = Temperature(TEACHER, STUDENT, CLASSES, examples=TEXTS)
    with open_file(browser, host_page("file", made, tmp_path), width=width) as it:
        page = it.page
        says(page, "Soft targets at T = 2 ")
        rest = [page.get_by_role("slider", name="Learning rate")]
        rest += [page.get_by_role("grid", name="KL by step"), page.get_by_text("Gradient ∂L/∂z")]
        rest += [page.get_by_role("button", name="Play")]
        for part in rest:
            expect(part).to_be_hidden()
        assert overlapping(page) == []
        page.get_by_label("Show").first.select_option("all")
        for part in rest:
            expect(part).to_be_visible()
        assert overlapping(page) == []
        assert it.errors == []
    assert made.alt.endswith("nats.") and "gradient" in make().alt
