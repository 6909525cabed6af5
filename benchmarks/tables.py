"""How the benchmarks measure and write: the best of some runs, in a table that names a machine."""

import datetime
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lmcourse.errors import CourseError


def best(runs: int, work: Callable[[], object]) -> float:
    """The shortest of several runs, seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def write(script: str, title: str, facts: str, header: Sequence[str], rows: Sequence[str]) -> None:
    """Write the table that belongs to a script, beside it.

    Args:
        script: the script's path.
        facts: what was measured, how often, and what is wanted; stands after the machine.
        header: the columns' names.
        rows: lines of a Markdown table.
    """
    name = Path(script).stem
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = [
        f"# {title}",
        "",
        f"Made by `python -m benchmarks.{name}` on {datetime.date.today()}: {machine}, {facts}",
        "",
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
        *rows,
    ]
    Path(script).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(main: Callable[[], int]) -> None:
    """Run a benchmark as a command: what the reader can mend is a message and no traceback."""
    try:
        sys.exit(main())
    except CourseError as error:
        sys.exit(str(error))
