"""What a slide shows of a code cell: some of its lines, and its outputs; no measured or identity
checks.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from coursekit.book.content import Node
from lmcourse.errors import CourseError

SHOWS = ("code", "output", "code then output")
_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")
_CHECKS = {"expect", "identity"}
_CHECK = re.compile(r'class="lmcourse-check" data-kind="(?:measured|identity)"')
_PROGRESS = re.compile(r"[\d,]+ steps · loss \S+")


def parts(block: Node, marks: dict[str, Any], location: str) -> list[Node]:
    """Return the code and the outputs that a slide shows of a cell.

    Args:
        block: a code cell of the page.
        marks: beside its ``slide_type``: ``show`` is ``code``, ``output`` or ``code then output``,
            the latter at a key press (both at once by default, but the output alone where the page
            folds the code); ``lines`` says which lines of the cell
            are shown, as in ``3-9, 12`` (of a listing, where it is the output that is shown).
        location: the source and the slide, for messages.

    Raises:
        CourseError: a mark has another form, or names lines that do not exist or are part of a
            statement.
    """
    code, *outputs = block["children"]
    show, lines = marks.get("show"), marks.get("lines")
    if show is not None and show not in SHOWS:
        raise CourseError(
            f"{location}: `show: {show}`.",
            "Write `show: code`, `show: output` or `show: code then output`.",
        )
    listed = [each for node in outputs for each in node.get("children", []) if source_of(each)]
    if show is None and (
        code.get("visibility") in ("hide", "remove")
        or (listed and "\n" not in code["value"].strip())  # a line that only asks for a listing
    ):
        show = "output"
    out: list[Node] = []
    if show != "output":
        shown = chosen(code["value"], lines, location)
        if shown:
            out.append(code | {"value": shown, "visibility": "show"})
    if show != "code":
        for node in outputs:
            kept = [_listing(each, lines if show == "output" else None, location)
                    for each in node.get("children", []) if not _is_left_out(each)]  # fmt: skip
            if kept:
                out.append(node | {"children": kept, "visibility": "show"})
    return out


def chosen(code: str, lines: Any, location: str) -> str:
    """Return those lines of a cell that a slide shows: no check, no two empty lines in a row.

    Raises:
        CourseError: the lines do not exist, or cut through a statement.
    """
    every = code.rstrip("\n").split("\n")
    wanted = set(range(1, len(every) + 1))
    if lines is not None:
        wanted = set(_numbers(lines, len(every), location))
        cut = next((each for each in _statements(code) if 0 < len(wanted & each) < len(each)), None)
        if cut:
            raise CourseError(
                f"{location}: `lines: {lines}` cuts through the statement of lines {min(cut)} to "
                f"{max(cut)} of the cell.",
                "Show all lines of a statement, or none.",
            )
    checks = _checks(code)
    out: list[str] = []
    last = 0
    for number in sorted(wanted - checks):
        left_out = set(range(last + 1, number)) - checks
        if last and any(every[each - 1].strip() for each in left_out):
            line = every[number - 1]
            out.append(line[: len(line) - len(line.lstrip())] + "# ...")
        if every[number - 1].strip() or (out and out[-1].strip()):
            out.append(every[number - 1])
        last = number
    return textwrap.dedent("\n".join(out).strip("\n"))


def source_of(output: Node) -> str | None:
    """Return the listing that an output of IPython's ``Code`` shows; else ``None``."""
    entry = _listing_entry(output)
    return None if entry is None else str(entry["content"])


def without_docstrings(code: str) -> str:
    """Return Python code without its docstrings; code that cannot be parsed as it is."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code
    lines: list[str | None] = list(code.split("\n"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            first = node.body[0]
            end = first.end_lineno or first.lineno
            lines[first.lineno - 1 : end] = [None] * (end - first.lineno + 1)
    return "\n".join(line for line in lines if line is not None)


def _numbers(lines: Any, most: int, location: str) -> Iterator[int]:
    """Yield the numbers of lines such as ``3-9, 12``."""
    for part in str(lines).split(","):
        found = _RANGE.fullmatch(part.strip())
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not 1 <= first <= last <= most:
            raise CourseError(
                f"{location}: `lines: {lines}`, where there are {most} lines.",
                "Name lines from 1 on, such as `lines: 3-9, 12`.",
            )
        yield from range(first, last + 1)


def _statements(code: str) -> Iterator[set[int]]:
    """Yield the lines of each statement that has no statements in it."""
    for node in _nodes(code):
        if not hasattr(node, "body"):
            yield set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _checks(code: str) -> set[int]:
    """Return the lines of checks, and of loops that hold nothing else."""

    def is_check(node: ast.stmt) -> bool:
        inside = [each for name in ("body", "orelse") for each in getattr(node, name, [])]
        if inside:
            return isinstance(node, ast.For | ast.With | ast.If) and all(map(is_check, inside))
        call = getattr(node, "value", None)
        name = getattr(getattr(call, "func", None), "id", "")
        return isinstance(node, ast.Expr) and isinstance(call, ast.Call) and name in _CHECKS

    return {
        line
        for node in _nodes(code)
        if is_check(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _nodes(code: str) -> list[ast.stmt]:
    try:
        return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    except SyntaxError:  # a magic command
        return []


def _is_left_out(output: Node) -> bool:
    """Whether an output is a check's, or the line that a training rewrites."""
    forms = (output.get("jupyter_data") or {}).get("data", {})
    html, text = ((forms.get(it) or {}).get("content", "") for it in ("text/html", "text/plain"))
    return (
        _CHECK.search(str(html)) is not None or _PROGRESS.fullmatch(str(text).strip()) is not None
    )


def _listing_entry(output: Node) -> dict[str, Any] | None:
    forms = (output.get("jupyter_data") or {}).get("data", {})
    html, text = forms.get("text/html"), forms.get("text/plain")
    if not (isinstance(html, dict) and isinstance(text, dict)):
        return None
    listed = 'class="highlight"' in str(html.get("content", "")) and "content" in text
    return text if listed else None


def _listing(output: Node, lines: Any, location: str) -> Node:
    """Leave the docstrings out of a listing, and all but the lines that are shown."""
    entry = _listing_entry(output)
    if entry is None:
        return output
    data, text = output["jupyter_data"], entry["content"]
    head, _, body = text.partition("\n") if text.startswith("# ") else ("", "", text)
    body = without_docstrings(body)
    if lines is not None:
        body = chosen(body, lines, location)
    short = entry | {"content": f"{head}\n{body}" if head else body}
    return output | {"jupyter_data": data | {"data": data["data"] | {"text/plain": short}}}


def widest(texts: Sequence[str]) -> int:
    """Return the number of columns of the widest line."""
    return max((len(line) for text in texts for line in text.split("\n")), default=0)
