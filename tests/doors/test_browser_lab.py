"""The way of a student: `lmcourse lab`, its start page, a chapter run as a whole, its lab."""

import re
import signal
import sys
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from coursekit import course
from tests import browser
from tests.doors.conftest import SmallCourse


def test_a_student_opens_the_start_page_a_chapter_a_widget_and_a_lab(
    tmp_path: Path,
) -> None:
    chapter, lab = course.select("02")
    with browser.chromium_page() as (page, seen), browser.open_door(tmp_path) as door:
        page.goto(door.url)
        page.get_by_role("heading", name="Neural language models").wait_for()
        page.get_by_role("heading", name=re.compile(rf"02.*{re.escape(chapter.title)}")).wait_for()
        assert page.get_by_role("link", name="Lab 02").is_visible()
        browser.picture(page, "start-page")

        page.get_by_role("link", name="Chapter 02").click()
        panel = browser.ready(page)
        assert_myst_is_rendered(panel)
        browser.pictures(page, "chapter-02")

        panel = browser.open_notebook(page, door, "gallery/gradient-flow.ipynb")
        cells = browser.run_all(page, door.workbook / "gallery" / "gradient-flow.ipynb")
        assert browser.errors_in(cells) == []
        assert all(cell["execution_count"] for cell in cells)
        assert_the_slider_moves_the_figure(page, panel)

        name = f"labs/{lab.slug}.ipynb"
        browser.open_notebook(page, door, name)
        checks = browser.checks_in(browser.run_all(page, door.workbook / name))
        hint = page.get_by_text("Not written yet")
        browser.reach(page, hint.first)
        browser.pictures(page, "lab-02")
        assert checks[0]["exercise"] == "02.1"
        assert not any(check["passed"] for check in checks)

        assert seen.outside == []


def assert_the_slider_moves_the_figure(page: Page, panel: Locator) -> None:
    """Move the spectral radius by one step; the RNN's gradient norm changes, as its text says."""
    slider = browser.reach(page, panel.get_by_label("Spectral radius").first)
    norm = panel.get_by_text(re.compile(r"^‖G‖ \d")).first
    before = norm.text_content() or ""
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(
        panel.locator(".lm-field", has_text="Spectral radius").first.locator("output")
    ).to_have_text("1.05")
    expect(norm).not_to_have_text(before)


def assert_myst_is_rendered(panel: Locator) -> None:
    """Check admonitions (or folded answers) and maths, and that no directive stands there raw."""
    expect(panel.locator(".katex").first).to_be_attached()
    expect(panel.locator(".myst aside, .myst details").first).to_be_attached()
    raw = [
        text for text in panel.locator(".myst").all_inner_texts() if ":::" in text or "$$" in text
    ]
    assert raw == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_ends_a_kernel_in_the_middle_of_a_cell(tmp_path: Path, small: SmallCourse) -> None:
    chapter = small.root / "chapters" / "02-recurrent.md"
    endless = chapter.read_text(encoding="utf-8").replace("print(6 * 7)", "while True: pass")
    chapter.write_text(endless, encoding="utf-8")
    with browser.chromium_page() as (page, _seen), browser.open_door(tmp_path) as door:
        panel = browser.open_notebook(page, door, "chapters/02-recurrent.ipynb")
        browser.start_all(page)
        expect(panel.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
            "data-status", "busy"
        )
        family = psutil.Process(door.process.pid).children(recursive=True)
        assert [it for it in family if "ipykernel_launcher" in it.cmdline()]
        door.process.send_signal(signal.SIGINT)
        assert door.process.wait(timeout=browser.PATIENCE) == 0
        _gone, alive = psutil.wait_procs(family, timeout=browser.PATIENCE)
        assert alive == []
        said = door.log.read_text(encoding="utf-8")
    assert "Traceback" not in said
    assert "Your work is saved" in said
