"""coursekit.course: where the course is and what it holds."""

from pathlib import Path

import pytest

from coursekit import course
from lmcourse.errors import CourseError
from tests.doors.conftest import WIDGET


def test_sources_are_sorted_and_described(small):
    small.write("chapters/11-bert.md", "title: BERT\n---\n\n# BERT\n")
    small.write("chapters/README.md", "---\n\n# Not a chapter\n")
    found = [(each.kind, each.number, each.slug) for each in course.sources()]
    expected = [("chapter", "02", "02-recurrent"), ("lab", "02", "02-recurrent")]
    assert found == [*expected, ("chapter", "11", "11-bert")]
    chapter = course.sources("chapter")[0]
    assert chapter.title == "Recurrent language models"
    assert chapter.question == "What does a recurrent network remember?"
    assert (chapter.minutes, chapter.deeper) == (75, 20)
    assert chapter.duration == "75 minutes, 20 more to go deeper"
    assert [each.kind for each in course.sources("lab")] == ["lab"]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (
            "title: T\n---\n\n```{code-cell} ipython3\n# no heading\n```\n\n# Heading\n",
            "Heading",
        ),
        (
            "title: T\n---\n\n````{note}\n```\n# no\n```\n# no\n````\n# Heading\n",
            "Heading",
        ),
        ("title: T\n---\n\nNo heading.\n", "T"),
        ("minutes: 1\n---\n\n## Second level\n", "x y"),
    ],
)
def test_title_is_the_first_heading_outside_fences(small, body, title):
    small.write("chapters/01-x-y.md", body)
    assert course.sources("chapter")[0].title == title


@pytest.mark.parametrize("number", ["2", "02", " 2 "])
def test_select_takes_short_and_long_numbers(small, number):
    assert [each.kind for each in course.select(number)] == ["chapter", "lab"]


def test_the_widgets_pages_come_last_and_have_no_number(small):
    for name in ("masking", "attention-heads"):
        small.write(f"gallery/{name}.md", WIDGET)
    small.write("gallery/README.md", "title: T\n---\n")
    small.write("chapters/11-bert.md", "title: BERT\n---\n\n# BERT\n")
    *numbered, heads, masking = course.sources()
    assert [each.number for each in numbered] == ["02", "02", "11"]
    assert (heads.kind, heads.number, heads.slug) == ("widget", "", "attention-heads")
    assert heads.label == "Widget Attention heads" and heads.question == "Where does it look?"
    assert [each.address for each in (numbered[0], heads)] == ["recurrent", "attention-heads"]
    assert course.sources("widget") == [heads, masking]
    assert course.select("attention-heads") == [heads] and course.select("2") == numbered[:2]
    with pytest.raises(CourseError) as error:
        course.select("heads")
    assert error.value.remedy == "Choose one of these: 02, 11, attention-heads, masking."
    with pytest.raises(CourseError):
        course.chapter("attention-heads")


@pytest.mark.parametrize("number", ["3", "", "two", "../02", "-1"])
def test_unknown_number_lists_what_there_is(small, number):
    with pytest.raises(CourseError) as error:
        course.select(number)
    assert "02" in error.value.remedy


def test_no_course_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    with pytest.raises(CourseError) as error:
        course.root()
    assert str(tmp_path) in error.value.cause
    assert "LMCOURSE_ROOT" in error.value.remedy


def test_root_is_the_checkout_of_this_package():
    assert course.root() == Path(course.__file__).resolve().parent.parent


def test_two_sources_of_one_number(small):
    small.write("chapters/02-twin.md", "title: T\n---\n")
    with pytest.raises(CourseError, match=r"02-recurrent\.md and 02-twin\.md"):
        course.sources()


@pytest.mark.parametrize("matter", ["title: [\n---\n", "title: T\n", "- a\n---\n"])
def test_bad_front_matter_names_the_file(small, matter):
    small.write("chapters/02-recurrent.md", matter)
    with pytest.raises(CourseError, match=r"02-recurrent\.md"):
        course.sources()


def test_minutes_must_be_a_number(small):
    small.write("chapters/02-recurrent.md", "minutes: an hour\n---\n")
    with pytest.raises(CourseError, match="an hour"):
        course.sources()


def test_source_that_is_not_text(small):
    (small.root / "chapters" / "02-recurrent.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CourseError, match="cannot be read"):
        course.sources()


def test_workbook_is_in_the_checkout_or_where_the_variable_says(small, tmp_path, monkeypatch):
    assert course.workbook() == small.root / "workbook"
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(tmp_path / "mine"))
    assert course.workbook() == tmp_path / "mine"
    monkeypatch.setenv("LMCOURSE_WORKBOOK", "~/mine")
    assert course.workbook() == Path.home() / "mine"
