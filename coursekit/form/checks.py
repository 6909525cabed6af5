"""The rules of the four kinds of checks: what a measured one rules out, how a record is shown."""

import ast
from collections.abc import Iterator

from coursekit.form.page import Breach, Page
from coursekit.syntax import calls, option, parsed


def measured(page: Page) -> Iterator[Breach]:
    for cell in page.code:
        for call in calls(cell.source, "expect"):
            near = ast.unparse(call.args[0])[:40].strip("f'\"") if call.args else "expect("
            bounds = [option(call, name) for name in ("at_least", "at_most")]
            rivals = option(call, "rules_out")
            if not rivals:
                yield page.breach(
                    near,
                    "A measured check does not say what it rules out.",
                    "Compute what the number would be if the claim were false: "
                    "rules_out={'untrained weights': value}. Print a number that has no rival.",
                )
            for value in (*bounds, *_values(rivals)):
                if value and not _computed(value):
                    yield page.breach(
                        near,
                        f"The bound {value} of a measured check is a constant.",
                        "Use the rival's measured value or the exact limit.",
                    )


def _values(rivals: str) -> list[str]:
    """Return the values of a dictionary that is written out; none of one that is computed."""
    tree = ast.parse(rivals, mode="eval").body if rivals else None
    return [ast.unparse(value) for value in tree.values] if isinstance(tree, ast.Dict) else []


def _computed(expression: str) -> bool:
    """Whether an expression has a name in it, not numbers alone."""
    return any(isinstance(node, ast.Name) for node in ast.walk(ast.parse(expression)))


def recorded(page: Page) -> Iterator[Breach]:
    for cell in page.code:
        statements = parsed(cell.source).body
        shown = {
            ast.unparse(it)
            for statement in statements
            if isinstance(statement, ast.Expr)
            for it in _displayed(statement.value)
        }
        for call in map(ast.unparse, calls(cell.source, "finding")):
            names = {
                ast.unparse(target)
                for statement in statements
                if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == call
                for target in statement.targets
            }
            if not shown & {call, *names}:
                yield page.breach(
                    call.replace("'", '"'),
                    "A recorded result is used and not shown.",
                    "End the cell with the finding, or display(…) it: a reader sees its setup and "
                    "all of its contrasts.",
                )


def _displayed(expression: ast.expr) -> list[ast.expr]:
    if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "display":
        return expression.args
    return [expression]
