"""Gates: what it refuses, its orders, and what a reader does with it."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.evaluation.gates import gates
from lmcourse.models.lstm import LSTM
from lmcourse.widgets import Gates
from tests.widgets import golden_gates
from tests.widgets.examples import walk
from tests.widgets.examples.gates import ARRAYS, EXAMPLE, TOKENS, gru, lstm
from tests.widgets.hosts import host_page, open_file, show_values
from tests.widgets.test_every_widget import says


def without(*names: str) -> dict:
    return {name: it for name, it in ARRAYS.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"f": ARRAYS["f"][:5]}, r"i has the shape \(8, 6\), not \(5, 6\)"),
        (
            {"f": ARRAYS["f"] * 3},
            r"f has the value .*, not between 0 and 1\. Pass the outputs of the sigmoid",
        ),
        (
            {"g": ARRAYS["g"] * 3},
            r"g has the value .*, not between -1 and 1\. Pass the outputs of the tanh",
        ),
        ({"f": ARRAYS["f"] * np.nan}, "f has numbers that are not finite"),
        ({"f": ARRAYS["i"], "i": ARRAYS["f"]}, r"c\[\d, \d\] is .*, but f·c_before \+ i·g is .*"),
        ({"h": ARRAYS["c"]}, r"h\[\d, \d\] is .*, but o·tanh\(c\) is .*"),
        ({"before": None}, r"c\[0, \d\] is .* initial state as before"),
        ({"before": np.zeros(5)}, r"before has the shape \(5,\), not \(6,\)"),
        ({"before": np.full(6, 1e300)}, "before has numbers too large for float32"),
        ({"cell_clip": 0.1}, "c.* the limit of a clipped cell as cell_clip"),
        ({"cell_clip": -1}, r"cell_clip is -1\. Pass a positive number"),
        ({"x": 1}, r"'x' is unknown\. Pass f, i, o, g, c, h of an LSTM"),
        ({"backward": 3}, "backward: it is of type int, not a dict"),
        ({"backward": without("series", "scores", "backward")}, r"backward: c\[\d, \d\] is"),
        ({"backward": gru(np.random.default_rng(0), 8, 6, True)}, "forward is LSTM, backward GRU"),
        ({"series": {"a": [0, 1]}}, r"series\['a'\] has the shape \(2,\), not \(8,\)"),
        ({"series": {"keep": [0] * 8}}, "series has the name 'keep', which is one of the orders"),
        ({"series": [0] * 8}, "series is of type list, not a dict"),
        ({"series": {1: [0] * 8}}, r"the names of series\[0\] is of type int"),
        ({"series": {str(i): [0] * 8 for i in range(7)}}, "series has 7 entries; at most 6 can be"),
        ({"series": {"gradient": [0] * 8}}, "'gradient' names a series and a score"),
        ({"scores": {"a": [0] * 8}}, r"scores\['a'\] has the shape \(8,\), not \(6,\)"),
        ({"sort": "size"}, "The sort 'size' is unknown. Choose one of number, memory, keep"),
        ({"show": "all"}, "The show 'all' is unknown"),
        ({"step": 8}, "step is 8, not between 0 and 7"),
        ({"pin": -1}, "pin is -1, not between 0 and 7"),
        ({"unit": 6}, "unit is 6, not between 0 and 5"),
        ({"compare": 6}, "compare is 6, not between 0 and 5"),
    ],
)
def test_what_it_refuses(change, says):
    with pytest.raises(CourseError, match=says) as caught:
        Gates(TOKENS, **{**ARRAYS, **change})
    assert caught.value.remedy


def test_arrays_that_are_missing_and_tokens_that_do_not_fit():
    with pytest.raises(CourseError, match=r"i is missing\. Pass f, i, o, g, c, h"):
        Gates(TOKENS, **without("i"))
    with pytest.raises(CourseError, match="tokens has 7 tokens, the arrays have 8"):
        Gates(TOKENS[:-1], **ARRAYS)
    with pytest.raises(CourseError, match="The direction 'backward' is unknown"):
        Gates(TOKENS, **without("backward"), direction="backward")
    many = lstm(np.random.default_rng(0), 1000, 200)
    with pytest.raises(CourseError, match=r"take 4\.\d MB.*Pass a part of the text, or fewer"):
        Gates(["a"] * 1000, **many)


def test_a_models_gates_are_taken_as_they_are():
    layer = LSTM(3, 5, cell_clip=0.05)
    found = gates(layer, torch.randn(4, 3))
    widget = Gates(list("abcd"), **found)
    flat = np.frombuffer(widget.arrays, "<f4")[: 6 * 4 * 5].reshape(6, 4, 5)
    for name, row in zip("fiogch", flat, strict=True):
        assert (row == found[name].numpy()).all()
    assert tuple(held(widget, "forward ends")) == pytest.approx(
        (found["c"].abs().max().item(), 0.05)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_fewer_digits_are_no_other_run(dtype):
    torch.manual_seed(0)
    layer = LSTM(3, 50)
    for weight in layer.parameters():
        torch.nn.init.normal_(weight, std=2)  # as large as after a training: |c| up to 7
    inputs = 2 * torch.randn(300, 3)
    rounded = {name: it.to(dtype) for name, it in gates(layer, inputs).items()}
    assert rounded["c"].abs().max() > 5
    Gates(["a"] * 300, **rounded)
    Gates(["a"] * 300, **{name: it.float() for name, it in rounded.items()})  # as NumPy takes it
    Gates(["a"] * 300, **gates(layer.to(dtype), inputs.to(dtype)))  # a model that computes in it
    swapped = {**rounded, "f": rounded["i"], "i": rounded["f"]}
    with pytest.raises(CourseError, match="but f·c_before"):
        Gates(["a"] * 300, **swapped)


def held(widget: Gates, name: str) -> np.ndarray:
    """One of the arrays as a browser gets them."""
    at = widget.index[name]
    count = int(np.prod(at["shape"]))
    return np.frombuffer(widget.arrays, "<f4", count, at["offset"]).reshape(at["shape"])


@pytest.mark.parametrize("made", [list, np.array, torch.tensor])
def test_truth_is_a_series_too(made):
    truth = [it == "dreams" for it in TOKENS]
    widget = Gates(TOKENS, **{**ARRAYS, "series": {"noun": made(truth)}})
    assert widget.series == ["noun"] and widget.orders[-2:] == ["noun", "gradient"]
    assert held(widget, "series").tolist() == [[float(it) for it in truth]]


def test_the_order_follows_the_settings():
    widget = Gates(TOKENS, **ARRAYS)
    assert widget.order == [0, 1, 2, 3, 4, 5]
    widget.sort = "gradient"
    assert widget.order == [5, 4, 2, 0, 1, 3]
    widget.sort = "keep"
    assert widget.order == np.argsort(-ARRAYS["f"].mean(0)).tolist()
    assert f"sorted by the mean of f: first {widget.order[0]}," in widget.alt
    widget.direction = "backward"
    assert widget.order == np.argsort(-ARRAYS["backward"]["f"].mean(0)).tolist()


def test_the_words_for_paper_follow_the_settings():
    widget = Gates(TOKENS, **ARRAYS, pin=2)
    assert "Curves show one unit." in widget.alt
    widget.show = "maps"
    assert "Unit 0 at “.” (token 8 of 8): f " in widget.alt and "Heat maps" in widget.alt
    share = ARRAYS["f"][3:, 0].prod()
    assert f"Of c at “with” {share:.1%} is left." in widget.alt
    widget.step, widget.unit, widget.compare, widget.show = 1, 4, 2, "saturation"
    assert "Unit 4 at “dreams” (token 2 of 8)" in widget.alt and "Compared: unit 2" in widget.alt
    assert "is measured from there on" in widget.alt
    for unit in (4, 2):
        low, high = ((ARRAYS["o"] < 0.1).mean(0)[unit], (ARRAYS["o"] > 0.9).mean(0)[unit])
        assert f"o is below 0.1 at {low:.1%}, above 0.9 at {high:.1%}." in widget.alt
    r = np.corrcoef(ARRAYS["c"][:, 4], ARRAYS["series"]["the subject is plural"])[0, 1]
    assert f"Its c correlates with “the subject is plural” by {r:.3f}." in widget.alt


def test_the_reference_is_what_torch_says_today():
    kept, found = json.loads(golden_gates.PATH.read_text(encoding="utf-8")), golden_gates.golden()
    remedy = "run `python -m tests.widgets.golden_gates` and commit what it writes"

    def same(old, new):
        if isinstance(old, dict):
            assert old.keys() == new.keys(), remedy
            for name in old:
                same(old[name], new[name])
        elif isinstance(old, list):
            assert len(old) == len(new), remedy
            for pair in zip(old, new, strict=True):
                same(*pair)
        else:
            wanted = pytest.approx(old, abs=1e-6) if isinstance(old, float) else old
            assert new == wanted, remedy

    for old, new in zip(kept["cases"], found["cases"], strict=True):
        parts = [np.frombuffer(base64.b64decode(it.pop("arrays")), "<f4") for it in (old, new)]
        assert parts[0] == pytest.approx(parts[1], abs=1e-6), remedy
        same(old, new)


def figure(page: Page) -> str:
    return page.locator(".lm-stage svg[role=img]").get_attribute("aria-label") or ""


def number(words: str, name: str) -> float:
    return float(re.search(rf"{name} (−?[\d.]+)", words)[1].replace("−", "-"))


def test_a_reader_finds_a_unit_and_takes_its_step_apart(browser: Browser, tmp_path: Path):
    widget = EXAMPLE.make()
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        page.get_by_label("Sort units by").select_option("the subject is plural")
        widget.sort = "the subject is plural"
        says(page, f"first {', '.join(map(str, widget.order[:3]))}. Unit {widget.order[0]} at")
        page.get_by_role("button", name="Next unit").click()
        unit = widget.order[1]
        says(page, f"Unit {unit} at “\u2068.\u2069” (8 of 8)")
        text = page.locator(".lm-stage svg[role=img]").text_content() or ""
        c, f, was = (ARRAYS[name][at, unit] for name, at in (("c", 7), ("f", 7), ("c", 6)))
        assert number(figure(page), "c") == pytest.approx(c, abs=6e-4)
        kept, written, whole = (
            round(1000 * float(part.replace("−", "-")))
            for part in re.search(r"= (−?[\d.]+) \+ \(?(−?[\d.]+)\)? = (−?[\d.]+)h", text).groups()
        )
        assert kept + written == whole and kept == round(1000 * f * was)
        share = ARRAYS["f"][2:, unit].prod()  # the example pins the second token
        assert float(re.search(r"([\d.]+)% left of c", figure(page))[1]) == pytest.approx(
            100 * share, rel=6e-3
        )
        assert it.errors == []


def test_pins_compares_and_plays(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", EXAMPLE.make(), tmp_path)) as it:
        page = it.page
        walk(page, "forget f", "Home", "ArrowRight", "ArrowRight", "Enter")
        page.get_by_role("button", name="Pin “").click()
        says(page, "100% left of c at “\u2068with\u2069”")
        page.get_by_role("button", name="Unpin").click()
        expect(page.get_by_role("button", name="Pin “")).to_be_visible()
        assert "left of c" not in figure(page)
        page.get_by_role("button", name="Set as B").click()
        page.get_by_role("button", name="Next unit").click()
        says(page, "Unit 1 at “\u2068with\u2069”")
        assert "Unit 0 at “\u2068with\u2069”" in figure(page)
        page.get_by_role("button", name="Let go of B").click()
        expect(page.get_by_role("button", name="Set as B")).to_be_visible()
        assert "Unit 0 at" not in figure(page)
        page.get_by_role("button", name="Step ▶").click()
        says(page, "(4 of 8)")
        page.get_by_label("Reads").select_option("backward")
        page.get_by_role("button", name="Step ▶").click()  # it reads from the end
        says(page, "(3 of 8)")
        assert "cₜ₊₁" in (page.locator(".lm-stage svg").text_content() or "")
        page.get_by_role("button", name="Play").click()
        says(page, "(1 of 8)")
        assert it.errors == []


def test_the_pointer_reads_maps_and_curves(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", EXAMPLE.make(), tmp_path)) as it:
        page = it.page
        page.get_by_role("grid", name="output o").hover(position={"x": 2, "y": 2})
        expect(page.locator(".lm-tip")).to_have_text(
            f"unit 0 at “\u2068the\u2069” (1 of 8)\no {ARRAYS['o'][0, 0]:.3f}"
        )
        page.get_by_role("grid", name="Curves").hover(position={"x": 2, "y": 30})
        expect(page.locator(".lm-tip")).to_contain_text(f"unit 0:\nf {ARRAYS['f'][0, 0]:.3f}, i ")
        page.mouse.move(1, 1)
        expect(page.locator(".lm-tip")).to_be_hidden()
        walk(page, "Curves", "Home")
        expect(page.get_by_role("status")).to_contain_text("“\u2068the\u2069” (1 of 8), unit 0")
        assert it.errors == []


def test_how_often_gates_saturate(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", EXAMPLE.make(), tmp_path)) as it:
        page = it.page
        page.get_by_label("Show").select_option("saturation")
        says(page, "Saturation of each unit’s gates")
        expect(page.get_by_role("grid", name="cell c")).to_be_hidden()
        expect(page.locator(".lm-stage canvas")).to_have_count(0)
        words = [
            f"i is above 0.9 at {100 * high:.3g}%, below 0.1 at {100 * low:.3g}% of the tokens"
            for low, high in zip(
                (ARRAYS["i"] < 0.1).mean(0), (ARRAYS["i"] > 0.9).mean(0), strict=True
            )
        ]
        forget = page.get_by_role("grid", name="input i")
        for unit in range(6):
            walk(page, "input i", "ArrowDown" if unit else "Home")
            expect(page.get_by_role("status")).to_have_text(f"unit {unit}, {words[unit]}")
        page.keyboard.press("Enter")
        says(page, "Unit 5 at “\u2068.\u2069” (8 of 8)")
        box = forget.bounding_box()
        assert box is not None
        forget.hover(position={"x": 9, "y": box["height"] * 4.5 / 6})
        expect(page.locator(".lm-tip")).to_have_text(f"unit 4\n{words[4]}")
        forget.click(position={"x": 9, "y": box["height"] * 4.5 / 6})
        says(page, "Unit 4 at “\u2068.\u2069” (8 of 8)")
        show_values(page)
        head = ["unit", *(f"{it} {side}" for it in "fio" for side in ("< 0.1", "> 0.9"))]
        expect(page.locator(".lm-table th[scope=col]")).to_have_text(head)
        row = page.locator(".lm-table tbody tr").nth(3).locator("td").all_text_contents()
        shares = [(far(ARRAYS[it]).mean(0)[3]) for it in "fio" for far in FAR]
        assert row == [f"{100 * share:.3g}%" for share in shares]
        with page.expect_download() as download:
            page.get_by_role("button", name="Save SVG").click()
        svg = Path(download.value.path()).read_text(encoding="utf-8")
        assert svg.count("<image") == 0 and it.errors == []
        page.get_by_label("Show").select_option("maps")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save SVG").click()
        svg = Path(download.value.path()).read_text(encoding="utf-8")
        assert svg.count("<image") == 6 and it.errors == []


FAR = (lambda gate: gate < 0.1, lambda gate: gate > 0.9)


def bars(page: Page) -> list[list[float]]:
    """How far those of the series reach above and below its line."""
    found: list[list[float]] = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll(".lm-stage svg rect")];
            const bars = all.filter((it) => it.getAttribute("fill") === "#0072B2");
            const lines = [...document.querySelectorAll(".lm-stage svg .axis")];
            const line = Number(lines.at(-1).getAttribute("d").split(/[ h]/)[1]);
            return bars.map((it) => [it.y.baseVal.value, it.height.baseVal.value])
                .map(([y, height]) => [line - y, y + height - line]);
        }"""
    )
    return found


@pytest.mark.parametrize(
    ("series", "ends"),
    [
        ([-1, 0, 1, 1, 0, -1, -1, 0], ["−1", "1"]),
        ([2, 3, 2, 2, 3, 3, 2, 2], ["0", "3"]),
        ([-1, -2, -1, -1, -2, -1, -1, -2], ["−2", "0"]),
    ],
)
def test_a_series_stands_above_and_below_zero(series, ends, browser: Browser, tmp_path: Path):
    widget = Gates(TOKENS, **{**ARRAYS, "series": {"needed": series}})
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "needed: r = ")
        found = bars(it.page)
        scale = 28 / (max(0, *series) - min(0, *series))
        assert found == [
            pytest.approx(
                [max(v, 0) * scale, -min(v, 0) * scale], abs=1e-3
            )  # SVG's single precision
            for v in series
        ]
        words = it.page.locator(".lm-stage svg text").all_text_contents()
        at = next(i for i, text in enumerate(words) if text.startswith("needed: r = "))
        assert words[at + 1 : at + 3] == ends


def test_a_map_shows_the_same_token_everywhere(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", EXAMPLE.make(), tmp_path)) as it:
        lines = it.page.locator(".lm-stage svg > g:last-child path")
        it.page.get_by_role("grid", name="output o").hover(position={"x": 2, "y": 2})
        expect(lines).to_have_count(7)  # six maps and the curves
        it.page.mouse.move(1, 1)
        expect(lines).to_have_count(0)


@pytest.mark.parametrize("width", [360, 700, 1000])
def test_nothing_hangs_out_of_the_picture(width, browser: Browser, tmp_path: Path):
    arrays = lstm(np.random.default_rng(5), 8, 6, size=4)
    arrays = {**arrays, "backward": None, "before": None}
    arrays["c"], arrays["cell_clip"] = clipped(arrays), 1
    arrays["h"] = arrays["o"] * np.tanh(arrays["c"])
    series = {"great": np.linspace(-1e30, 1e29, 8), "small": np.linspace(-1, 1, 8)}
    widget = Gates(TOKENS, **arrays, series=series, compare=1, step=3)
    with open_file(browser, host_page("file", widget, tmp_path), width=width) as it:
        says(it.page, "great: r = ")
        assert (
            it.page.evaluate(
                """() => {
                const svg = document.querySelector(".lm-stage svg");
                const {left, right} = svg.getBoundingClientRect();
                return [...document.querySelectorAll(".lm-stage svg text")]
                    .map((it) => [it.textContent, it.getBoundingClientRect()])
                    .filter(([, box]) => box.left < left - 1 || box.right > right + 1)
                    .map(([words]) => words);
            }"""
            )
            == []
        )


def clipped(arrays: dict) -> np.ndarray:
    """The cells of a layer that clips them at 1."""
    now, cells = np.zeros(arrays["f"].shape[1]), []
    for f, i, g in zip(*(arrays[it] for it in "fig"), strict=True):
        now = (f * now + i * g).clip(-1, 1)
        cells.append(now)
    return np.array(cells)


def test_a_long_text_and_many_units_come_page_by_page(browser: Browser, tmp_path: Path):
    arrays = lstm(np.random.default_rng(0), 300, 70)
    tokens = [f"w{t}" for t in range(300)]
    widget = Gates(tokens, **arrays, step=170, unit=60, show="maps")
    with open_file(browser, host_page("file", widget, tmp_path), width=390) as it:
        says(it.page, "Unit 60 at “\u2068w170\u2069” (171 of 300)")
        note = it.page.locator(".lm-stage svg text").first
        expect(note).to_have_text(re.compile(r"^\d+–\d+ of 300 tokens, 23–70 of 70 units$"))
        first, last = map(int, re.match(r"(\d+)–(\d+)", note.text_content() or "").groups())
        assert first <= 171 <= last and last - first < 30
        walk(it.page, "cell c", *["ArrowLeft"] * (171 - first), "Enter")
        says(it.page, f"({first} of 300)")
        it.page.keyboard.press("ArrowLeft")  # which turns the page
        says(it.page, f"Unit 60 at “\u2068w{first - 2}\u2069” ({first - 1} of 300)")
        expect(note).to_have_text(re.compile(rf"–{first - 1} of 300 tokens, 23–70 of 70 units$"))
        status = it.page.get_by_role("status")
        expect(status).to_contain_text(f"unit 60 at “\u2068w{first - 2}\u2069”")
        it.page.keyboard.press("ArrowRight")
        says(it.page, f"({first} of 300)")
        for key, token, unit in (("Home", 1, 60), ("PageUp", 1, 50), ("End", 300, 50)):
            it.page.keyboard.press(key)
            it.page.wait_for_timeout(50)
            expect(status).to_contain_text(f"unit {unit} at “\u2068w{token - 1}\u2069”")
        for _ in range(3):  # to units 40, 30, and 20 on the first page
            it.page.keyboard.press("PageUp")
        says(it.page, "Unit 20 at “\u2068w299\u2069” (300 of 300)")
        expect(note).to_have_text(re.compile(r"–300 of 300 tokens, 1–48 of 70 units$"))
        assert it.errors == []


def test_a_slider_reaches_every_token_at_once(browser: Browser, tmp_path: Path):
    arrays = lstm(np.random.default_rng(0), 2000, 2)
    widget = Gates([f"w{t}" for t in range(2000)], **arrays)
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        page = it.page
        slider = page.get_by_role("slider", name="Token")
        expect(slider).to_have_attribute("aria-valuetext", "2000")
        slider.focus()
        page.keyboard.press("Home")
        says(page, "(1 of 2000)")
        page.keyboard.press("ArrowRight")
        says(page, "(2 of 2000)")
        expect(page.locator(".lm-field output")).to_have_text("2")
        page.wait_for_function("host.saved?.step === 1")
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Undo").click()
        says(page, "(2000 of 2000)")
        assert it.errors == []


def test_at_first_there_is_one_unit(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", Gates(TOKENS, **ARRAYS), tmp_path)) as it:
        page = it.page
        says(page, "Curves: LSTM, 6 units, 8 tokens")
        expect(page.locator(".lm-stage canvas")).to_have_count(0)
        expect(page.get_by_role("grid", name="forget f")).to_be_hidden()
        walk(page, "Curves", "Home", "ArrowRight", "Enter")
        says(page, "Unit 0 at “\u2068dreams\u2069” (2 of 8)")
        words = page.locator(".lm-stage svg text.strong").all_text_contents()
        assert all(words.count(name) == 1 for name in "fiogch")  # one at the end of each curve
        page.get_by_role("button", name="Next unit").click()
        says(page, "Unit 1 at")
        page.get_by_label("Show").select_option("maps")
        expect(page.locator(".lm-stage canvas")).to_have_count(6)
        assert it.errors == []
