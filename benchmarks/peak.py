"""What a process takes up at most, by length: measured in a process that does nothing else."""

import subprocess
import sys
from collections.abc import Sequence

from lmcourse import table_forms

LENGTHS = (128, 256, 512, 1024, 2048)

_AROUND = """
import re, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
length, way, gradient = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
{code}
once(16)
before = peak()
once(length)
print(peak() - before)
"""


def peak(code: str, length: int, way: str, gradient: bool) -> float:
    """What a process takes up besides, at most, to do something once, MB (Linux says it).

    Args:
        code: Python that defines ``once(length)``; it may read ``way`` and ``gradient``.
    """
    arguments = [str(length), way, str(int(gradient))]
    command = [sys.executable, "-c", _AROUND.format(code=code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    return float(done.stdout)


def table(what: str, code: str, ways: Sequence[str]) -> list[str]:
    """A table of its own: each way without and with gradients, by length."""
    titles = [*ways, *(f"{way}, with gradients" for way in ways)]
    facts = "the process's peak over what it took before."
    rows = []
    for length in LENGTHS:
        figures = [peak(code, length, way, gradient) for gradient in (False, True) for way in ways]
        rows.append([str(length), *(f"{figure:.0f} MB" for figure in figures)])
        print(table_forms.markdown_line(rows[-1]), flush=True)
    return ["", f"{what}: {facts}", "", table_forms.markdown(["tokens", *titles], rows)]
