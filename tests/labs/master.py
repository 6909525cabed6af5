"""A lab's master as the tests see it: its cells, and the functions that its solutions define.

Everything is of lab 02, whose tests are also those of the machinery, unless a number is given.
"""

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from coursekit import course
from coursekit.notebooks.masters import student_version
from coursekit.notebooks.sources import read_notebook
from lmcourse.labs.check import Exercise
from lmcourse.labs.kit import Task

NUMBERS = [source.number for source in course.sources() if source.kind == "lab"]


@cache
def notebook(number: str = "02") -> Any:
    return read_notebook(source(number))


@cache
def student(number: str = "02") -> Any:
    return student_version(notebook(number), f"lab {number}")


def source(number: str = "02") -> Path:
    (found,) = (each for each in course.select(number) if each.kind == "lab")
    return found.path


def checks(number: str) -> dict[str, Exercise]:
    """A lab's checks by their names in its module: {"check_perplexity": …}."""
    module = importlib.import_module(f"lmcourse.labs.lab{number}")
    return {name: value for name, value in vars(module).items() if name.startswith("check_")}


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
    """What a check cell says: the check's name, and that of the function which it judges."""
    *imports, statement = ast.parse(cell.source).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    call = statement.value
    assert isinstance(call.func, ast.Attribute)
    lab = ast.unparse(call.func.value)
    assert re.fullmatch(r"lab\d\d", lab)
    assert call.args == []
    assert [ast.unparse(each) for each in imports] == [f"from lmcourse.labs import {lab}"]
    return call.func.attr, task(checks(lab[3:])[call.func.attr]).reference.__name__


def task(exercise: Exercise) -> Task:
    """What an exercise's check judges by."""
    module, name = exercise.task.split(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, Task)
    return found


@cache
def solutions(number: str = "02") -> dict[str, Any]:
    """Check's name -> the master's function (the cells run here need no more than these names)."""
    import math

    import torch

    from lmcourse.engine import Value

    found = {}
    for cell, check in exercise_cells(notebook(number).cells):
        names: dict[str, Any] = {"math": math, "torch": torch, "Value": Value}
        exec(compile(cell.source, f"<master {function_in(cell).name}>", "exec"), names)
        name, answer = call_in(check)
        found[name] = names[answer]
    return found
