"""The outline: what is written, what is planned, and what it refuses."""

import pytest

from lmcourse import course
from lmcourse.book import outline
from lmcourse.errors import CourseError
from tests.book.checkout import OUTLINE, small  # noqa: F401 - a fixture


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
    assert {source.number for source in course.sources()} <= set(numbers)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (OUTLINE.replace('"02"', '"03"').replace("needs: [", "title: a\n      question: b\n"
         "      needs: ["), "02-recurrent.md has no place"),
        (OUTLINE.replace('needs: ["01"]', 'needs: ["03"]'), "needs 03"),
        (OUTLINE.replace("needs: []", 'needs: ["02"]'), "needs 02"),
        (OUTLINE.replace("question: How?", "question How?"), "outline.yml is not as"),
        (OUTLINE.replace("      title: Backpropagation\n", ""), "KeyError: 'title'"),
        ("- part: {unclosed", "outline.yml is not as"),
        ("nothing", "outline.yml is not as"),
    ],
)  # fmt: skip
def test_refused(small, text, cause):  # noqa: F811
    (small.root / "outline.yml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        outline.read()
    assert cause in caught.value.cause
