"""Lab 02's master as the tests see it: its cells, and the functions that its solutions define."""

import ast
from functools import cache
from typing import Any

from lmcourse import course
from lmcourse.notebooks.masters import student_version
from lmcourse.notebooks.sources import read_notebook


@cache
def notebook() -> Any:
    return read_notebook(source())


@cache
def student() -> Any:
    return student_version(notebook(), "lab 02")


def source() -> Any:
    return course.root() / "labs" / "02-lab-recurrent-language-models.md"


def code(cells: Any) -> list[Any]:
    return [cell for cell in cells if cell.cell_type == "code"]


def tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def exercise_cells(cells: Any) -> list[tuple[Any, Any]]:
    """Pairs (cell of the exercise, check cell directly under it)."""
    return [(cells[index - 1], cell) for index, cell in enumerate(cells) if "check" in tags(cell)]


def function_in(cell: Any) -> ast.FunctionDef:
    """The one function that an exercise's cell defines."""
    (found,) = (node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef))
    return found


def call_in(cell: Any) -> tuple[str, str]:
    """What a check cell says: ("check_perplexity", "perplexity")."""
    (statement,) = ast.parse(cell.source).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    call = statement.value
    (argument,) = call.args
    assert isinstance(call.func, ast.Attribute) and isinstance(argument, ast.Name)
    assert ast.unparse(call.func.value) == "lab02"
    return call.func.attr, argument.id


def solutions() -> dict[str, Any]:
    """Check's name -> the master's function (the cells run here need only math and torch)."""
    import math

    import torch

    found = {}
    for cell, check in exercise_cells(notebook().cells):
        names: dict[str, Any] = {"math": math, "torch": torch}
        exec(compile(cell.source, f"<master {function_in(cell).name}>", "exec"), names)
        name, answer = call_in(check)
        found[name] = names[answer]
    return found
