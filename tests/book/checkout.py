"""A small checkout from which a book can be built in seconds."""

import shutil
from pathlib import Path

import pytest

from coursekit.book.execute import execute
from coursekit.course import sources
from tests.doors.conftest import SmallCourse, make_small

CHECKOUT = Path(__file__).resolve().parents[2]
CHAPTER = """\
title: Recurrent language models
question: What does a recurrent network remember?
minutes: 75
---

# Recurrent language models

A loss {eq}`eq-loss`, after {cite:t}`elman1990`.

$$
L = \\sum_t \\ell_t
$$ (eq-loss)

```{code-cell} ipython3
print(6 * 7)
```
"""
OUTLINE = """\
- part: Gradients
  chapters:
    - number: "01"
      title: Backpropagation
      question: How?
      needs: []
    - number: "02"
      needs: ["01"]
"""
TRACKED = ("myst.yml", "index.md", "references.bib", "requirements.lock", "CITATION.cff")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    """A small course with everything that its book needs, found through LMCOURSE_ROOT."""
    course = make_book(tmp_path)
    monkeypatch.setenv("LMCOURSE_ROOT", str(course.root))
    return course


def make_book(parent: Path) -> SmallCourse:
    course = make_small(parent)
    for name in TRACKED:
        shutil.copy(CHECKOUT / name, course.root)
    shutil.copytree(CHECKOUT / "theme", course.root / "theme")
    lab = course.root / "labs" / "02-recurrent.md"
    lab.rename(lab.with_name("02-lab-recurrent.md"))  # as the course's labs are named
    (course.root / "outline.yml").write_text(OUTLINE, encoding="utf-8")
    course.write("chapters/02-recurrent.md", CHAPTER)
    return course


@pytest.fixture(scope="session")
def executed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is kept of the small course's notebooks, which are executed once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        small = make_book(tmp_path_factory.mktemp("executed"))
        patch.setenv("LMCOURSE_ROOT", str(small.root))
        folder = small.root / "_build" / "executed"
        execute(sources(), folder, lambda line: None)
    return folder


@pytest.fixture
def executed(small: SmallCourse, executed_once: Path) -> None:
    """Let the small course's notebooks be as they were: a test of what follows executes none."""
    shutil.copytree(executed_once, small.root / "_build" / "executed")
