"""Texts refer to exercises by their checks' names; numbers and titles are those of the lab."""

import re
from pathlib import Path

import pytest

from coursekit import course
from coursekit.notebooks import exercises
from coursekit.notebooks.sources import read_notebook
from lmcourse import labs
from lmcourse.errors import CourseError
from lmcourse.labs.check import Lab

README = course.root() / "README.md"


def test_a_number_is_a_position() -> None:
    lab = Lab("lmcourse.labs.lab98")
    first = lab.exercise("first", "First", 5, 1, "tasks:FIRST")
    second = lab.exercise("second", "Second", 5, 1, "tasks:SECOND")
    assert [each.number for each in (first, second)] == ["98.1", "98.2"]
    assert [each.slug for each in lab.exercises] == ["98-first", "98-second"]
    assert second.task == "lmcourse.labs.lab98.tasks:SECOND"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a lab 05 of two exercises."""
    package = tmp_path / "labs" / "lab05"
    package.mkdir(parents=True)
    (tmp_path / "chapters").mkdir()
    package.joinpath("__init__.py").write_text(LAB, encoding="utf-8")
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    return tmp_path


LAB = """lab = Lab(__name__)
check_ppmi = lab.exercise("ppmi", "Shifted PPMI", 5, 1, "a:B")
check_noise = lab.exercise(
    "noise", "The power 3/4", 5, 1, "a:C"
)
"""


@pytest.mark.usefixtures("checkout")
def test_a_lab_refers_to_its_exercises_and_any_text_to_a_labs_titles() -> None:
    text = "## {exercise}`noise` A\n\nAs in {exercise}`ppmi`, `{exercise}` and {term}`x`."
    written = exercises.write_out(text, "05-lab-word-embeddings.md")
    assert written == "## 05.2 A\n\nAs in 05.1, `{exercise}` and {term}`x`."
    assert exercises.write_out("In it: {exercises}`05`.", "01-x.md") == (
        "In it: *Shifted PPMI*, *The power 3/4*."
    )


def test_what_is_not_there_is_told(checkout: Path) -> None:
    with pytest.raises(CourseError, match=r"05-x\.md refers to the exercise 'nois'") as caught:
        exercises.write_out("{exercise}`nois`", "05-x.md")
    assert "ppmi, noise; or add it to labs/lab05/__init__.py" in caught.value.remedy
    with pytest.raises(CourseError, match=r"lab77/__init__\.py cannot be read"):
        exercises.write_out("{exercises}`77`", "05-x.md")
    (checkout / "labs/lab05/__init__.py").write_text("lab = Lab(\n")
    with pytest.raises(CourseError, match=r"lab05/__init__\.py is not Python"):
        exercises.titles("05")


@pytest.mark.parametrize("lab", course.sources("lab"), ids=lambda source: source.number)
def test_what_is_read_is_what_the_lab_imports(lab: course.Source) -> None:
    found = labs.exercises(lab.number)
    names = [(each.slug.removeprefix(f"{lab.number}-"), each.title) for each in found]
    assert exercises.listed(lab.number) == names and names


def test_readme_lists_the_exercises_as_the_labs_do() -> None:
    """Else run `python -m coursekit.notebooks.exercises`."""
    text = README.read_text(encoding="utf-8")
    assert text == exercises.with_titles(text)
    listed = re.findall(r"\| \[Lab (\d\d)\]\([^)]*\): ([^|]*) \|", text)
    assert [number for number, _ in listed] == [each.number for each in course.sources("lab")]


def test_a_stale_row_of_readme_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = README.read_text(encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    (tmp_path / "labs").symlink_to(course.root() / "labs")
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    (tmp_path / "README.md").write_text(text.replace("*Shifted PPMI*", "*Old*"), encoding="utf-8")
    exercises.main()
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("source", course.sources("chapter"), ids=lambda source: source.number)
def test_a_chapter_lists_the_exercises_of_its_lab(source: course.Source) -> None:
    """By `{exercises}`, which cannot be stale."""
    texts = [cell.source for cell in read_notebook(source.path).cells]
    assert [text for text in texts if exercises.titles(source.number) in text]


def test_no_text_numbers_an_exercise() -> None:
    """An exercise that is inserted would make the number wrong."""
    found = []
    for lab in course.sources("lab"):
        numbers = "|".join(re.escape(each.number) for each in labs.exercises(lab.number))
        paths = [lab.path, *(lab.path.parent / f"lab{lab.number}").glob("*.py")]
        for path in [*paths, course.chapter(lab.number).path]:
            lines = path.read_text(encoding="utf-8").splitlines()
            near = rf"(#|[Ee]xercises?|\bin|\bof|\bas) ({numbers})\b(?!\d|%| [a-z])"
            found += [f"{path.name}: {line}" for line in lines if re.search(near, line)]
    assert found == []
