"""What a source says about itself and its cells, and where it says something that cannot be.

A chapter's front matter, the YAML block of a code cell and the JSON of a ``+++`` line are written
by its author. Their faults are named here, with file, line and remedy, before a library fails on
them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

_MAPPINGS = ("jupytext", "kernelspec", "language_info")
_TEXTS = ("title", "question")
_SHOWN = 60  # characters of a value in a message


class Fault(NamedTuple):
    """Something in the metadata that cannot be: the key, what is wrong with it, and the remedy."""

    key: str
    cause: str
    remedy: str


def front_matter(text: str, path: Path) -> tuple[dict[str, Any], str]:
    """Split a source into its front matter (a YAML mapping between ``---`` lines) and the rest.

    Raises:
        CourseError: the front matter is no mapping, or a value has another type than it must.
    """
    import yaml

    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text
    ends = [index for index, line in enumerate(lines) if index and line.strip() == "---"]
    try:
        matter = yaml.safe_load("\n".join(lines[1 : ends[0]])) if ends else None
    except yaml.YAMLError as error:
        raise _bad_front_matter(path) from error
    if not isinstance(matter, dict):
        raise _bad_front_matter(path)
    for fault in _matter_faults(matter):
        raise _error(fault, path, _line_of(fault.key, lines[: ends[0]], 0))
    return matter, "\n".join(lines[ends[0] + 1 :])


def check_cells(notebook: "NotebookNode", text: str, path: Path) -> None:
    """Raise if the metadata of a cell, which jupytext accepts, are none that the course can use.

    Raises:
        CourseError: names the file, the line and the remedy.
    """
    if any(True for cell in notebook.cells for _ in _cell_faults(cell.metadata, "")):
        raise_first(text, path)


def raise_first(text: str, path: Path) -> None:
    """Raise the first fault in the metadata of a source, if there is one.

    Raises:
        CourseError: names the file, the line and the remedy.
    """
    front_matter(text, path)
    lines = text.splitlines()
    for start, end, metadata in _cells(text):
        for fault in _cell_faults(metadata, lines[start]):
            raise _error(fault, path, _line_of(fault.key, lines[:end], start))


def _cells(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield of each cell with metadata its first and last line (from 0, exclusive), and these."""
    from jupytext.myst import get_parser, read_cell_metadata, read_fenced_cell

    for token in get_parser().parse(f"{text}\n"):
        if token.type == "fence" and token.info.startswith("{code-cell}") and token.map:
            yield *token.map, read_fenced_cell(token, 0, "Code")[0]
        elif token.type == "myst_block_break" and token.map:
            yield *token.map, read_cell_metadata(token, 0)


def _matter_faults(matter: Mapping[str, Any]) -> Iterator[Fault]:
    for key in _MAPPINGS:
        if key in matter and not isinstance(matter[key], dict):
            cause = f"`{key}` is {_shown(matter[key])}, which is not a mapping."
            yield Fault(key, cause, "Copy those lines from the front matter of another source.")
    for key in _TEXTS:
        value = matter.get(key, "?")
        if value is None or value == "":
            yield Fault(key, f"`{key}` is empty.", "Write one, or remove the line.")
        elif not isinstance(value, str):
            cause = f"`{key}` is {_shown(value)}, which YAML does not read as text."
            yield Fault(key, cause, f'Put it in quotes: `{key}: "…"`.')
    for key in ("minutes", "deeper"):
        minutes = matter.get(key)
        if minutes is not None and (type(minutes) is not int or minutes < 1):
            cause = f"`{key}` is {_shown(minutes)}, which is not a positive integer."
            yield Fault(key, cause, f"Write the minutes as a number, for example `{key}: 60`.")


def _cell_faults(metadata: Any, line: str) -> Iterator[Fault]:
    """Yield the faults of a cell's metadata; its first line says whether they are YAML or JSON."""
    mark = '"' if line.startswith("+++") else ""
    if not isinstance(metadata, dict):
        cause = f"The options of this cell are {_shown(metadata)}, which is not a mapping."
        yield Fault("", cause, "Write one option a line, for example `tags: [hide-input]`.")
        return
    tags = metadata.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        named = tags if isinstance(tags, str) else "hide-input"
        cause = f"`tags` is {_shown(tags)}, which is not a list of words."
        yield Fault(
            "tags", cause, f"Write them in brackets: `{mark}tags{mark}: [{mark}{named}{mark}]`."
        )
    slides = metadata.get("slideshow", {})
    if not isinstance(slides, dict) or not isinstance(slides.get("slide_type", ""), str):
        cause = f"`slideshow` is {_shown(slides)}, which has no `slide_type` that is a word."
        form = f"{mark}slideshow{mark}: {{{mark}slide_type{mark}: {mark}slide{mark}}}"
        yield Fault("slideshow", cause, f"Write `{form}`.")
    if not isinstance(metadata.get("jupyter", {}), dict):
        cause = f"`jupyter` is {_shown(metadata['jupyter'])}, which is not a mapping."
        yield Fault("jupyter", cause, "Remove the line: the tag hide-input folds a cell.")
    for key, value in metadata.items():
        try:
            json.dumps({key: value})
        except (TypeError, ValueError):
            cause = f"`{key}` has a value that a notebook cannot keep, such as a date."
            yield Fault(str(key), cause, f'Put it in quotes: `{key}: "…"`.')


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _line_of(key: str, lines: list[str], start: int) -> int:
    """Return the number, from 1, of the first line from ``start`` on that has the key."""
    there = re.compile(rf"[\s:{{\"']*{re.escape(key)}[\"']?\s*:") if key else None
    for number, line in enumerate(lines[start:], start=start + 1):
        if there and (there.match(line) or (line.startswith("+++") and f'"{key}"' in line)):
            return number
    return start + 1


def _error(fault: Fault, path: Path, line: int) -> CourseError:
    return CourseError(f"{path.parent.name}/{path.name}, line {line}: {fault.cause}", fault.remedy)


def _bad_front_matter(path: Path) -> CourseError:
    return CourseError(
        f"The front matter of {path} is not YAML between two lines of `---`.",
        "Compare it with another source's first lines and fix it.",
    )
