"""GradientFlow's own in a browser; what every widget does is in test_every_widget.py."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
from tests.widgets.hosts import HOSTS, axe, host_page, open_file, show_values


def figure(page: Page):
    return page.locator(".lm svg[role=img]")


def says(page: Page, words: str):
    """Wait until the figure's text alternative holds these words."""
    expect(figure(page)).to_have_attribute("aria-label", re.compile(re.escape(words)))


def slider(page: Page, label: str):
    return page.get_by_label(label)


def value_of(page, label):
    return page.locator(".lm-field", has_text=label).locator("output")


def strip(page: Page, kind: str):
    return page.get_by_role("grid", name=f"{kind}:")


@pytest.mark.parametrize("host", HOSTS)
def test_it_renders_reacts_and_asks_nobody(host, widget, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page(host, widget, tmp_path)) as it:
        page = it.page
        says(page, "loss at T = 20")
        assert page.locator(".lm svg image").count() == 3
        assert host == "file" or page.evaluate("host.ready && host.isObject")
        # keyboard: a slider
        slider(page, "Spectral radius").focus()
        page.keyboard.press("ArrowRight")
        expect(value_of(page, "Spectral radius")).to_have_text("1.05")
        # mouse: a step of the loss is pinned, a number shown on the way
        box = strip(page, "LSTM").bounding_box()
        page.mouse.move(box["x"] + 3, box["y"] + box["height"] * 0.52)
        expect(page.locator(".lm-tip")).to_have_text(
            re.compile(r"LSTM, loss at T = 11, t = 11.*\d")
        )
        page.mouse.click(box["x"] + 3, box["y"] + box["height"] * 0.52)
        says(page, "loss at T = 11")
        # what a clip and a cut do is said
        slider(page, "Truncate after").focus()
        page.keyboard.press("Home")
        expect(page.get_by_text("Truncation cuts everything 1 step back")).to_be_visible()
        slider(page, "Clip").focus()
        page.keyboard.press("Home")
        expect(page.get_by_text("all steps equally")).to_be_visible()
        page.get_by_label("RNN’s activation").select_option("relu")
        if host != "file":
            wanted = {"spectral_radius": 1.05, "step": 11, "truncation": 1, "clip": 0.01}
            page.wait_for_function("host.changed.activation === 'relu'")
            assert page.evaluate("host.changed") == wanted | {"activation": "relu"}
        assert it.requests == [] and it.errors == []


def test_a_tap_pins_and_a_slider_follows_a_finger(widget, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", widget, tmp_path), touch=True, width=390) as it:
        page = it.page
        box = strip(page, "GRU").bounding_box()
        page.touchscreen.tap(box["x"] + 4, box["y"] + box["height"] * 0.72)
        says(page, "loss at T = 15")
        place = slider(page, "forget bias")
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] - 9, box["y"] + box["height"] / 2)
        expect(value_of(page, "LSTM’s forget bias")).to_have_text("6")
        assert it.errors == []


def test_a_strip_is_walked_by_keyboard(widget, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        cell = strip(page, "RNN").get_by_role("gridcell")
        status = page.get_by_role("status")
        cell.focus()
        page.keyboard.press("ArrowRight")
        expect(status).to_have_text(
            re.compile(r"^RNN, loss at T = 20, t = 19, 1 step back: [\d.]+")
        )
        page.keyboard.press("End")
        expect(status).to_have_text(re.compile("t = 1, 19 steps back"))
        page.keyboard.press("ArrowUp")  # the row above is shorter
        expect(status).to_have_text(re.compile("T = 19, t = 1, 18 steps back"))
        page.keyboard.press("Control+Home")
        expect(status).to_have_text(re.compile("T = 1, t = 1, 0 steps back"))
        page.keyboard.press("PageDown")
        page.keyboard.press("Enter")
        says(page, "loss at T = 11")
        expect(cell).to_be_focused()
        assert cell.get_attribute("aria-label").startswith("RNN, loss at T = 11, t = 11")
        page.keyboard.press("Tab")
        expect(strip(page, "LSTM").get_by_role("gridcell")).to_be_focused()
        curves = page.get_by_role("grid", name="Curves").get_by_role("gridcell")
        curves.focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        expect(status).to_have_text(re.compile(r"^t = 2, 9 steps back: RNN .*LSTM .*GRU"))
        assert page.locator(".lm svg circle[r='5']").count() == 3


def test_undo_reset_values_and_a_link_that_restores(widget, browser: Browser, tmp_path: Path):
    path = host_page("file", widget, tmp_path)
    with open_file(browser, path) as it:
        page = it.page
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_have_attribute("aria-disabled", "true")
        slider(page, "Loss at step").focus()
        page.keyboard.press("Home")
        says(page, "loss at T = 1 ")
        slider(page, "Spectral radius").focus()
        for key, value in (("End", "3"), ("Home", "0.1")):
            page.keyboard.press(key)
            expect(value_of(page, "Spectral radius")).to_have_text(value)
        for value in ("3", "1"):
            undo.click()
            expect(value_of(page, "Spectral radius")).to_have_text(value)
        says(page, "loss at T = 1 ")
        undo.click()
        says(page, "loss at T = 20")
        slider(page, "Truncate after").focus()
        page.keyboard.press("Home")
        show_values(page)
        expect(page.get_by_role("row")).to_have_count(3 * 1 + 1 + 1 + 20)  # grids, curves, table
        expect(page.get_by_role("row").last).to_have_text(re.compile(r"^20"))
        assert "cut" in page.get_by_role("row").nth(5).inner_text()
        page.get_by_role("button", name="Copy link").click()
        link = page.get_by_label("Copied text").input_value()
        page.get_by_role("button", name="Reset").click()
        expect(page.get_by_text("No truncation, no clipping")).to_be_visible()
    assert link.startswith(path.as_uri() + "#view=")
    with open_file(browser, path, fragment=link.removeprefix(path.as_uri())) as it:
        expect(it.page.get_by_text("Truncation cuts everything 1 step back")).to_be_visible()


def test_axe_finds_what_is_wrong(browser: Browser, tmp_path: Path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><html lang=en><title>Bad</title><main><h1>x</h1>"
        "<button></button><p style='color:#ccc;background:#fff'>faint</p></main>"
    )
    with open_file(browser, page) as it:
        found = " ".join(axe(it.page))
    assert "button-name" in found and "color-contrast" in found


def test_a_theme_that_changes_is_followed(widget, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("jupyter", widget, tmp_path)) as it:
        root = it.page.locator(".lm")
        expect(root).to_have_attribute("data-lm-theme", "light")
        it.page.evaluate("document.body.classList.add('dark')")
        expect(root).to_have_attribute("data-lm-theme", "dark")
        it.page.evaluate("document.body.classList.remove('dark')")
        expect(root).to_have_attribute("data-lm-theme", "light")


def test_what_is_cut_is_hatched_and_named(browser: Browser, tmp_path: Path):
    widget = GradientFlow(random_network(time=20, width=8), truncation=4)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "at t = 17")
        expect(it.page.locator(".lm svg path[fill^='url(#zero']")).to_have_count(3)
        expect(it.page.locator(".lm svg path[fill^='url(#over']")).to_have_count(0)
        show_values(it.page)
        assert it.page.get_by_role("row").nth(5).inner_text().split() == ["1", "cut", "cut", "cut"]


def test_what_overflows_is_marked_and_cannot_be_clipped(browser: Browser, tmp_path: Path):
    network = random_network(time=300, width=1)
    huge = network._replace(read_out=network.read_out * 1e37, inputs=network.inputs * 1e37)
    widget = GradientFlow(huge, activation="linear", spectral_radius=3.0, clip=1.0)
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        expect(it.page.get_by_text("The RNN’s gradient overflows")).to_be_visible()
        expect(it.page.locator(".lm svg text", has_text="‖G‖ overflow")).to_have_count(1)
        expect(it.page.locator(".lm svg path[fill^='url(#over']")).to_have_count(1)
        says(it.page, "RNN: overflow at t = 300, overflow at t = 1;")
        assert it.errors == []


WATCH = """(figure) => {
    window.seen = [];
    new MutationObserver(() => {
        seen.push(Number(figure.getAttribute("aria-label").match(/T = (\\d+)/)[1]));
        if (seen.paused || seen.at(-1) < 3) return;
        seen.paused = true;
        [...document.querySelectorAll("button")].find((it) => it.textContent === "Pause").click();
    }).observe(figure, {attributeFilter: ["aria-label"]});
}"""


def test_the_loss_step_plays_from_the_first_to_the_last(browser: Browser, tmp_path: Path):
    widget = GradientFlow(random_network(time=9, width=3))
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        says(page, "loss at T = 9 ")
        figure(page).evaluate(WATCH)  # a busy machine is too late for a step from outside
        page.get_by_role("button", name="Play from T = 1").click()
        play = page.get_by_role("button", name="Play", exact=True)
        expect(play).to_be_visible()
        held = figure(page).get_attribute("aria-label")
        page.wait_for_timeout(400)
        expect(figure(page)).to_have_attribute("aria-label", held)
        steps = page.evaluate("seen")
        assert steps == sorted({*steps}) and steps[0] <= 2 and 3 <= steps[-1] < 9
        play.click()
        says(page, "loss at T = 9 ")
        steps = page.evaluate("seen")
        assert steps == sorted({*steps}) and steps[-1] == 9
        expect(page.get_by_role("button", name="Play from T = 1")).to_be_visible()
        page.get_by_role("button", name="Undo").click()  # each playing is one step
        expect(figure(page)).to_have_attribute("aria-label", held)
        assert it.errors == []


def test_curves_are_kept_and_compared(widget, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        page = it.page
        wide = page.locator(".lm svg [clip-path] path[stroke-width='9']")
        page.get_by_role("button", name="Keep curves to compare").click()
        expect(wide).to_have_count(3)
        before = wide.first.get_attribute("d")
        slider(page, "Spectral radius").focus()
        page.keyboard.press("End")
        says(
            page,
            "earlier curves: ρ = 1, tanh, forget bias 1, not cut, not clipped, T = 20.",
        )
        present = page.locator(".lm svg path[stroke-width='3'][stroke='#0072B2']").first
        expect(present).not_to_have_attribute("d", before)
        expect(wide.first).to_have_attribute("d", before)
        expect(page.get_by_text("Pale: earlier curves: ρ = 1,")).to_be_visible()
        kept = page.locator(".lm svg text.letter").filter(has_text="′")
        expect(kept).to_have_text(["R′", "L′", "G′"])
        says(page, "They were: RNN: ")
        assert page.locator(".lm svg [opacity]").count() == 0  # as dark as the present ones
        box = page.get_by_role("grid", name="Curves").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
        expect(page.locator(".lm-tip")).to_have_text(re.compile(r"RNN [^\n]+ \(before .+\)\n"))
        show_values(page)
        expect(page.locator(".lm caption")).to_contain_text("LSTM: (h, c)")
        expect(page.get_by_role("columnheader")).to_have_text(
            ["t", *(f"{kind}{when}" for when in ("", " before") for kind in ("RNN", "LSTM", "GRU"))]
        )
        page.get_by_role("button", name="Stop comparing").click()
        expect(wide).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(wide).to_have_count(3)
        assert len(before) > 40 and it.errors == []


def test_curves_of_other_settings_come_from_python(browser: Browser, tmp_path: Path):
    network = random_network(time=20, width=8)
    widget = GradientFlow(network, before=[0.5, "relu", 0, 4, 1.0, 12])
    with open_file(browser, host_page("file", widget, tmp_path)) as it:
        says(it.page, "ρ = 0.5, relu, forget bias 0, cut after 4, θ = 1, T = 12.")
        show_values(it.page)
        rows = it.page.locator(".lm-table tbody tr")
        expect(rows).to_have_count(20)
        assert rows.nth(0).inner_text().split()[4:] == ["cut"] * 3
        marks = it.page.locator(".lm svg path[stroke-width='5']")  # of steps without a place
        cut = [len(re.findall("M", path.get_attribute("d") or "")) for path in marks.all()]
        assert cut == [8, 0] * 3
        sample = it.page.locator(".lm svg path[d$='h30'][stroke-width='9']")
        said = it.page.locator(".lm svg text", has_text="before")
        boxes = [place.bounding_box() for place in (sample, said)]
        assert 0 < boxes[1]["x"] - boxes[0]["x"] - boxes[0]["width"] < 30
        assert rows.nth(19).inner_text().split()[4:] == ["–"] * 3


@pytest.mark.parametrize("width", [1000, 360])
def test_the_words_beside_the_pointer_leave_the_curves_free(
    width, browser: Browser, tmp_path: Path
):
    network = random_network(time=20, width=8)
    widget = GradientFlow(network, spectral_radius=3.0, activation="linear")  # up to the top
    with open_file(browser, host_page("file", widget, tmp_path), width=width) as it:
        curves = it.page.get_by_role("grid", name="Curves")
        curves.scroll_into_view_if_needed()
        box = curves.bounding_box()
        for share in (0.02, 0.5, 0.98):
            it.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
            tip = it.page.locator(".lm-tip").bounding_box()
            assert tip["y"] + tip["height"] < box["y"]
            assert tip["x"] >= 0 and tip["x"] + tip["width"] <= width
