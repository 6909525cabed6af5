"""Pareto: the front, what Python refuses, and what a reader does with the chart."""

import json
import math
import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.widgets import Pareto
from lmcourse.widgets.pareto import front
from tests.widgets import golden_pareto
from tests.widgets.examples import press, walk
from tests.widgets.examples.pareto import AXES, POINTS, SCORES, make
from tests.widgets.hosts import host_page, open_file
from tests.widgets.test_every_widget import figure, says

ONE = POINTS[0]


def reports(page: Page, words: str) -> None:
    """Wait until the line below the figure has these words."""
    expect(page.locator(".lm > p", has_text=words)).to_be_visible()


def test_the_reference_is_what_python_says_today():
    kept = json.loads(golden_pareto.PATH.read_text(encoding="utf-8"))
    remedy = "run `python -m tests.widgets.golden_pareto` and commit what it writes"
    assert kept == json.loads(json.dumps(golden_pareto.golden())), remedy


def test_the_front_is_that_of_all_pairs():
    random = Random(0)
    for _ in range(500):
        costs, scores = golden_pareto.cloud(random)
        assert front(costs, scores) == golden_pareto.brute_force(costs, scores)
    assert front([], []) == [] and front([1, 1, 2], [3, 3, 3]) == [0, 1]


def test_a_front_does_not_depend_on_the_scales_and_what_is_dominated_does_not_matter():
    random = Random(1)
    for _ in range(100):
        costs, scores = golden_pareto.cloud(random)
        best = front(costs, scores)
        assert front([math.log(it) for it in costs], [7 * it - 3 for it in scores]) == best
        kept = [costs[i] for i in best], [scores[i] for i in best]
        assert front(*kept) == [*range(len(best))]


@pytest.mark.parametrize(
    ("given", "cause", "remedy"),
    [
        ({"points": []}, r"points is \[\]", "list of dictionaries"),
        ({"points": [5]}, r"points\[0\] is 5", "dictionary instead"),
        ({"points": [{"name": "a"}]}, "no 'family', 'group', 'score'", "Each point needs"),
        ({"points": [ONE | {"score": "c"}]}, "'c' is unknown", "one of a, b"),
        ({"points": [ONE, ONE]}, "called 'teacher'", "name of its own"),
        ({"points": [ONE | {"bytes": 0}]}, "'bytes' of the point 'teacher' is 0", "positive"),
        ({"points": [ONE | {"time": (2, 1, 3)}]}, r"is \(2, 1, 3\)", "low, middle, high"),
        ({"points": [ONE | {"time": (1, 2)}]}, "shape", "array of that shape"),
        ({"points": [ONE | {"time": "fast"}]}, "not an array", "NumPy"),
        ({"points": [ONE | {"values": []}]}, "'values' of the point 'teacher'", "array"),
        ({"points": [ONE | {"values": [math.nan]}]}, "not finite", "division"),
        ({"points": [ONE | {"name": f"{i}"} for i in range(501)]}, "501 points", "fewer"),
        (
            {"points": [ONE | {"name": f"{i}", "family": f"{i}"} for i in range(9)]},
            "9 different values of family",
            "8 at most",
        ),
        ({"axes": {}}, "axes is {}", "bytes of the file"),
        ({"axes": {"values": "v"}}, "'values' cannot be", "rename it"),
        ({"scores": ["a"]}, "scores is", "dictionary|Pass"),
        ({"axis": "grams"}, "'grams' is unknown", "bytes, time"),
        ({"families": ["distilled"]}, "'distilled' is unknown", "none, "),
        ({"references": {"c": ("c", 1)}}, "'c' is unknown", "one of a, b"),
        ({"references": {"a": 0.5}}, "'a' is 0.5", "label and a number"),
        ({"references": {"a": ("words", math.inf)}}, "not finite", "division"),
        ({"pinned": 12}, "pinned is 12", "range"),
    ],
)
def test_what_python_refuses(given, cause, remedy):
    arguments = {"points": POINTS, "axes": AXES, "scores": SCORES} | given
    with pytest.raises(CourseError) as caught:
        Pareto(**arguments)
    assert re.search(cause, caught.value.cause), caught.value
    assert re.search(remedy, caught.value.remedy), caught.value


def test_the_alternative_text_follows_the_settings():
    made = Pareto(POINTS, AXES, SCORES)
    assert made.alt.startswith("A chart of 6 models: bytes of the file, logarithmic, and accuracy.")
    assert "“teacher” (4e+06, 0.92)" in made.alt and "“half, pruned”" not in made.alt
    made.groups = ["not distilled"]
    assert made.alt.startswith("A chart of 3 models") and "“teacher”" not in made.alt
    made.axis, made.score = "time", "b"
    assert "time, teacher = 1" in made.alt and "<i>spans</i>" in made.alt
    made.families = []
    assert made.alt.endswith("computed from means: none.")


def test_arrays_are_numbers_too():
    point = ONE | {"values": np.array([1, 0]), "bytes": np.float32(3), "time": np.array([1, 2, 3])}
    assert "(3, 0.5)" in Pareto([point], AXES, SCORES).alt


def test_a_reader_compares_with_and_without(browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", make(), tmp_path)) as it:
        page = it.page
        reports(page, "5 of 6 models are on the front")
        reports(page, "Below “\u2068a <i>bag</i> of words\u2069” (0.800): 1 of 6.")
        walk(page, "Chart", "Home", "ArrowRight", "ArrowRight")
        expect(page.get_by_role("status")).to_contain_text("“\u2068half, int8\u2069”: bytes")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        reports(page, "“\u2068half, pruned\u2069” is dominated by “\u2068half, int8\u2069”")
        press(page, "int8", "Space")
        reports(page, "is dominated by “\u2068half\u2069” (2 M, 0.900), which costs no more")
        page.get_by_label("Cost").select_option("time")
        says(page, "4 models")
        expect(figure(page)).to_have_attribute("aria-label", re.compile("time, teacher = 1"))
        press(page, "distilled", "Space")
        page.get_by_text("Show values").click()
        rows = page.locator("table tr")
        expect(rows).to_have_count(3)  # with the head
        expect(rows.nth(1)).to_contain_text("0.900")
        for _ in range(3):
            page.get_by_role("button", name="Undo").click()
        says(page, "half, int8")
        assert it.errors == []


@pytest.mark.parametrize("width", [360, 1000])
def test_the_pointer_takes_the_nearest_point(width, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", make(), tmp_path), width=width) as it:
        page = it.page
        walk(page, "Chart", "End")
        cell = page.get_by_role("grid", name="Chart").get_by_role("gridcell")
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        x, y = box["x"] + box["width"] / 2 - 14, box["y"] + box["height"] / 2 + 12  # beside it
        page.mouse.move(x, y)
        tip = page.locator(".lm-tip")
        expect(tip).to_contain_text("teacher\nnone, distilled\nbytes of the file: 4 M")
        expect(tip).to_contain_text("accuracy: 0.920 ± 0.020, 3 seeds\non the front")
        page.mouse.click(x, y)
        reports(page, "“\u2068teacher\u2069” is on the front: no other model shown")
        page.mouse.click(x, y)
        reports(page, "5 of 6 models")
        page.mouse.move(box["x"] - 60, box["y"] + 100)
        expect(tip).to_be_hidden()
        assert it.errors == []
