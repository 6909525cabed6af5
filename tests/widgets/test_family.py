"""Family: what Python refuses and packs, and what a reader does with the picture."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from data import family as tables
from lmcourse.errors import CourseError
from lmcourse.widgets import Family
from tests.widgets import golden_family
from tests.widgets.examples.family import MODELS, RESULTS
from tests.widgets.hosts import host_page, open_file
from tests.widgets.test_every_widget import beside, resize, says
from tests.widgets.test_modules import STATE_BYTES


def test_the_reference_is_what_networkx_says_today():
    kept = golden_family.PATH.read_text(encoding="utf-8")
    remedy = "run `python -m tests.widgets.golden_family` and commit what it writes"
    assert kept == golden_family.dumped(), remedy


def test_the_courses_tables_are_taken_and_light():
    made = Family(tables.read("family"), tables.read("benchmarks"), selected="BERT")
    assert len(json.dumps(made.state())) < STATE_BYTES / 4
    bert = made.models[[it["name"] for it in made.models].index("BERT")]
    assert bert["published"] == 340e6 and bert["counted"] == 335_141_888
    assert "from Transformer, GPT, ELMo" in made.alt
    assert made.benchmark == "SQuAD 1.1" and made.since == 2013


ONE = {"name": "a", "date": "2018-10"}
TWO = {"name": "b", "date": "2019-01", "parents": "a"}
QUIZ = {"benchmark": "q", "date": "2019-01", "value": 50, "split": "test", "kind": "single"}


@pytest.mark.parametrize(
    ("models", "results", "cause", "remedy"),
    [
        ([], [], "no models", "a row for each"),
        ("family.csv", [], "models is not a list of rows", "DictReader"),
        ([ONE, "b"], [], "models is not a list of rows", "mappings"),
        ([ONE], 5, "results is not a list of rows", "mappings"),
        ([ONE] * 201, [], "201 rows", "200 at most"),
        ([{"date": "2018-10"}], [], "has no name", "name of its own"),
        ([ONE, ONE], [], "'a' occurs twice", "name of its own"),
        ([{**ONE, "date": "2018"}], [], "'2018' is not a month", "2018-10"),
        ([{**ONE, "date": "2018-13"}], [], "'2018-13' is not a month", "2018-10"),
        ([TWO], [], "parents has the model 'a'", "such as 'b'"),
        ([{**ONE, "date": "2020-01"}, TWO], [], "'a' is a parent of 'b' and younger", "dates"),
        ([{**ONE, "parents": "a"}], [], "'a' is an ancestor of itself", "parents"),
        (
            [{**ONE, "parents": "b"}, {**TWO, "date": "2018-10"}],
            [],
            "'a' is an ancestor of itself",
            "parents",
        ),
        ([{**ONE, "parameters": "many"}], [], "parameters is 'many'", "positive"),
        ([{**ONE, "counted": -1}], [], "counted is '-1'", "positive"),
        ([{**ONE, "parameters": "nan"}], [], "parameters is 'nan'", "positive"),
        ([{**ONE, "note": "x" * 1001}], [], "note has 1,001 characters", "Shorten"),
        ([{**ONE, "link": "javascript:1"}], [], "javascript:1", "relative path"),
        ([{**ONE, "link": "//evil.org/a"}], [], "evil", "relative path"),
        ([ONE], [{**QUIZ, "value": 101}], "value 101", "from 0 to 100"),
        ([ONE], [{**QUIZ, "value": ""}], "value None", "from 0 to 100"),
        ([ONE], [{**QUIZ, "benchmark": ""}], "benchmark ''", "Name the benchmark"),
        ([ONE], [{**QUIZ, "split": "train"}], "'train' is unknown", "test, dev"),
        ([ONE], [{**QUIZ, "kind": "best"}], "'best' is unknown", "single, ensemble, human"),
        ([ONE], [{**QUIZ, "model": "c"}], "results has the model 'c'", "such as 'a'"),
        ([ONE], [{**QUIZ, "benchmark": f"{i}"} for i in range(13)], "13 benchmarks", "12"),
    ],
)
def test_what_is_wrong_and_what_to_do(models: Any, results: Any, cause: str, remedy: str):
    with pytest.raises(CourseError, match=re.escape(cause)) as caught:
        Family(models, results)
    assert re.search(remedy, caught.value.remedy)


@pytest.mark.parametrize(
    ("setting", "value", "cause"),
    [
        ("since", 2012, "since is 2012, not between 2013 and 2020"),
        ("selected", "Nobody", "selected 'Nobody' is unknown"),
        ("benchmark", "IQ", "benchmark 'IQ' is unknown"),
        ("axis", "cost", "axis 'cost' is unknown"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(setting: str, value: Any, cause: str):
    with pytest.raises(CourseError, match=cause):
        Family(MODELS, RESULTS, **{setting: value})


def test_rows_may_be_numbers_lists_and_missing_values():
    made = Family([{**ONE, "counted": 12, "parents": None}, {**TWO, "parents": ["a"]}])
    assert [it["parents"] for it in made.models] == [[], [0]]
    assert made.models[0]["counted"] == 12 and made.models[1]["published"] is None
    assert made.benchmark == "" and "2 models from 2018 to 2019" in made.alt


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    shown = Family(MODELS, RESULTS, selected="Both sides", since=2017)
    with open_file(browser, host_page("jupyter", shown, tmp_path)) as it:
        says(it.page, "Selected: Both sides")
        yield it.page
        assert it.errors == []


def test_the_text_has_the_facts_and_a_link_to_the_chapter(page: Page):
    panel = page.locator(".lm")
    page.get_by_text("Facts and source").click()
    expect(panel).to_contain_text("Parameters, published: 340 million")
    expect(panel).to_contain_text("Children: Longer")
    link = page.get_by_role("link", name="Chapter 10")
    assert link.get_attribute("href") == "bert.html"  # as the book names its pages
    page.get_by_role("combobox", name="Model").select_option("</script><b>")
    expect(panel).to_contain_text("reads <i>characters</i>")
    expect(panel).to_contain_text("Parameters, counted: 93,600,864")
    page.get_by_role("combobox", name="Model").select_option("Left")
    expect(panel).to_contain_text("In the course: named only")
    page.get_by_role("combobox", name="Model").select_option("")
    expect(page.get_by_role("link")).to_have_count(0)


def test_models_outside_the_course_are_shown_when_asked_for(page: Page):
    says(page, "A family tree of 4 models since 2017")  # Left is a parent of the selected one
    page.get_by_label("Also those outside the course").check()
    says(page, "A family tree of 5 models since 2017")
    page.get_by_role("slider", name="From").focus()
    page.keyboard.press("Home")
    says(page, "A family tree of 6 models since 2013")


@pytest.mark.parametrize("axis", ["parameters", "architecture"])
def test_marks_are_walked_by_keyboard_in_the_order_of_their_dates(page: Page, axis: str):
    page.get_by_role("combobox", name="Height").select_option(axis)
    says(page, f"by {axis}")
    cell = page.get_by_role("grid", name="Models").get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("Home")
    status = page.locator(".lm [role=status]")
    first = "</script><b>" if axis == "parameters" else "Both sides"
    if axis == "architecture":
        for _ in range(3):
            page.keyboard.press("ArrowDown")
    expect(status).to_contain_text(first)
    page.keyboard.press("End")
    expect(status).to_contain_text("Longer, July 2019, encoder, 355 million parameters")
    page.keyboard.press("Enter")
    says(page, "Selected: Longer")


def test_the_scores_have_a_line_and_their_marks_select_models(page: Page):
    page.get_by_role("combobox", name="Show").select_option("scores")
    says(page, "2 results on <u>Quiz</u> since 2017, test and development sets. Human: 90.")
    says(page, "The first test result above human performance here: Longer, 92.25, July 2019.")
    page.get_by_role("combobox", name="Results").select_option("dev")
    says(page, "No test result here is above human performance.")
    cell = page.get_by_role("grid", name="Models").get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lm [role=status]")).to_contain_text("88.5, dev set")
    page.get_by_role("combobox", name="Benchmark").select_option("Exam")
    page.get_by_role("combobox", name="Results").select_option("all")
    says(page, "a rule 80")


def test_pointing_shows_words(page: Page):
    cell = page.get_by_role("grid", name="Models").get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(60)
    box = cell.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".lm-tip")).to_contain_text("Longer, July 2019")


MET = """() => {
  const all = [...document.querySelectorAll(".lm-stage svg text")]
    .map((it) => [it.textContent, it.getBoundingClientRect()]).filter(([, it]) => it.width);
  return all.flatMap(([one, a], i) => all.slice(i + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1
      && a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([other]) => `${one} and ${other}`));
}"""


@pytest.mark.parametrize("width", [360, 390, 700, 1000])
def test_no_words_meet(browser: Browser, tmp_path: Path, width: int):
    models, results = tables.read("family"), tables.read("benchmarks")
    made = Family(models, results, every=True, selected="BERT", since=2017)
    with open_file(browser, host_page("jupyter", made, tmp_path)) as it:
        says(it.page, "Selected: BERT")
        resize(it.page, width)
        for name, values in {
            "axis": ["architecture", "parameters"],
            "since": [2013, 2019],
            "selected": ["GPT-3", "word2vec", ""],
            "show": ["scores"],
            "benchmark": ["SQuAD 2.0", "GLUE"],
        }.items():
            for value in values:
                it.page.evaluate("([name, value]) => kernel(name, value)", [name, value])
                resize(it.page, width)
                assert it.page.evaluate(MET) == [], f"{name} = {value}"
                assert beside(it.page) == [], f"{name} = {value}"
