"""What each measured check rules out: `python -m tests.chapters.false_world` writes the table.

Each measured check computes what its number would be if the claim were false, and fails if its
bounds admit that value (`lmcourse.expect`): so every run of a notebook is a run of these trials.
The table has the values of the last execution (`_build/executed`).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from coursekit import course
from coursekit.book import cache
from coursekit.notebooks.sources import read_notebook
from coursekit.syntax import calls, option
from lmcourse import table_forms

TABLE = Path(__file__).with_suffix(".md")
_MEASURED = re.compile(
    r"^[✓✗] measured · (?P<name>.+?): (?P<value>[^:]+) "
    r"\(expected: (?P<bounds>[^;]+); rules out: (?P<rivals>.+?)\)(?:\. .*)?$",
    re.DOTALL,
)
_HEAD = """# What each measured check rules out

Written by `python -m tests.chapters.false_world` from the executed chapters. A check fails if its
bounds admit one of the values in the last column: what the number would be if the claim were false.
"""
Row = tuple[str, str, str, str, str]  # chapter, name, value, bounds, what is ruled out


def rows() -> Iterator[Row]:
    """Yield a row for each measured check of each executed chapter, in their order."""
    for source in course.sources("chapter"):
        executed = cache.load(source, course.products() / "executed")
        if executed is None:
            raise SystemExit(f"Execute {source.label} first: make test ONLY={source.number}")
        for cell in executed.notebook.cells:
            for output in cell.get("outputs", []):
                text = output.get("data", {}).get("text/plain", "")
                if found := _MEASURED.match(text):
                    yield (source.number, *found.groups())  # type: ignore[misc]


def written() -> str:
    """Return the table, in Markdown."""
    header = ("chapter", "check", "measured", "expected", "if the claim were false")
    table = table_forms.markdown(header, rows(), words=range(len(header)))
    return f"{_HEAD}\n{table}\n"


def checks(source: course.Source) -> Iterator[tuple[re.Pattern[str], list[str]]]:
    """Yield of each measured check of a source its name, as a pattern, and what it rules out."""
    for cell in read_notebook(source.path).cells:
        if cell.cell_type == "code":
            for call in calls(cell.source, "expect"):
                rivals = ast.parse(option(call, "rules_out") or "{}", mode="eval").body
                names = rivals.keys if isinstance(rivals, ast.Dict) else []
                found = [key.value for key in names if isinstance(key, ast.Constant)]
                yield _pattern(call.args[0]), found


def _pattern(name: ast.expr) -> "re.Pattern[str]":
    """Return what matches a name: a text, or an f-string with anything in its braces."""
    if isinstance(name, ast.JoinedStr):
        parts = [
            re.escape(it.value) if isinstance(it, ast.Constant) else ".+?" for it in name.values
        ]
        return re.compile("".join(parts))
    return re.compile(re.escape(ast.literal_eval(name)) if isinstance(name, ast.Constant) else ".+")


if __name__ == "__main__":
    TABLE.write_text(written(), encoding="utf-8")
