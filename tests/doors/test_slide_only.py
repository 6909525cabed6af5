"""Text that only the slides show is in no notebook, and counts nowhere."""

import pytest

from coursekit.notebooks.sources import (
    read_notebook,
    slide_only_cells,
    to_bytes,
    without_slide_only,
)
from coursekit.reading import count_words
from lmcourse.errors import CourseError
from tests.doors.conftest import FRONT

HEAD = (
    FRONT
    + """\
title: A chapter
---

# A chapter

Prose.

"""
)
ONLY = """\
+++ {"slideshow": {"slide_type": "slide"}, "tags": ["slide-only"]}

## Only on the slides

- a **bullet**

"""
CODE = "```{code-cell} ipython3\n1 + 1\n```\n\n"
END = '+++ {"slideshow": {"slide_type": "notes"}}\n\nThe end.\n'


def written(tmp_path, text: str):
    path = tmp_path / "02-chapter.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_notebook_is_what_it_is_without_them(tmp_path):
    plain = to_bytes(read_notebook(written(tmp_path, HEAD + CODE + END)))
    with_slides = HEAD + ONLY + CODE + ONLY + ONLY + END + "\n" + ONLY
    assert to_bytes(read_notebook(written(tmp_path, with_slides))) == plain
    assert without_slide_only(with_slides).rstrip() == (HEAD + CODE + END).rstrip()


def test_slides_know_where_they_are(tmp_path):
    path = written(tmp_path, HEAD + ONLY + CODE + ONLY + ONLY + END + "\n" + ONLY)
    found = slide_only_cells(path)
    assert [position for position, _ in found] == [1, 2, 2, 3]
    assert found[0][1].source == "## Only on the slides\n\n- a **bullet**"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('+++ {"tags": ["slide-only"]}\n\n## Lost\n', "is on no slide"),
        ("```{code-cell} ipython3\n:tags: [slide-only]\n\n1\n```\n", "is code"),
    ],
)
def test_a_cell_that_no_slide_shows_is_named(tmp_path, cell, said):
    with pytest.raises(CourseError) as caught:
        slide_only_cells(written(tmp_path, HEAD + cell))
    assert said in caught.value.cause and "02-chapter.md" in caught.value.cause
    assert "slideshow" in caught.value.remedy


def test_they_take_no_reading_time(tmp_path):
    cells = read_notebook(written(tmp_path, HEAD + ONLY + END)).cells
    words = count_words("\n\n".join(cell.source for cell in cells))
    assert words == len(["A", "chapter", "Prose.", "The", "end."])
