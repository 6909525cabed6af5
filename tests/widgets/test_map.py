"""Map: what Python refuses and packs, and what a reader does with the picture."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from lmcourse.errors import CourseError
from lmcourse.widgets import Map
from tests.widgets import golden_map
from tests.widgets.examples.map import GROUPS, VECTORS, WORDS, make
from tests.widgets.hosts import host_page, open_file
from tests.widgets.test_every_widget import figure, says
from tests.widgets.test_modules import STATE_BYTES

RANDOM = np.random.default_rng(0)


def test_the_reference_is_what_numpy_says_today():
    kept, found = json.loads(golden_map.PATH.read_text(encoding="utf-8")), golden_map.golden()
    remedy = "run `python -m tests.widgets.golden_map` and commit what it writes"
    assert kept["arrays"][:300] == found["arrays"][:300], remedy  # the bytes of the vectors
    for name in ("points", "share"):
        assert np.allclose(kept[name], found[name], atol=1e-9), remedy
    for old, new in zip(kept["planes"], found["planes"], strict=True):
        assert old["ids"] == new["ids"] and old["share"] == pytest.approx(new["share"]), remedy
        assert np.allclose(old["points"], new["points"], atol=1e-9), remedy
    for name in ("nearest", "analogies"):
        for old, new in zip(kept[name], found[name], strict=True):
            assert [word for word, _ in old["found"]] == [word for word, _ in new["found"]], remedy


@pytest.mark.parametrize("width", [2, 50, 300])
def test_a_byte_per_number_changes_a_cosine_by_less_than_a_hundredth(width: int):
    vectors = RANDOM.standard_normal((300, width)) * np.exp(RANDOM.standard_normal(width))
    sent = np.frombuffer(Map([f"{i}" for i in range(300)], vectors).arrays, np.uint8)
    found = sent[: vectors.size].reshape(vectors.shape).astype(float) - 128
    unit, mine = (it / np.linalg.norm(it, axis=1, keepdims=True) for it in (vectors, found))
    assert np.abs(mine @ mine.T - unit @ unit.T).max() < 0.01


def test_the_scale_of_a_vector_does_not_matter():
    scales = 10.0 ** np.arange(-100, 140, 30)[:, None]
    assert Map(WORDS, VECTORS * scales).arrays == Map(WORDS, VECTORS).arrays


def test_a_pages_map_is_light():
    words = [f"word{i}" for i in range(3500)]
    state = Map(words, RANDOM.standard_normal((3500, 50))).state()
    assert len(json.dumps(state)) <= STATE_BYTES


@pytest.mark.parametrize(
    ("given", "cause", "remedy"),
    [
        ({"words": ["a", "b", "a"]}, "'a' occurs twice", "each word once"),
        ({"vectors": np.ones((2, 2))}, r"\(2, 2\), not \(3, …\)", "that shape"),
        ({"vectors": np.full((3, 2), np.nan)}, "not finite", "division by zero"),
        ({"vectors": np.ones((3, 2_000_000))}, "take 6.0 MB", r"words\[:2000\]"),
        ({"query": "emperor"}, "query has the word 'emperor'", "such as 'a'"),
        ({"analogy": ["a", "b"]}, "analogy has 2 words", "a, b and c"),
        ({"analogy": ["a", "b", "d"]}, "analogy has the word 'd'", "such as 'a'"),
        ({"groups": {"d": "x"}}, "groups has the word 'd'", "such as 'a'"),
        ({"plane": "words"}, "plane 'words' is unknown", "all, chosen"),
        ({"center": [1.0]}, "center has 1 numbers", "x and y"),
        ({"zoom": 100}, "zoom is 100, not between 1 and 64", "that range"),
    ],
)
def test_what_is_wrong_and_what_to_do(given, cause: str, remedy: str):
    values = {"words": ["a", "b", "c"], "vectors": np.eye(3), **given}
    with pytest.raises(CourseError, match=cause) as caught:
        Map(**values)
    assert re.search(remedy, caught.value.remedy)


def test_many_words_and_many_groups_are_refused():
    words = [f"word{i}" for i in range(5001)]
    with pytest.raises(CourseError, match="5,001 words; 5,000 can be shown"):
        Map(words, np.ones((5001, 2)))
    with pytest.raises(CourseError, match="9 different names"):
        Map(words[:9], np.ones((9, 2)), groups={word: word for word in words[:9]})


def test_the_text_names_the_neighbors_and_the_answer():
    made = make()
    assert "nearest to “king”, by cosine: “queen”, “man”, “woman”" in made.alt
    made.analogy, made.show = ["man", "king", "woman"], "analogy"
    assert "“man” is to “king” as “woman” is to, by cosine: “queen”" in made.alt
    assert "“king”" not in made.alt.partition("cosine:")[2]
    made.with_queries = True
    assert "“king”" in made.alt.partition("cosine:")[2]


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    made = Map(WORDS, VECTORS, query="king", analogy=["man", "king", "woman"], groups=GROUPS)
    made.show = "neighbors"
    with open_file(browser, host_page("jupyter", made, tmp_path)) as it:
        says(it.page, "Nearest to “\u2068king")
        yield it.page
        assert it.errors == []


def setting(page: Page, name: str) -> object:
    return page.evaluate("(name) => host.changed[name]", name)


def middle(page: Page) -> tuple[float, float]:
    box = page.get_by_role("grid", name="Map").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_an_analogy_says_both_answers_and_the_switch_changes_the_list(page: Page):
    page.get_by_role("combobox", name="Show").select_option("analogy")
    says(page, "“\u2068queen\u2069” (0.96), whether the query words are excluded or not.")
    page.get_by_role("combobox", name="b", exact=True).fill("apple")
    says(page, "Nearest to b − a + c by cosine: “\u2068pear\u2069”")
    says(page, "(0.87) if the query words are excluded; if not, “\u2068apple\u2069” (0.89), one of")
    page.get_by_label("Query words may be the answer").check()
    says(page, "Nearest to b − a + c by cosine: “\u2068apple\u2069” 0.89")


def test_a_field_completes_a_word_and_names_an_unknown_one(page: Page):
    field = page.get_by_role("combobox", name="Word")
    field.click()
    page.keyboard.type("plu")
    expect(page.locator("datalist option")).to_have_count(1)
    assert setting(page, "query") is None  # nothing is selected yet
    field.press("Enter")
    says(page, "Nearest to “\u2068plum")
    expect(field).to_have_value("plum")
    field.fill("PEAR")
    field.press("Enter")
    says(page, "Nearest to “\u2068pear")
    field.fill("xyz")
    field.press("Enter")
    expect(page.locator(".lm [role=status]")).to_have_text("“\u2068xyz\u2069” is not on the map.")
    expect(field).to_have_value("pear")


DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_the_map_is_zoomed_dragged_and_clicked(page: Page):
    x, y = middle(page)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("host.changed.zoom === 2")
    first = setting(page, "center")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    moved = setting(page, "center")
    assert moved[0] < first[0] and moved[1] > first[1]  # what was left and above is in the middle
    assert setting(page, "query") is None  # a drag is no click
    page.get_by_role("button", name="Undo").click()
    page.wait_for_timeout(50)
    assert setting(page, "center") == first  # the whole drag is one step
    page.get_by_role("button", name="Zoom out").click()
    page.wait_for_function("host.changed.zoom === 1")
    cell = page.get_by_role("grid", name="Map").get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    word = cell.get_attribute("aria-label").partition(",")[0]
    box = cell.bounding_box()
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    says(page, f"Nearest to “\u2068{word}")


def test_the_map_is_walked_and_zoomed_by_keyboard(page: Page):
    cell = page.get_by_role("grid", name="Map").get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    status = page.locator(".lm [role=status]")
    expect(status).to_contain_text("cosine to “\u2068king\u2069”")
    word = status.inner_text().partition(",")[0]
    page.keyboard.press("Enter")
    says(page, f"Nearest to “\u2068{word}")
    page.keyboard.press("+")
    page.wait_for_function("host.changed.zoom === 2")


def test_the_chosen_words_have_a_plane_of_their_own(page: Page):
    page.get_by_role("combobox", name="Show").select_option("analogy")
    says(page, "PCA of 8 words")
    page.get_by_role("combobox", name="Plane").select_option("chosen")
    says(page, "A map of 4 words. PCA of these 4 words")
    assert "100 %" in figure(page).get_attribute("aria-label")
