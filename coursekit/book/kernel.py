"""What the kernel of a source starts with, and what it reports when it has ended.

The book and the tests both execute the sources; each may use what the other has executed, because
their kernels see the same.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.book.cache import Executed
from coursekit.testing import environment

if TYPE_CHECKING:
    from nbformat import NotebookNode

ARGUMENTS = ["--IPKernelApp.exec_lines=import coursekit.book.witness"]
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_WITNESS = "witness.json"


def variables(folder: Path) -> dict[str, str]:
    """Return a kernel's environment: the tests' settings, and nothing of the person's own.

    Args:
        folder: an empty folder that lives as long as the kernel.
    """
    import lmcourse

    own = environment()
    own.pop("MPLBACKEND", None)  # ipykernel takes matplotlib's inline one where nobody has chosen
    # This very package, also when another checkout of it is the installed one.
    paths = [str(Path(lmcourse.__file__).parent.parent), own.get("PYTHONPATH", "")]
    own["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    # Start-up files are personal; the history is one SQLite file, and kernels run in parallel.
    own["IPYTHONDIR"] = str(folder / "ipython")
    return own | {"LMCOURSE_WITNESS": str(folder / _WITNESS)}


def result(
    source: course.Source, notebook: "NotebookNode", seconds: float, folder: Path
) -> Executed:
    """Return an executed source, once its kernel has ended of itself.

    Args:
        notebook: with its outputs; what only a living kernel can show is dropped from them, where
            the output has another form.
        seconds: that its cells took, by the clock on the wall.
        folder: the one that `variables` was given.

    Raises:
        FileNotFoundError: the kernel was killed, and could report nothing.
    """
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data.pop(WIDGET_VIEW, None)
    seen = json.loads((folder / _WITNESS).read_text(encoding="utf-8"))
    read = tuple(seen["read"])
    return Executed(source, notebook, seconds, seen["megabytes"], read, seen["cpu"])
