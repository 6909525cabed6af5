"""coursekit.notebooks.startpage: the page on which JupyterLab opens."""

import json
import re
from urllib.parse import unquote

import pytest

from coursekit.notebooks import files, startpage, workbook
from lmcourse import labs
from lmcourse.errors import CourseError
from tests.doors.conftest import WIDGET

SLUGS = [exercise.slug for exercise in labs.exercises("02")]
COUNT = len(SLUGS)


def solve(small, *names, text=None):
    private = small.workbook / ".lmcourse"
    private.mkdir(parents=True, exist_ok=True)
    records = {
        name: {"title": "T", "solved": "2026-11-21T10:00:00+00:00", "attempts": 1} for name in names
    }
    # Tried, not solved.
    records.setdefault("02-clipping", {"title": "T", "solved": None, "attempts": 7})
    data = json.dumps({"version": 2, "exercises": records}) if text is None else text
    (private / "progress.json").write_text(data, encoding="utf-8")


def read(small):
    return (small.workbook / "START.md").read_text(encoding="utf-8")


def test_chapter_lab_minutes_question_and_progress(small):
    solve(small, "02-perplexity", "02-bptt", "01-derivatives")
    startpage.write(workbook.lay_out())
    page = read(small)
    assert "## 02 · Recurrent language models" in page
    assert "*What does a recurrent network remember?*" in page
    assert (
        "[Chapter 02](chapters/02-recurrent.ipynb)** · 75 minutes, 20 more to go deeper\n" in page
    )
    progress = f"2 of {COUNT} exercises solved"
    assert f"[Lab 02](labs/02-recurrent.ipynb)** · 90 minutes · {progress}\n" in page
    for word in ("fresh copy", "lmcourse doctor", "never overwritten"):
        assert word in page


def test_a_lab_that_is_all_solved_is_marked(small):
    solve(small, *SLUGS)
    assert f"{COUNT} of {COUNT} exercises solved ✓" in startpage.page(workbook.lay_out())


def test_the_widgets_stand_under_the_chapters_without_a_mark(small):
    assert "Widgets" not in startpage.page(workbook.lay_out())
    small.write("gallery/attention-heads.md", WIDGET)
    page = startpage.page(workbook.lay_out())
    line = "- **[Attention heads](gallery/attention-heads.ipynb)** · *Where does it look?*\n"
    below = page[page.index("## Widgets") : page.index("## Good to know")]
    assert (
        line in below and "solved" not in below and page.index("## 02") < page.index("## Widgets")
    )


def test_the_widgets_stand_in_the_books_order(small):
    for name in ("a-widget", "b-widget", "c-widget"):
        small.write(f"gallery/{name}.md", WIDGET.replace("Attention heads", name))
    part = "- part: P\n  chapters:\n    - number: '02'\n      needs: []\n"
    text = f"{part}- part: W\n  gallery: [c-widget, a-widget, b-widget]\n"
    for outline, order in ((text, "cab"), (text.replace("c-", "x-"), "abc"), ("nothing", "abc")):
        (small.root / "outline.yml").write_text(outline, encoding="utf-8")
        page = startpage.page(workbook.lay_out())
        assert "".join(re.findall(r"gallery/(\w)-widget", page)) == order


def test_every_link_leads_to_a_file(small):
    small.write("chapters/03-a b (é).md", "---\n\n# Odd name\n")
    small.write("gallery/attention-heads.md", WIDGET)
    startpage.write(workbook.lay_out())
    links = re.findall(r"\]\(([^)]*)\)", read(small))
    assert len(links) == 4
    assert all((small.workbook / unquote(link)).is_file() for link in links)


def test_a_lab_without_checks_and_a_chapter_without_lab_are_shown(small):
    small.write("labs/77-new.md", "---\n\n# Lab 77\n")
    small.write("chapters/78-new.md", "---\n\n# Chapter 78\n")
    page = startpage.page(workbook.lay_out())
    assert "**[Lab 77](labs/77-new.ipynb)**\n" in page
    assert "**[Chapter 78](chapters/78-new.ipynb)**\n" in page


def test_it_is_written_only_when_it_changes(small):
    report = workbook.lay_out()
    assert startpage.write(report) is True
    assert startpage.write(report) is False
    solve(small, "02-perplexity")
    assert startpage.write(report) is True
    assert not list(small.workbook.glob("START.yours*"))


@pytest.mark.parametrize("text", ["mine\n", "", None, b"\xff\xfe"])
def test_an_edited_page_is_moved_aside(small, text):
    path = small.workbook / "START.md"
    startpage.write(workbook.lay_out())
    ours = path.read_bytes()
    mine = {None: b"note\n" + ours, "": b""}.get(text, text)
    mine = mine.encode() if isinstance(mine, str) else mine
    for number in (1, 2):
        path.write_bytes(mine)
        startpage.write(workbook.lay_out())
        assert (small.workbook / f"START.yours-{number}.md").read_bytes() == mine
        assert path.read_bytes() == ours


def test_an_updated_version_is_announced_with_both_links(small, edit):
    workbook.lay_out()
    edit(small.chapter, lambda n: n["cells"][0].update(source="Mine."))
    assert "Please note" not in startpage.page(workbook.lay_out())
    small.change_chapter()
    page = startpage.page(workbook.lay_out())
    assert "## Please note" in page
    assert "(chapters/02-recurrent.ipynb) contains your edits" in page
    assert "(chapters/02-recurrent.updated.ipynb)" in page


def test_damaged_files_are_announced(small):
    workbook.lay_out()
    small.lab.write_text("{")
    (small.workbook / ".lmcourse" / "manifest.json").write_text("{")
    page = startpage.page(workbook.lay_out())
    assert "(labs/02-recurrent.ipynb) cannot be read" in page
    assert "(labs/02-recurrent.updated.ipynb)" in page and "contains your edits" not in page
    assert "manifest.corrupt-1.json" in page


def test_a_corrupt_progress_file_is_announced_and_kept(small):
    solve(small, text="{half")
    page = startpage.page(workbook.lay_out())
    assert f"0 of {COUNT} exercises solved" in page
    assert "progress.corrupt-1.json" in page
    kept = small.workbook / ".lmcourse" / "progress.corrupt-1.json"
    assert kept.read_text(encoding="utf-8") == "{half"


def test_a_page_that_cannot_be_written(small, monkeypatch):
    report = workbook.lay_out()

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(CourseError, match="may not write"):
        startpage.write(report)
    assert not list(small.workbook.glob(".lmcourse-*"))
