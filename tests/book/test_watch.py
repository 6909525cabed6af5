"""A book that is watched: an edit of prose is shown without an execution, code is executed."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from coursekit.book.published import Published
from coursekit.book.reload import Server
from coursekit.book.watch import watch
from lmcourse.errors import CourseError
from tests.book.checkout import CHAPTER, SmallCourse, small  # noqa: F401

PATIENCE = 90  # seconds


class Watched:
    """`lmcourse book --watch` in a process of its own."""

    def __init__(self, said: Path) -> None:
        self._said = said
        with said.open("w", encoding="utf-8") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lmcourse", "book", "--watch", "--no-browser"],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )

    @property
    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def until(self, pattern: str, after: int = 0) -> re.Match[str]:
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said[after:])):
            assert self.process.poll() is None and time.monotonic() < deadline, self.said
            time.sleep(0.05)
        return found

    def page(self, name: str) -> str:
        address = self.until(r"The book is at (\S+)")[1]
        with urllib.request.urlopen(address + name, timeout=10) as answer:
            return answer.read().decode("utf-8")


@pytest.fixture
def watched(small: SmallCourse, tmp_path: Path) -> Iterator[Watched]:  # noqa: F811
    it = Watched(tmp_path / "said.txt")
    yield it
    it.process.kill()
    it.process.wait()


def test_an_edit_is_shown(small: SmallCourse, watched: Watched):  # noqa: F811
    watched.until("The book is at")
    page = watched.page("recurrent.html")
    assert "A loss" in page and "/.version" in page
    before, version = len(watched.said), watched.page(".version")

    small.write("chapters/02-recurrent.md", CHAPTER.replace("A loss", "One more loss"))
    watched.until(r"Chapter 02: shown after \d", before)
    assert "One more loss" in watched.page("recurrent.html")
    assert "cell 1 of" not in watched.said[before:]  # nothing was executed
    assert watched.page(".version") != version  # so that open pages reload

    before = len(watched.said)
    small.write("chapters/02-recurrent.md", CHAPTER.replace("6 * 7", "6 * 8"))
    watched.until(r"Chapter 02: shown after \d", before)
    assert "48" in watched.page("recurrent.html") and "cell 1 of" in watched.said[before:]

    before = len(watched.said)
    small.write("chapters/02-recurrent.md", CHAPTER.replace("{eq}`eq-loss`", "{eq}`eq-gone`"))
    watched.until("The book has faults", before)
    assert "48" in watched.page("recurrent.html")  # the last good page

    before = len(watched.said)
    mark = '{"slideshow": {"slide_type": "slide"}, "tags": ["slide-only"]}'
    alone = f"\n+++ {mark}\n\n## Alone\n\n- A point.\n"
    small.write("chapters/02-recurrent.md", CHAPTER + alone)
    watched.until("building the whole book", before)
    watched.until("Writing the pages", before)

    before = len(watched.said)
    small.write("chapters/02-recurrent.md", CHAPTER)
    small.write("index.md", (small.root / "index.md").read_text().replace("**Read**", "**Peruse**"))
    watched.until("building the whole book", before)
    watched.until("Writing the pages", before)
    deadline = time.monotonic() + PATIENCE
    while "Peruse" not in watched.page("index.html"):
        assert time.monotonic() < deadline, watched.said
        time.sleep(0.1)

    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(30) == 0 and watched.said.endswith("Stopped.\n")
    left = [path.name for path in (small.root / "_build").iterdir() if "work" in path.name]
    assert left == []


def test_a_taken_port_is_reported_before_anything_is_built(tmp_path: Path):
    said: list[str] = []
    taken = Server(tmp_path, 0)
    port = int(taken.serve().rstrip("/").rsplit(":", 1)[1])
    with pytest.raises(CourseError, match=f"Port {port} cannot be used"):
        watch(said.append, Published(), port=port)
    assert said == []
