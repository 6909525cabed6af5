"""GradientFlow in a notebook: live in JupyterLab, and in what nbconvert makes of it."""

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, expect

from tests import browser as door_browser
from tests.doors.conftest import make_small
from tests.widgets.hosts import open_file

CHAPTER = """\
title: A widget
question: Does it live?
minutes: 75
---

# A widget

```{code-cell} ipython3
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
flow = GradientFlow(random_network(time=20, width=8))
flow
```

```{code-cell} ipython3
print("radius", flow.spectral_radius)
```
"""


def test_it_lives_in_jupyterlab(tmp_path: Path) -> None:
    course = make_small(tmp_path)
    course.write("chapters/02-recurrent.md", CHAPTER)
    with (
        door_browser.chromium_page(touch=True) as (page, seen),
        door_browser.open_door(tmp_path, LMCOURSE_ROOT=str(course.root)) as door,
    ):
        panel = door_browser.open_notebook(page, door, "chapters/02-recurrent.ipynb")
        cells = door_browser.run_all(page, door.workbook / "chapters/02-recurrent.ipynb")
        assert door_browser.errors_in(cells) == []
        moved_by_keyboard(page, panel)
        panel.locator(".jp-CodeCell .jp-InputArea-editor").last.click()
        page.keyboard.press("Control+Enter")
        expect(panel.get_by_text("radius 0.95")).to_be_visible()
        moved_by(page.mouse.click, panel, 0.9, "2\\.[5-9]")
        moved_by(page.touchscreen.tap, panel, 0.2, "0\\.[4-8]")
        door_browser.picture(page, "gradient-flow-jupyterlab")
        assert seen.outside == []


def moved_by_keyboard(page: Page, panel: Locator) -> None:
    """Press keys that JupyterLab takes for itself elsewhere: in a slider, and in a strip."""
    before = panel.locator(".jp-Cell").count()
    strip = panel.get_by_role("grid", name="RNN:").get_by_role("gridcell")
    for place in (strip, panel.get_by_label("Spectral radius")):
        place.focus()
        for key in ("ArrowDown", "b", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
            expect(place).to_be_focused()
    expect(panel.locator(".lm output").first).to_have_text("0.95")
    expect(panel.get_by_role("status")).to_have_text(re.compile("^RNN, loss at T = 19"))
    assert panel.locator(".jp-Cell").count() == before


def moved_by(
    press: Callable[[float, float], None], panel: Locator, share: float, value: str
) -> None:
    """Press on the slider, at a share of its width; its value and the picture's numbers follow."""
    slider = panel.get_by_label("Spectral radius")
    norm = panel.get_by_text(re.compile(r"^‖G‖ \d")).first
    before = norm.text_content() or ""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    press(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    expect(panel.locator(".lm output").first).to_have_text(re.compile(f"^{value}"))
    expect(norm).not_to_have_text(before)


def test_exported_html_lives_from_disk(widget, browser: Browser, tmp_path: Path) -> None:
    data, metadata = widget._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    cell = nbformat.v4.new_code_cell("flow", outputs=[output])
    offline = {"require_js_url": "", "mathjax_url": "", "jquery_url": "", "mermaid_js_url": ""}
    html, _ = HTMLExporter(**offline).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    path = tmp_path / "exported.html"
    path.write_text(html, encoding="utf-8")
    with open_file(browser, path, touch=True) as it:
        expect(it.page.locator(".lm svg image")).to_have_count(3)
        it.page.get_by_label("Spectral radius").focus()
        it.page.keyboard.press("End")
        expect(it.page.locator(".lm output").first).to_have_text("3")
        body = it.page.locator("body")
        moved_by(it.page.mouse.click, body, 0.9, "2\\.[5-9]")
        moved_by(it.page.touchscreen.tap, body, 0.2, "0\\.[4-8]")
        figure = it.page.locator(".lm svg[role=img]")
        expect(figure).to_have_attribute("aria-label", re.compile("loss at T = 20"))
        assert [url for url in it.requests if url.startswith(("http", "file"))] == []
