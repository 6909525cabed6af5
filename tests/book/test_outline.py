"""The outline: what is written, what is planned, and what it refuses."""

import pytest

from coursekit import course, outline
from lmcourse.errors import CourseError
from tests.book.checkout import OUTLINE, small  # noqa: F401 - a fixture
from tests.doors.conftest import WIDGET


def test_written_chapters_bring_their_own_title(small):  # noqa: F811
    (part,) = outline.read()
    planned, written = part.chapters
    assert (planned.title, planned.written, planned.sources) == ("Backpropagation", None, ())
    assert written.title == "Recurrent language models"
    assert written.question == "What does a recurrent network remember?"
    assert [source.kind for source in written.sources] == ["chapter", "lab"]
    assert written.needs == ("01",)


def test_the_course_itself():
    numbers = [chapter.number for part in outline.read() for chapter in part.chapters]
    assert numbers == [f"{number:02}" for number in range(1, 20)]
    assert {source.number for source in course.sources() if source.number} <= set(numbers)
    last = outline.read()[-1]
    assert last.title == "Widgets" and not last.chapters
    assert {page.slug for page in last.gallery} == {it.slug for it in course.sources("widget")}


def test_the_widgets_pages_stand_in_the_outlines_order(small):  # noqa: F811
    for name in ("attention-heads", "masking"):
        small.write(f"gallery/{name}.md", WIDGET)
    path = small.root / "outline.yml"
    for listed, cause, remedy in (
        ("[masking]", "attention-heads.md is not listed", "Add the name attention-heads"),
        (
            "[masking, gates]",
            "gallery/gates.md does not exist",
            "pages are: attention-heads, masking.",
        ),
        ("masking", "outline.yml names m", "The pages are"),
        ("{a: 1}", "outline.yml names a", "The pages are"),
        ("[masking, attention-heads, masking]", "masking twice", "once"),
    ):
        path.write_text(f"{OUTLINE}- part: Widgets\n  gallery: {listed}\n", encoding="utf-8")
        with pytest.raises(CourseError) as caught:
            outline.read()
        assert cause in caught.value.cause and remedy in caught.value.remedy
    end = "- part: Widgets\n  gallery: [masking, attention-heads]\n"
    path.write_text(OUTLINE + end, encoding="utf-8")
    _, widgets = outline.read()
    assert [page.slug for page in widgets.gallery] == ["masking", "attention-heads"]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (OUTLINE.replace('"02"', '"03"').replace("needs: [", "title: a\n      question: b\n"
         "      needs: ["), "02-recurrent.md is not listed"),
        (OUTLINE.replace('needs: ["01"]', 'needs: ["03"]'), "needs 03"),
        (OUTLINE.replace("needs: []", 'needs: ["02"]'), "needs 02"),
        (OUTLINE.replace("question: How?", "question How?"), "outline.yml does not have the form"),
        (OUTLINE.replace("      title: Backpropagation\n", ""), "KeyError: 'title'"),
        ("- part: {unclosed", "outline.yml does not have the form"),
        ("nothing", "outline.yml does not have the form"),
    ],
)  # fmt: skip
def test_refused(small, text, cause):  # noqa: F811
    (small.root / "outline.yml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        outline.read()
    assert cause in caught.value.cause
