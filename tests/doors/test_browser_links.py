"""Links in JupyterLab: between notebooks, from a term to its definition, and the glossary."""

from pathlib import Path

from playwright.sync_api import expect

from tests import browser
from tests.doors.conftest import CHAPTER, LAB, SmallCourse

CELLS = ["A paragraph."] * 40
DEFINING = """\
## What it keeps

It keeps the **hidden state** (see [lab 02](../labs/02-recurrent.md)).
"""


def test_links_lead_to_pages_and_terms_to_their_definitions(
    tmp_path: Path, small: SmallCourse
) -> None:
    text = "\n\n+++\n\n".join([*CELLS, DEFINING, *CELLS])
    small.write("chapters/02-recurrent.md", CHAPTER.replace("Text.", text))
    lab = LAB.replace("# Lab 02", "# Lab 02\n\nIts {term}`hidden state`.")
    small.write("labs/02-recurrent.md", lab)
    with browser.chromium_page() as (page, seen), browser.open_door(tmp_path) as door:
        page.goto(door.url)
        page.get_by_role("link", name="Glossary").click()
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        expect(panel.get_by_role("heading", name="Glossary")).to_be_in_viewport()

        # JupyterLab finds a heading in a notebook that is open.
        link = panel.get_by_role("link", name="Chapter 02: What it keeps")
        link.click()
        title = panel.get_by_role("heading", name="Recurrent language models")
        expect(title).to_be_in_viewport()
        definition = panel.get_by_role("heading", name="What it keeps")
        expect(definition).to_be_attached()  # it is rendered
        page.get_by_role("tab", name="glossary.ipynb").click()
        link.click()
        expect(definition).to_be_in_viewport()
        expect(title).not_to_be_in_viewport()

        panel.get_by_role("link", name="lab 02").click()
        expect(panel.get_by_role("heading", name="Lab 02")).to_be_in_viewport()

        panel.get_by_role("link", name="hidden state").click()
        expect(definition).to_be_in_viewport()
        assert seen.outside == []
