"""What executed notebooks are kept by: their code, the lock, all that was read, Python, device.

Their text is not executed: it is that of the source as it is now.
"""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit import course
from coursekit.notebooks import files
from coursekit.notebooks.sources import read_notebook, to_bytes
from coursekit.notebooks.workbook import product_name
from lmcourse.devices import device
from lmcourse.hub.releases import RELEASES, installed

if TYPE_CHECKING:
    from nbformat import NotebookNode

LOCK = "requirements.lock"
_SETTINGS = ("LMCOURSE_TEXT", "LMCOURSE_MODEL")  # they change what a chapter shows


@dataclass(frozen=True)
class Executed:
    """An executed source, and what it took."""

    source: course.Source
    notebook: "NotebookNode"
    seconds: float  # wall-clock, of all cells
    megabytes: float  # the kernel's peak resident memory
    read: tuple[str, ...]  # the checkout's files that the kernel read
    cpu: float = (
        0.0  # seconds that the kernel computed, and what it started: no load of others counts
    )


def load(source: course.Source, folder: Path) -> Executed | None:
    """Return what ``folder`` keeps of a source, unless something it depends on has changed."""
    import nbformat

    try:
        kept = json.loads(_record(source, folder).read_text(encoding="utf-8"))
        if kept["key"] != key(source, kept["read"]):
            return None
        data = _notebook(source, folder).read_bytes()
        if hashlib.sha256(data).hexdigest() != kept["notebook"]:
            return None
        notebook = read_notebook(source.path)
        _take_outputs(notebook, nbformat.reads(data.decode("utf-8"), as_version=4))
        took = kept["seconds"], kept["megabytes"]
        return Executed(source, notebook, *took, tuple(kept["read"]), kept["cpu"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or cut short: execute again


def _take_outputs(notebook: "NotebookNode", executed: "NotebookNode") -> None:
    """Give a notebook the outputs of another with the same code."""
    codes = [
        [cell for cell in each.cells if cell.cell_type == "code"] for each in (notebook, executed)
    ]
    for cell, done in zip(*codes, strict=True):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count


def _code(notebook: "NotebookNode") -> str:
    """Return what is executed of a notebook, and the tags that say how."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return json.dumps([[cell.source, sorted(cell.metadata.get("tags", []))] for cell in cells])


def save(executed: Executed, folder: Path) -> None:
    """Keep an executed notebook, unless its source was changed while it ran.

    Raises:
        CourseError: it cannot be written.
    """
    if _code(read_notebook(executed.source.path)) != _code(executed.notebook):
        return
    data = to_bytes(executed.notebook)
    record: dict[str, Any] = {
        "key": key(executed.source, executed.read),
        "seconds": executed.seconds,
        "cpu": executed.cpu,
        "megabytes": executed.megabytes,
        "read": executed.read,
        "notebook": hashlib.sha256(data).hexdigest(),
    }
    files.write(_notebook(executed.source, folder), data)
    files.write(_record(executed.source, folder), json.dumps(record, indent=1).encode())


def key(source: course.Source, read: Sequence[str]) -> str:
    """Digest everything that a source's outputs depend on.

    Args:
        read: paths in the checkout that the kernel read besides the lock.

    Raises:
        CourseError: the source is no notebook.
    """
    root = course.root()
    parts = [sys.version, platform.system(), platform.machine(), device().type]
    parts += [os.environ.get(name, "") for name in _SETTINGS]
    parts += [name for name in RELEASES if installed(name)]
    parts.append(_code(read_notebook(source.path)))
    for path in [LOCK, *read]:
        try:
            parts.append(hashlib.sha256((root / path).read_bytes()).hexdigest())
        except OSError:
            parts.append(f"{path} is not there")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _notebook(source: course.Source, folder: Path) -> Path:
    return folder / product_name(source)


def _record(source: course.Source, folder: Path) -> Path:
    return (folder / product_name(source)).with_suffix(".json")
