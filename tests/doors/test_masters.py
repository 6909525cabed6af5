"""coursekit.notebooks.masters and .sources: a lab without its solutions, the same each time."""

import re

import pytest

from coursekit import course
from coursekit.notebooks.masters import PLACEHOLDER, strip_solutions, student_version
from coursekit.notebooks.sources import read_notebook, to_bytes
from lmcourse.errors import CourseError
from tests.doors.conftest import LAB

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def leaks(master, student):
    """The solution lines of a master that stand in the student version and nowhere else in it.

    Written without the marks' own parser: whatever lies between a line with BEGIN SOLUTION and
    one with END SOLUTION, and every line of a cell tagged ``solution``, is a solution.
    """
    secret, public = set(), set()
    for cell in master.cells:
        inside = tagged = "solution" in cell.metadata.get("tags", [])
        for line in cell.source.split("\n"):
            if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
                inside = tagged or "BEGIN" in line
            else:
                (secret if inside else public).add(line.strip())
    shown = {line.strip() for cell in student.cells for line in cell.source.split("\n")}
    # A `### STUB:` line is meant to be shown without its mark; a short line, such as a bracket or
    # `return x`, carries no solution.
    return {line for line in secret - public if len(line) > 3} & shown


def test_region_becomes_the_placeholder_at_its_indentation():
    source = f"def f(x):\n    '''Doc.'''\n    {BEGIN}\n    return 2 * x\n    {END}\n\nf"
    shown = strip_solutions(source)
    assert shown == "\n".join(
        [
            "def f(x):",
            "    '''Doc.'''",
            *(f"    {line}" for line in PLACEHOLDER),
            "",
            "f",
        ]
    )


def test_stub_lines_stand_in_place_of_the_placeholder():
    stub = ["### STUB: total = ...", "### STUB:", "### STUB:   y"]
    lines = ["if x:", *(f"    {line}" for line in [BEGIN, *stub, "a = 1", END])]
    assert strip_solutions("\n".join(lines)) == "if x:\n    total = ...\n\n      y"


def test_two_regions_in_a_cell():
    source = f"{BEGIN}\na\n{END}\nkept\n{BEGIN}\nb\n{END}"
    assert strip_solutions(source).split("\n") == [*PLACEHOLDER, "kept", *PLACEHOLDER]


def test_tagged_cells_go_and_the_others_keep_their_ids(small):
    master = read_notebook(small.root / "labs" / "02-recurrent.md")
    student = student_version(master)
    assert len(master.cells) == 4
    assert [cell.id for cell in student.cells] == [cell.id for cell in master.cells[:3]]
    assert student.cells[2].metadata.tags == ["check"]
    assert "2 * number" in master.cells[1].source, "the master itself must not change"


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        (f"a\n{BEGIN}\nb", 2, "no end"),
        (f"a\n{END}", 2, "no solution is open"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n{END}", 2, "open since line 1"),
        (f"x = 1  {BEGIN}\n", 1, "no effect"),
        ("# begin solution\nx = 1", 1, "no effect"),
        (f"{BEGIN}\nx = 1\n### STUB: y\n{END}", 3, "STUB line"),
        ("### STUB: y", 1, "no effect"),
    ],
)
def test_wrong_marks_name_file_cell_and_line(small, source, line, what):
    path = small.write("labs/02-recurrent.md", f"---\n\n# T\n\n```{{code-cell}}\n{source}\n```\n")
    with pytest.raises(CourseError, match=what) as error:
        student_version(read_notebook(path), path.name)
    assert f"cell 2 of 02-recurrent.md are wrong, line {line}" in error.value.cause


def test_marks_in_prose_are_refused(small):
    path = small.write("labs/02-recurrent.md", f"---\n\n{BEGIN}\n\nsecret\n\n{END}\n")
    with pytest.raises(CourseError, match="no effect"):
        student_version(read_notebook(path))


def test_no_solution_leaks_from_the_courses_labs():
    labs = course.sources("lab")
    assert labs, "the course has labs"
    for source in labs:
        master = read_notebook(source.path)
        student = student_version(master, source.path.name)
        assert leaks(master, student) == set(), source.path.name
        assert not re.search("(BEGIN|END) SOLUTION", str(student))
        assert len(str(student)) < len(str(master)), f"{source.path.name} has no solution"


def test_the_leak_test_sees_a_leak(small):
    path = small.root / "labs" / "02-recurrent.md"
    master = read_notebook(path)
    student = student_version(master)
    assert leaks(master, student) == set()
    student.cells[0].source += "\nreturn 2 * number"
    assert leaks(master, student) == {"return 2 * number"}
    student.cells.append(master.cells[3])
    assert "The secret is to add the number to itself." in leaks(master, student)


def test_reading_is_the_same_bytes_each_time(small):
    path = small.root / "labs" / "02-recurrent.md"
    changed, notebook = read_notebook(path), read_notebook(path)
    changed.cells[0].source += "more"
    changed.cells[0].metadata["more"] = True
    assert to_bytes(notebook) == to_bytes(read_notebook(path)) != to_bytes(changed)
    assert notebook.metadata == {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
    }
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", each) for each in ids)
    assert all(cell.outputs == [] for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize(
    "body",
    ["---\n\n+++ {bad\n\nx\n", "---\n\n```{code-cell}\n:tags: [a\nx\n```\n"],
)
def test_a_source_that_is_no_notebook(small, body):
    path = small.write("labs/02-recurrent.md", body)
    with pytest.raises(CourseError, match=r"02-recurrent\.md is not a MyST notebook"):
        read_notebook(path)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(CourseError, match="cannot be read"):
        read_notebook(tmp_path / "02-gone.md")


def test_the_small_lab_has_what_these_tests_need():
    assert BEGIN in LAB and '"tags": ["solution"]' in LAB
