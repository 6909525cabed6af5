"""The calls in a cell's code, for the rules of form and the estimate of minutes."""

import ast
import re


def parsed(code: str) -> ast.Module:
    """Parse a cell, without its magic commands."""
    return ast.parse(re.sub(r"^[%!].*$", "pass", code, flags=re.MULTILINE))


def calls(code: str, *names: str) -> list[ast.Call]:
    """Return the calls whose function is written as one of the names."""
    found = [node for node in ast.walk(parsed(code)) if isinstance(node, ast.Call)]
    return [node for node in found if ast.unparse(node.func) in names]


def option(call: ast.Call, keyword: str, position: int | None = None) -> str:
    """Return the source of an argument; "" if it is not passed.

    Args:
        position: where it may also be passed without its keyword.
    """
    named = [ast.unparse(each.value) for each in call.keywords if each.arg == keyword]
    placed = [] if position is None else call.args[position : position + 1]
    return "".join([*named, *map(ast.unparse, placed)])
