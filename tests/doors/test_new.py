"""`lmcourse new chapter`: what it writes, and what it says is missing."""

import shutil
from pathlib import Path

import pytest

from coursekit import course, form, new, outline
from coursekit.notebooks.sources import read_notebook
from lmcourse.errors import CourseError
from tests.book.checkout import SmallCourse, small  # noqa: F401

CHAPTERS = course.sources("chapter")


def test_a_planned_chapter_takes_its_title_and_question(small: SmallCourse):  # noqa: F811
    said = new.new_chapter("1")
    source = course.chapter("01")
    assert (source.title, source.question) == ("Backpropagation", "How?")
    text = (small.root / outline.OUTLINE).read_text(encoding="utf-8")
    assert "title" not in text and outline.read()[0].chapters[0].written == source
    assert "chapters/01-backpropagation.md:1: The chapter has 1 of at least 3 questions." in said
    assert (small.root / "labs/lab01/tasks.py").is_file()
    for cell in read_notebook(source.path).cells:
        if cell.cell_type == "code":
            compile(cell.source, "chapter", "exec")
    with pytest.raises(CourseError, match="Chapter 01 is there"):
        new.new_chapter("01")


def test_a_new_chapter_needs_a_title_and_a_question(small: SmallCourse):  # noqa: F811
    with pytest.raises(CourseError, match="plans no chapter 97"):
        new.new_chapter("97", title="Only a title")
    new.new_chapter("97", title="Yes: or no", question="Is it: this?")
    assert course.chapter("97").title == "Yes: or no"
    assert [it.number for part in outline.read() for it in part.chapters] == ["01", "02", "97"]


def test_what_is_no_number_or_would_overwrite_is_refused(small: SmallCourse):  # noqa: F811
    with pytest.raises(CourseError, match="is not the number of a chapter"):
        new.new_chapter("one")
    mine = small.write("labs/lab01/tasks.py", "mine")
    with pytest.raises(CourseError, match=r"tasks\.py exists"):
        new.new_chapter("01")
    assert mine.read_text(encoding="utf-8").endswith("mine")
    assert not list((small.root / "chapters").glob("01*"))


@pytest.mark.parametrize(
    ("old", "text", "said"),
    [
        ("number=2", "number=7", "Figure 2 of the page has the number 7. Number figures"),
        ("## Takeaways", "## Summary", "The chapter has no section Takeaways."),
        ("{dropdown} Answer", "{dropdown} Note", "Fold an answer below each question."),
        ("use_style()", "use_style()  # " + "x" * 100, "Divide it: 100 fit a page."),
        ("**You need**", "It is simply so. You need", "The text says 'simply'"),
        ("{eq}`eq-", "{eq}`eq-no-", "is referred to, and is not there."),
        ("minutes: ", "minutes: 1", "The front matter states 1"),
        ("number=1)", "number=None)", "Figure 1 of the page has the number None."),
    ],
)
def test_a_breach_has_a_file_a_line_and_a_remedy(
    old: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    chapter = next(it for it in CHAPTERS if it.number == "08")
    before = chapter.path.read_text(encoding="utf-8")
    for name in ("labs", "benchmarks"):
        (tmp_path / name).mkdir()
    shutil.copy(course.root() / "benchmarks" / "notebooks.md", tmp_path / "benchmarks")
    shutil.copytree(course.root() / "labs" / "lab08", tmp_path / "labs" / "lab08")
    path = tmp_path / "chapters" / chapter.path.name
    path.parent.mkdir()
    path.write_text(text.join(before.rsplit(old, 1)), encoding="utf-8")
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    (source,) = course.sources()
    found = form.report([source])
    assert said in found and f"chapters/{path.name}:" in found


def test_a_breach_is_where_it_is(small: SmallCourse):  # noqa: F811
    path = small.root / "chapters" / "02-recurrent.md"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.append("This behaviour is new.")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (breach,) = (it for it in form.breaches(course.chapter("02")) if "behaviour" in it.what)
    assert breach.line == len(lines)
