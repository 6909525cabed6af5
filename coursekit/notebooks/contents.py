"""What a student sees of a file, as a digest: equal digests mean that nothing was edited."""

import hashlib
import json
from pathlib import Path
from typing import Any

# A cell's own marks in JupyterLab (collapsed, scrolled, outputs, counts, ids) are not its content.


def of_file(path: Path) -> str | None:
    """Return the digest of a file's content, or None if it cannot be read (truncated, a folder)."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return of_bytes(data, path.suffix)


def of_bytes(data: bytes, suffix: str) -> str | None:
    """Return the digest of a notebook's cells (suffix ``.ipynb``) or of any other file's bytes.

    Running a notebook does not change its digest: outputs, counts and ids do not enter, nor do the
    empty cells that JupyterLab appends when the last cell is run. None means no notebook at all.
    """
    if suffix != ".ipynb":
        return hashlib.sha256(data).hexdigest()
    try:
        cells = [_cell(cell) for cell in json.loads(data)["cells"]]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    while cells and not cells[-1]["source"].strip():
        cells.pop()
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Return what counts of a cell; a source is one string or a list of lines."""
    return {
        "type": cell["cell_type"],
        "source": "".join(cell["source"]),
        "tags": cell["metadata"].get("tags", []),
        "attachments": cell.get("attachments") or {},
    }
