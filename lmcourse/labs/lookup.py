"""The student's function, found by its name where the check is called."""

import ast
import re
import sys
from typing import Any

from lmcourse.labs.verdict import Unwritten, Wrong


def find(name: str, names: dict[str, object]) -> object:
    """The function ``name`` among the caller's ``names``.

    Raises:
        Unwritten: there is none: its cell was not run yet, or not since the kernel's restart.
        Wrong: the cell that should define it has a syntax error, so Python kept an older one.
    """
    error = _syntax_error(name)
    if error is not None:
        line = (error.text or "").strip()
        raise Wrong(
            f"The cell with `def {name}` has a syntax error ({error.msg})"
            + (f" in this line: `{line}`" if line else "")
            + "\nSo Python did not run the cell. Correct it, run it, then run this cell.",
            "syntax",
        )
    if name not in names:
        raise Unwritten(
            f"There is no `{name}` in this notebook yet. Run the cell that defines it, then this "
            "one: after a restart of the kernel, too."
        )
    return names[name]


def _syntax_error(name: str) -> SyntaxError | None:
    """The syntax error of the last cell that says ``def name``; None elsewhere than in IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    cells = shell.history_manager.input_hist_raw
    said = re.compile(rf"^\s*def\s+{name}\b", re.MULTILINE)
    cell = next((each for each in reversed(cells) if said.search(each)), "")
    try:
        compile(shell.transform_cell(cell), "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return error
    return None
