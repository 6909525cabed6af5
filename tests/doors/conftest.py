"""A small course in a folder whose path has spaces and letters of several scripts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FRONT = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
"""
CHAPTER = """\
title: Recurrent language models
question: What does a recurrent network remember?
minutes: 75
deeper: 20
---

# Recurrent language models

Text.

```{code-cell} ipython3
print(6 * 7)
```
"""
LAB = """\
title: The lab
minutes: 90
---

# Lab 02

```{code-cell} ipython3
def double(number):
    \"\"\"Twice the number.\"\"\"
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION
```

```{code-cell} ipython3
:tags: [check]
print(double(21))
```

+++ {"tags": ["solution"]}

The secret is to add the number to itself.
"""


WIDGET = """\
question: Where does it look?
title: Attention heads
---

# Attention heads

```{code-cell} ipython3
print("heads")
```
"""


@dataclass
class SmallCourse:
    """A checkout with chapter 02 and lab 02; ``root`` holds it, ``workbook`` need not exist."""

    root: Path

    @property
    def workbook(self) -> Path:
        return self.root / "workbook"

    @property
    def chapter(self) -> Path:
        return self.workbook / "chapters" / "02-recurrent.ipynb"

    @property
    def lab(self) -> Path:
        return self.workbook / "labs" / "02-recurrent.ipynb"

    def write(self, name: str, text: str) -> Path:
        """Write a source, such as ``labs/02-recurrent.md``, after `FRONT`."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FRONT + text, encoding="utf-8")
        return path

    def change_chapter(self, new: str = "New text.") -> None:
        """Change the chapter's source, as an update of the course would."""
        self.write("chapters/02-recurrent.md", CHAPTER.replace("Text.", new))

    def files(self) -> dict[str, bytes]:
        """The workbook's files by relative name, without the private folder."""
        found = [path for path in self.workbook.rglob("*") if path.is_file()]
        names = {path.relative_to(self.workbook).as_posix(): path for path in found}
        return {k: p.read_bytes() for k, p in names.items() if not k.startswith(".lmcourse/")}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    """A small course, found through LMCOURSE_ROOT."""
    course = make_small(tmp_path)
    monkeypatch.setenv("LMCOURSE_ROOT", str(course.root))
    return course


def make_small(parent: Path) -> SmallCourse:
    course = SmallCourse(parent / "cours é 言語 modèles")
    course.write("chapters/02-recurrent.md", CHAPTER)
    course.write("labs/02-recurrent.md", LAB)
    return course


Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def edit() -> Callable[[Path, Edit], None]:
    """Change a notebook file as JupyterLab would: read it, change it, save it."""

    def change(path: Path, how: Edit) -> None:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        how(notebook)
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")

    return change
