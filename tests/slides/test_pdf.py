"""The deck as PDF."""

import contextlib
import re
import stat
import sys
from pathlib import Path

import psutil
import pytest

from coursekit.book.slides import browser
from coursekit.book.slides import pdf as pdfs
from coursekit.book.slides.browser import find_browser
from coursekit.book.slides.pdf import write_pdf
from lmcourse.errors import CourseError
from tests.browser import require_chromium

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Path:
    """A browser that does what a script says."""
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(browser, "find_browser", lambda: path)
    return path


def test_there_is_a_page_for_each_slide(deck, tmp_path):
    require_chromium()
    write_pdf(deck, tmp_path / "deck.pdf")
    data = (tmp_path / "deck.pdf").read_bytes()
    text = deck.read_text(encoding="utf-8")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == text.count('<div class="sheet')
    boxes = set(re.findall(rb"/MediaBox\s*\[([^\]]*)\]", data))
    assert [[float(side) for side in box.split()] for box in boxes] == [[0, 0, 960, 540]]
    assert b"/FontFile" in data  # the fonts are in it


def test_no_browser_is_said_with_another_way(deck, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "_ELSEWHERE", ())
    assert find_browser() is None
    with pytest.raises(CourseError) as caught:
        write_pdf(deck, tmp_path / "deck.pdf")
    assert "no browser" in caught.value.cause
    assert "?print-pdf" in caught.value.remedy and str(deck) in caught.value.remedy


# The browser's one argument with its profile; a line that says where it listens.
PROFILE = 'for a; do case $a in --user-data-dir=*) profile="${a#*=}";; esac; done; '


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "(it ended with status 3)"),
        ("exit 0", "(it ended with status 0)"),
        (PROFILE + 'printf "1\\n/x" > "$profile/DevToolsActivePort"; sleep 600', "refused"),
        (PROFILE + 'printf "port\\n/x" > "$profile/DevToolsActivePort"; sleep 600', "port"),
    ],
)
def test_a_browser_that_fails_leaves_the_last_file(script, said, deck, tmp_path, monkeypatch):
    stand_in(monkeypatch, tmp_path, script)
    (tmp_path / "deck.pdf").write_bytes(b"the last one")
    with pytest.raises(CourseError) as caught:
        write_pdf(deck, tmp_path / "deck.pdf")
    assert said in caught.value.cause and "?print-pdf" in caught.value.remedy
    assert (tmp_path / "deck.pdf").read_bytes() == b"the last one"


def test_a_browser_that_hangs_is_ended_with_its_children(deck, tmp_path, monkeypatch):
    child = tmp_path / "child"
    stand_in(monkeypatch, tmp_path, f"sleep 600 & echo $! > {child}; wait")
    monkeypatch.setattr(browser, "_WITHIN", 1.0)
    with pytest.raises(CourseError, match="within 1 seconds"):
        write_pdf(deck, tmp_path / "deck.pdf")
    number = int(child.read_text(encoding="utf-8"))
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(number)
        if process.status() != psutil.STATUS_ZOMBIE:  # nobody waits for an orphan in a container
            process.wait(timeout=20)


def test_what_is_no_pdf_is_not_written(deck, tmp_path, monkeypatch):
    stand_in(monkeypatch, tmp_path, "sleep 600")
    monkeypatch.setattr(pdfs, "_printed", lambda *_: b"")
    with pytest.raises(CourseError, match="wrote no PDF"):
        write_pdf(deck, tmp_path / "deck.pdf")
    assert not (tmp_path / "deck.pdf").exists()


def test_a_folder_that_may_not_be_written_is_named(deck, tmp_path, monkeypatch, unprivileged):
    stand_in(monkeypatch, tmp_path, "sleep 600")
    monkeypatch.setattr(pdfs, "_printed", lambda *_: b"%PDF")
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    try:
        with pytest.raises(CourseError) as caught:
            write_pdf(deck, locked / "deck.pdf")
    finally:
        locked.chmod(0o755)
    assert str(locked) in caught.value.cause and "--output" in caught.value.remedy
