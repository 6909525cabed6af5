"""Live slides in JupyterLab: they look right, cells run, the widget moves, nobody is asked."""

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from coursekit.book.slides.live import write_live
from tests import browser
from tests.slides import trees
from tests.slides.trees import block, cell, equation, heading, math, p, page

SERVE = "from coursekit.book.slides.server import serve_live; import pathlib, sys; "
SERVE += "serve_live(pathlib.Path(sys.argv[1]), int(sys.argv[2]), open_browser=False)"
WIDGET = """\
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
GradientFlow(random_network())"""
SLIDES = (
    block(kind="slide"),
    block(heading("One"), p("See ", math("h_t"), ":"), equation("h = Wh", "7", "eq"),
          *trees.question("Why?", "Because."), kind="slide"),
    cell("print(6 * 7)", kind="subslide"),
    block(heading("Two"), kind="slide"),
    cell(WIDGET, hide=True, kind="-"),
)  # fmt: skip


def require_viewer() -> None:
    if importlib.util.find_spec("jupyterlab_rise") is None:
        say = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
        say("jupyterlab-rise is not installed. Run `python -m coursekit.install --dev`.")


@contextlib.contextmanager
def served(notebook: Path, log: Path) -> Iterator[str]:
    """Present a notebook; yield the address."""
    command = [sys.executable, "-c", SERVE, str(notebook), str(browser.free_port())]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            **browser.as_in_a_terminal(),
        )
    try:
        yield browser._address(process, log)
    finally:
        browser._close(process)


def present(panel: Page) -> Locator:
    return panel.locator("section.present:not(.stack)")


def go_on_to(panel: Page, target: Locator) -> None:
    """Press Space until the slide of `target` is shown: one before reveal.js listens is lost."""
    for _ in range(30):
        panel.keyboard.press("Space")
        with contextlib.suppress(TimeoutError):
            target.wait_for(timeout=4000)
            return
    raise AssertionError(f"No slide shows {target}.")


def run(panel: Page) -> Locator:
    """Run the code cell of the slide that is shown, which is selected; return its output.

    A key that comes before the kernel does nothing, so it is pressed until there is an output.
    """
    output = present(panel).locator(".jp-OutputArea-output")
    for _ in range(30):
        panel.keyboard.press("Control+Enter")
        with contextlib.suppress(TimeoutError):
            output.first.wait_for(timeout=4000)
            return output
    raise AssertionError("The cell did not run.")


def test_the_deck_runs_in_jupyterlab(tmp_path):
    require_viewer()
    chapter = page(*SLIDES)
    notebook = write_live(chapter, trees.book(chapter, tmp_path), tmp_path / "live")
    with (
        browser.chromium_page() as (tab, seen),
        served(notebook, tmp_path / "log") as address,
    ):
        tab.goto(address)
        expect(present(tab).get_by_role("heading", name="A chapter")).to_be_visible()
        go_on_to(tab, present(tab).get_by_role("heading", name="One"))
        expect(present(tab).locator("mjx-container")).to_have_count(2)
        expect(present(tab).locator("mjx-labels")).to_have_count(1)  # (7)
        expect(present(tab).locator("blockquote")).to_contain_text("Why?")
        expect(present(tab).locator("details p")).to_be_hidden()
        present(tab).locator("summary").click()
        expect(present(tab).locator("details p")).to_be_visible()
        browser.picture(tab, "live-question")

        tab.keyboard.press("Space")
        present(tab).locator(
            ".jp-CodeCell .jp-InputPrompt"
        ).click()  # once: then the focus goes along
        expect(run(tab)).to_have_text("42")

        tab.keyboard.press("Space")
        expect(present(tab).locator(".jp-InputPlaceholder")).to_be_visible()  # it is folded
        slider = run(tab).locator(".lm-controls input").first
        expect(slider).to_be_visible()
        before = slider.input_value()
        slider.click()  # its middle; the viewer keeps the arrow keys to itself
        expect(slider).not_to_have_value(before)
        browser.picture(tab, "live-widget")
        assert seen.outside == []


def test_the_server_says_where_it_is_and_ends(tmp_path):
    require_viewer()
    chapter = page(*SLIDES)
    notebook = write_live(chapter, trees.book(chapter, tmp_path), tmp_path / "live")
    with served(notebook, tmp_path / "log") as address:
        assert "/rise/02-a-chapter.ipynb?token=" in address
    assert "The presentation has stopped." in (tmp_path / "log").read_text(encoding="utf-8")
