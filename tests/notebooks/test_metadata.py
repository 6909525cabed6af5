"""Small errors in a source's metadata: file, line and remedy, for every command that reads it."""

import pytest
from typer.testing import CliRunner

from coursekit import cli, course
from coursekit.notebooks.sources import read_notebook
from lmcourse.errors import CourseError
from tests.book.checkout import small  # noqa: F401 - a fixture
from tests.doors.conftest import FRONT

GOOD = f"""\
{FRONT}title: Recurrent
question: Why?
minutes: 5
---

# Recurrent

```{{code-cell}} ipython3
---
tags: [hide-input]
---
6 * 7
```

+++ {{"slideshow": {{"slide_type": "slide"}}, "tags": ["slide-only"]}}

## A slide
"""
KERNEL = "kernelspec:\n  display_name: Python 3\n  language: python\n  name: python3"
TAGS = "tags: [hide-input]"
MARK = '{"slideshow": {"slide_type": "slide"}, "tags": ["slide-only"]}'
FAULTS = [  # what is replaced, by what, in which line that is, and the remedy
    ("title: Recurrent", "title: 2024", 10, 'title: "'),
    ("title: Recurrent", "title: 2024-01-31", 10, 'title: "'),
    ("title: Recurrent", "title: [a, b]", 10, 'title: "'),
    ("title: Recurrent", "title:", 10, "remove the line"),
    ("title: Recurrent", 'title: ""', 10, "remove the line"),
    ("question: Why?", "question: [why]", 11, 'question: "'),
    ("minutes: 5", "minutes: five", 12, "minutes: 60"),
    ("minutes: 5", "minutes: 0", 12, "minutes: 60"),
    ("minutes: 5", "minutes: yes", 12, "minutes: 60"),
    (KERNEL, "kernelspec: python3", 6, "another source"),
    (KERNEL, "kernelspec:", 6, "another source"),
    (TAGS, "tags: hide-input", 19, "`tags: [hide-input]`"),
    (TAGS, "tags:", 19, "`tags: [hide-input]`"),
    (TAGS, "tags: [1, 2]", 19, "`tags: [hide-input]`"),
    (TAGS, "name: x\ntags: {a: b}", 20, "`tags: [hide-input]`"),
    (TAGS, "- hide-input", 17, "one option a line"),
    (TAGS, "hide-input", 17, "one option a line"),
    (f"---\n{TAGS}\n---", ":tags: check", 18, "`tags: [check]`"),
    (TAGS, "slideshow: slide", 19, "`slideshow: {slide_type: slide}`"),
    (TAGS, "slideshow: {slide_type: [slide]}", 19, "`slideshow: {slide_type: slide}`"),
    (TAGS, "jupyter: hidden", 19, "Remove the line"),
    (TAGS, "when: 2024-01-31", 19, 'when: "'),
    (MARK, '{"tags": "slide-only"}', 24, '`"tags": ["slide-only"]`'),
    (MARK, '{"slideshow": "slide"}', 24, '`"slideshow": {"slide_type": "slide"}`'),
]
IDS = [f"{new.splitlines()[-1][:40]}" for _, new, _, _ in FAULTS]


@pytest.fixture
def written(small):  # noqa: F811
    """Write the small course's chapter with a fault."""

    def write(old: str, new: str) -> None:
        assert old in GOOD
        (small.root / "chapters" / "02-recurrent.md").write_text(GOOD.replace(old, new))

    return write


def test_a_source_without_a_fault(written):
    written("6 * 7", "6 * 8")
    (source,) = course.sources("chapter")
    assert [cell.cell_type for cell in read_notebook(source.path).cells] == ["markdown", "code"]
    assert (source.title, source.question, source.minutes) == ("Recurrent", "Why?", 5)


@pytest.mark.parametrize(("old", "new", "line", "remedy"), FAULTS, ids=IDS)
def test_a_fault_is_named_with_its_line(written, old, new, line, remedy):
    written(old, new)
    with pytest.raises(CourseError) as caught:
        for source in course.sources("chapter"):
            read_notebook(source.path)
    assert caught.value.cause.startswith(f"chapters/02-recurrent.md, line {line}: `") or (
        caught.value.cause.startswith(f"chapters/02-recurrent.md, line {line}: The options")
    )
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    "command", [["book"], ["workbook"], ["slides", "02"], ["slides", "02", "--live"]]
)
@pytest.mark.parametrize(("old", "new"), [(TAGS, "tags: check"), ("title: Recurrent", "title: 7")])
def test_every_command_names_it(written, command, old, new):
    written(old, new)
    with pytest.raises(CourseError, match=r"02-recurrent\.md, line 1[09]: `t"):
        CliRunner().invoke(cli.app, command, catch_exceptions=False)
