"""What executed notebooks are kept by: their code, the lock, all that was read, Python, device.

Their text is not executed: it is that of the source as it is now. The last few of each source are
kept, so that an edit that is undone, or another branch, executes nothing.
"""

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit import course
from coursekit.notebooks import files
from coursekit.notebooks.sources import read_notebook, to_bytes
from coursekit.notebooks.targets import BIBLIOGRAPHY
from coursekit.notebooks.workbook import product_name
from lmcourse.devices import device
from lmcourse.references import read_references
from lmcourse.releases import RELEASES, installed

if TYPE_CHECKING:
    from nbformat import NotebookNode

LOCK = "requirements.lock"
KEPT = 4  # executions of a source
_CLAIM = re.compile(r"data/claims/.*\.json$")
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
    if records := _records(source, folder):
        notebook = read_notebook(source.path)
        for record in records:
            if found := _load(source, notebook, record):
                os.utime(record)  # used last
                return found
    return None


def _load(source: course.Source, notebook: "NotebookNode", record: Path) -> Executed | None:
    import nbformat

    try:
        kept = json.loads(record.read_text(encoding="utf-8"))
        if kept["key"] != key(notebook, kept["read"]):
            return None
        data = record.with_suffix(".ipynb").read_bytes()
        if hashlib.sha256(data).hexdigest() != kept["notebook"]:
            return None
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
    """Keep an executed notebook, unless its source was changed while it ran; forget the oldest.

    Raises:
        CourseError: it cannot be written.
    """
    if _code(read_notebook(executed.source.path)) != _code(executed.notebook):
        return
    data, digest = to_bytes(executed.notebook), key(executed.notebook, executed.read)
    kept: dict[str, Any] = {
        "key": digest,
        "seconds": executed.seconds,
        "cpu": executed.cpu,
        "megabytes": executed.megabytes,
        "read": executed.read,
        "notebook": hashlib.sha256(data).hexdigest(),
    }
    record = _folder(executed.source, folder) / f"{digest[:12]}.json"
    files.write(record.with_suffix(".ipynb"), data)
    files.write(record, json.dumps(kept, indent=1).encode())
    for old in _records(executed.source, folder)[KEPT:]:
        for path in (old, old.with_suffix(".ipynb")):
            path.unlink(missing_ok=True)


def key(notebook: "NotebookNode", read: Sequence[str]) -> str:
    """Digest everything that a notebook's outputs depend on.

    Args:
        read: paths in the checkout that the kernel read besides the lock.
    """
    root = course.root()
    parts = [sys.version, platform.system(), platform.machine(), device().type]
    parts += [os.environ.get(name, "") for name in _SETTINGS]
    parts += [name for name in RELEASES if installed(name)]
    parts.append(_code(notebook))
    if BIBLIOGRAPHY in read:
        parts += _works(read)
    for path in [LOCK, *(path for path in read if path != BIBLIOGRAPHY)]:
        try:
            status = (root / path).stat()
            parts.append(_digest(root / path, status.st_mtime_ns, status.st_size))
        except OSError:
            parts.append(f"{path} is not there")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _works(read: Sequence[str]) -> list[str]:
    """Return the entries of the papers whose claims were read: a notebook shows no others."""
    root = course.root()
    entries = read_references(root / BIBLIOGRAPHY)
    claims = [json.loads((root / path).read_text("utf-8")) for path in read if _CLAIM.match(path)]
    return [json.dumps(entries.get(claim["key"])) for claim in claims]


@cache
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    """Digest a file that many notebooks read once, as long as its time and size stay."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _folder(source: course.Source, folder: Path) -> Path:
    return (folder / product_name(source)).with_suffix("")


def _records(source: course.Source, folder: Path) -> list[Path]:
    """Return what is kept of a source: the record used last is first."""
    found = [(path.stat().st_mtime_ns, path) for path in _folder(source, folder).glob("*.json")]
    return [path for _, path in sorted(found, reverse=True)]
