"""Stub, check, solution and text of each lab cannot drift apart, and no solution leaks."""

import ast
import re
from typing import Any

import pytest

from lmcourse.labs import exercises
from tests.labs import master

EXERCISES = [(number, each) for number in master.NUMBERS for each in exercises(number)]
# What a lab gives anyway, in cells that begin so, is no secret.
GIVEN = {"02": ("class RecallNetwork", "def train"), "11": ("def faulty_fine_tuning",)}

of_each_lab = pytest.mark.parametrize("number", master.NUMBERS)
of_each_exercise = pytest.mark.parametrize(
    ("number", "exercise"), EXERCISES, ids=[each.slug for _, each in EXERCISES]
)


def pairs(number: str, cells: Any) -> dict[str, tuple[Any, Any]]:
    """Exercise's slug -> (its cell, its check cell)."""
    found, checks = {}, master.checks(number)
    for cell, check in master.exercise_cells(cells):
        name = checks[master.call_in(check)[0]].slug
        assert name not in found, f"{name} has two checks"
        found[name] = cell, check
    return found


@of_each_lab
@pytest.mark.parametrize("which", ["notebook", "student"])
def test_each_exercise_has_one_stub_and_its_check_directly_under_it(
    number: str, which: str
) -> None:
    found = pairs(number, getattr(master, which)(number).cells)
    assert list(found) == [exercise.slug for exercise in exercises(number)]
    for cell, check in found.values():
        assert cell.cell_type == "code"
        assert master.function_in(cell).name == master.call_in(check)[1]


@of_each_exercise
def test_stub_and_solution_have_one_signature_and_docstring(number: str, exercise: Any) -> None:
    solution, stub = (
        master.function_in(pairs(number, version(number).cells)[exercise.slug][0])
        for version in (master.notebook, master.student)
    )
    assert ast.unparse(stub.args) == ast.unparse(solution.args)
    assert ast.get_docstring(stub) == ast.get_docstring(solution)
    # Each argument, and what is returned, is described.
    described = ast.get_docstring(stub) or ""
    for argument in stub.args.args:
        assert re.search(rf"\b{argument.arg}(, \w+)*: ", described), argument.arg
    assert "Returns" in described


@of_each_exercise
def test_the_stub_does_nothing_but_say_that_it_is_unwritten(number: str, exercise: Any) -> None:
    stub = master.function_in(pairs(number, master.student(number).cells)[exercise.slug][0])
    docstring, body = stub.body
    assert isinstance(docstring, ast.Expr)
    assert ast.unparse(body).startswith("raise NotImplementedError(")


@of_each_exercise
def test_the_text_states_title_minutes_and_difficulty(number: str, exercise: Any) -> None:
    texts = [cell.source for cell in master.student(number).cells if cell.cell_type == "markdown"]
    (text,) = (each for each in texts if f"## {exercise.number} " in each)
    assert f"## {exercise.number} {exercise.title}\n" in text
    level = f"{exercise.difficulty} of 5" + (": open" if exercise.difficulty == 5 else "")
    assert f"*{exercise.minutes} minutes · difficulty {level}*" in text


@of_each_lab
def test_the_minutes_add_up(number: str) -> None:
    text = master.source(number).read_text(encoding="utf-8")
    assert f"minutes: {sum(exercise.minutes for exercise in exercises(number))}\n" in text


@of_each_lab
def test_each_exercise_has_a_hint_folded_away(number: str) -> None:
    cells = master.student(number).cells
    for name, (_, check) in pairs(number, cells).items():
        below = cells[cells.index(check) + 1]
        assert below.cell_type == "markdown" and below.source.startswith(":::{dropdown} Hint"), name


def solution_lines(number: str) -> list[str]:
    """Every line of code or text that only the master may have."""
    lines: list[str] = []
    for cell in master.notebook(number).cells:
        if "solution" in master.tags(cell):
            lines += cell.source.splitlines()
        else:
            for region in re.findall(
                r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, flags=re.DOTALL
            ):
                lines += [line for line in region.splitlines() if "### STUB" not in line]
    stripped = [line.split("  #")[0].strip() for line in lines]
    return [line for line in stripped if len(line) > 12]


@of_each_lab
def test_no_solution_leaks(number: str) -> None:
    lines = solution_lines(number)
    assert len(lines) > 40, f"Lab {number} has {len(lines)} lines of solutions. Write them."
    given = GIVEN.get(number, ())
    cells = master.student(number).cells
    texts = [cell.source for cell in cells if not cell.source.startswith(given)]
    assert len(texts) == len(cells) - len(given)
    everything = "\n".join(texts)
    assert [line for line in lines if line in everything] == []
    assert "SOLUTION" not in everything
    assert not any("solution" in master.tags(cell) for cell in cells)


@of_each_lab
def test_the_open_investigation_starts_empty(number: str) -> None:
    cells = master.student(number).cells
    (index,) = (i for i, cell in enumerate(cells) if cell.source == "# Your experiment.")
    yours, end = cells[index + 1 :]
    assert yours.source.startswith("*Your answer:") and yours.source.count("\n") == 0
    assert end.source.startswith("## What you have now")


@of_each_lab
def test_the_student_version_compiles(number: str) -> None:
    for cell in master.code(master.student(number).cells):
        compile(cell.source, "<student>", "exec")


@of_each_lab
def test_checks_are_called_as_the_text_promises(number: str) -> None:
    for name, (_, check) in pairs(number, master.notebook(number).cells).items():
        function, _ = master.call_in(check)
        expected = f"from lmcourse.labs import lab{number}\n\nlab{number}.{function}()"
        assert check.source == expected, name
