"""Stub, check, solution and text of the lab cannot drift apart, and no solution leaks."""

import ast
import re
from typing import Any

import pytest

from lmcourse.labs import exercises, lab02
from tests.labs import master

EXERCISES = exercises("02")
CHECKS = {name: value for name, value in vars(lab02).items() if name.startswith("check_")}


def pairs(cells: Any) -> dict[str, tuple[Any, Any]]:
    """Exercise name -> (its cell, its check cell)."""
    found = {}
    for cell, check in master.exercise_cells(cells):
        name = CHECKS[master.call_in(check)[0]].name
        assert name not in found, f"{name} has two checks"
        found[name] = cell, check
    return found


@pytest.mark.parametrize("which", ["notebook", "student"])
def test_each_exercise_has_one_stub_and_its_check_directly_under_it(which: str) -> None:
    found = pairs(getattr(master, which)().cells)
    assert list(found) == [exercise.name for exercise in EXERCISES]
    for cell, check in found.values():
        assert cell.cell_type == "code"
        assert master.function_in(cell).name == master.call_in(check)[1]


@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES])
def test_stub_and_solution_have_one_signature_and_docstring(name: str) -> None:
    solution = master.function_in(pairs(master.notebook().cells)[name][0])
    stub = master.function_in(pairs(master.student().cells)[name][0])
    assert ast.unparse(stub.args) == ast.unparse(solution.args)
    assert ast.get_docstring(stub) == ast.get_docstring(solution)
    # Each argument, and what is returned, is described.
    described = ast.get_docstring(stub) or ""
    for argument in stub.args.args:
        assert re.search(rf"\b{argument.arg}(, \w+)*: ", described), argument.arg
    assert "Returns" in described


@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES])
def test_the_stub_does_nothing_but_say_that_it_is_unwritten(name: str) -> None:
    stub = master.function_in(pairs(master.student().cells)[name][0])
    docstring, body = stub.body
    assert isinstance(docstring, ast.Expr)
    assert ast.unparse(body).startswith("raise NotImplementedError(")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_the_text_states_title_minutes_and_difficulty(exercise: Any) -> None:
    texts = [cell.source for cell in master.student().cells if cell.cell_type == "markdown"]
    (text,) = (each for each in texts if f"## {exercise.name} " in each)
    assert f"## {exercise.name} {exercise.title}\n" in text
    level = f"{exercise.difficulty} of 5" + (": open" if exercise.difficulty == 5 else "")
    assert f"*{exercise.minutes} minutes · difficulty {level}*" in text


def test_the_minutes_add_up() -> None:
    text = master.source().read_text(encoding="utf-8")
    assert f"minutes: {sum(exercise.minutes for exercise in EXERCISES)}\n" in text


def test_each_exercise_has_a_hint_folded_away() -> None:
    cells = master.student().cells
    for name, (_, check) in pairs(cells).items():
        below = cells[cells.index(check) + 1]
        assert below.cell_type == "markdown" and below.source.startswith(":::{dropdown} Hint"), name


def solution_lines() -> list[str]:
    """Every line of code or text that only the master may have."""
    lines: list[str] = []
    for cell in master.notebook().cells:
        if "solution" in master.tags(cell):
            lines += cell.source.splitlines()
        else:
            for region in re.findall(
                r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, flags=re.DOTALL
            ):
                lines += [line for line in region.splitlines() if "### STUB" not in line]
    stripped = [line.split("  #")[0].strip() for line in lines]
    return [line for line in stripped if len(line) > 12]


def test_no_solution_leaks() -> None:
    lines = solution_lines()
    assert len(lines) > 40
    # What the lab gives anyway, in the cells of the network and of its training, is no secret.
    given = ("class RecallNetwork", "def train")
    texts = [cell.source for cell in master.student().cells if not cell.source.startswith(given)]
    assert len(texts) == len(master.student().cells) - len(given)
    everything = "\n".join(texts)
    assert [line for line in lines if line in everything] == []
    assert "SOLUTION" not in everything
    assert not any("solution" in master.tags(cell) for cell in master.student().cells)


def test_the_open_investigation_starts_empty() -> None:
    cells = master.student().cells
    (index,) = (i for i, cell in enumerate(cells) if cell.source == "# Your experiment.")
    yours, end = cells[index + 1 :]
    assert yours.source.startswith("*Your answer:") and yours.source.count("\n") == 0
    assert end.source.startswith("## What you have now")


def test_the_student_version_compiles() -> None:
    for cell in master.code(master.student().cells):
        compile(cell.source, "<student>", "exec")


def test_checks_are_called_as_the_text_promises() -> None:
    for name, (_, check) in pairs(master.notebook().cells).items():
        function, _ = master.call_in(check)
        assert check.source == f"lab02.{function}({master.call_in(check)[1]})", name
