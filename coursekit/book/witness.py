"""Imported in a kernel before its first cell: what the notebook reads, and what it takes.

At the end of the process it writes, as JSON, to the file that ``LMCOURSE_WITNESS`` names: the
checkout's files that were opened or imported, the peak resident memory in megabytes, and the CPU
time since the import in seconds.
"""

import atexit
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from coursekit import course

_read: set[str] = set()
# A module counts, not its cache; and how the course was installed does not.
_NOT_READ = re.compile(r"__pycache__|lmcourse-[^/\\]*\.dist-info")
_root = str(course.root()) + os.sep


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])  # noqa: PTH100 - runs at each open: keep it cheap
        if path.startswith(_root):
            _read.add(path)


def files_read() -> list[str]:
    """Return the checkout's files that count: opened, or imported (perhaps from a cache)."""
    modules = {str(getattr(module, "__file__", "")) for module in list(sys.modules.values())}
    return sorted(
        Path(path).relative_to(_root).as_posix()
        for path in _read | {path for path in modules if path.startswith(_root)}
        if not _NOT_READ.search(path) and Path(path).is_file()
    )


def peak_megabytes() -> float:
    """Return this process's peak resident memory.

    Not from ``getrusage`` on Linux: there a child starts with its parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (it for it in status.read_text().splitlines() if it.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        import psutil  # type: ignore[import-untyped]

        return float(psutil.Process().memory_info().peak_wset) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def cpu_seconds() -> float:
    """Return the time that this process and those it has started and ended have computed."""
    times = os.times()  # of children in hundredths of a second
    return time.process_time() + times.children_user + times.children_system


_begin = cpu_seconds()


def _write() -> None:
    cpu = cpu_seconds() - _begin
    seen = {"read": files_read(), "megabytes": peak_megabytes(), "cpu": cpu}
    Path(os.environ["LMCOURSE_WITNESS"]).write_text(json.dumps(seen), encoding="utf-8")


sys.addaudithook(_hook)
atexit.register(_write)
