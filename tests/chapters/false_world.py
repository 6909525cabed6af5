"""What each measured check rules out: `python -m tests.chapters.false_world` writes the table.

Each measured check computes what its number would be if the claim were false, and fails if its
bounds admit that value (`lmcourse.expect`): so every run of a notebook is a run of these trials,
and shows their values.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from coursekit.syntax import calls, option
from lmcourse import table_forms

TABLE = Path(__file__).with_suffix(".md")
_HEAD = """# What each measured check rules out

Written by `python -m tests.chapters.false_world` from the chapters and labs. A check fails if its
bounds admit what the number would be in one of these cases, which the notebook computes.
"""
Row = tuple[str, str, str, str]  # chapter or lab, name, bounds, what is ruled out


def checks() -> Iterator[tuple[str, ast.Call]]:
    """Yield each measured check of the chapters and labs, in their order, and where it is."""
    for source in course.sources():
        where = f"lab {source.number}" if source.kind == "lab" else source.number
        for cell in read_notebook(source.path).cells:
            if cell.cell_type == "code":
                for call in calls(cell.source, "expect"):
                    yield where, call


def rows() -> Iterator[Row]:
    """Yield a row for each measured check."""
    for where, call in checks():
        yield where, _text(call.args[0]), _bounds(call), _ruled_out(call)


def written() -> str:
    """Return the table, in Markdown."""
    header = ("chapter or lab", "check", "expected", "rules out")
    return f"{_HEAD}\n{table_forms.markdown(header, rows(), words=range(len(header)))}\n"


def _bounds(call: ast.Call) -> str:
    center, reach, low, high = (
        option(call, name) for name in ("close_to", "within", "at_least", "at_most")
    )
    parts = [f"{center} ± {reach}"] if center else []
    parts += [f"at least `{low}`"] if low else []
    parts += [f"at most `{high}`"] if high else []
    return ", ".join(parts)


def _ruled_out(call: ast.Call) -> str:
    rivals = ast.parse(option(call, "rules_out"), mode="eval").body
    if not isinstance(rivals, ast.Dict):
        return f"`{ast.unparse(rivals)}`"
    return "; ".join(_text(key) if key else "…" for key in rivals.keys)


def _text(name: ast.expr) -> str:
    """Return a name as its text; of an f-string, with what is in its braces."""
    if isinstance(name, ast.JoinedStr):
        parts = (
            str(it.value) if isinstance(it, ast.Constant) else f"{{{ast.unparse(it.value)}}}"
            for it in name.values
            if isinstance(it, ast.Constant | ast.FormattedValue)
        )
        return "".join(parts)
    return str(name.value) if isinstance(name, ast.Constant) else f"`{ast.unparse(name)}`"


if __name__ == "__main__":
    TABLE.write_text(written(), encoding="utf-8")
