"""How the benchmarks measure and write: the best of some runs, in a table that names a machine."""

import datetime
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmcourse import table_forms
from lmcourse.errors import CourseError


def best(runs: int, work: Callable[[], object]) -> float:
    """The shortest of several runs, seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def over_seeds(values: Sequence[float]) -> str:
    """A cell: the mean of some seeds, with the smallest and the largest."""
    return f"{statistics.fmean(values):.2f} ({min(values):.2f}–{max(values):.2f})"


@dataclass(frozen=True)
class Ratio:
    """One way's time over another's, of the same turn: its median, and the middle half of it.

    What else runs on the machine slows both alike within a turn, and so leaves their ratio; where
    they differ by less than the turns do, the two are equally fast as far as can be seen.
    """

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"

    def within(self, wanted: float) -> bool:
        """Whether the median is at most what is wanted, or not to be told from it."""
        return self.low <= wanted


class Turns:
    """Several ways to do the same, timed turn by turn.

    Args:
        works: the ways, by name; each is run once before it is timed.
        runs: how many turns, at least.
        seconds: how long, at least: a short run is repeated oftener.
        device: where they compute. On a CPU the process's own time counts: what else runs on the
            machine takes turns with us there.
    """

    def __init__(
        self, works: Mapping[str, Callable[[], object]], runs: int, seconds: float, device: str
    ) -> None:
        import torch

        clock = time.process_time if device == "cpu" else time.perf_counter
        self.times: dict[str, list[float]] = {name: [] for name in works}
        for work in works.values():
            work()
        began = time.perf_counter()
        while len(next(iter(self.times.values()))) < runs or time.perf_counter() - began < seconds:
            order = list(works)
            if len(self.times[order[0]]) % 2:
                order.reverse()  # so that none always comes first
            for name in order:
                if device != "cpu":
                    torch.cuda.synchronize()
                start = clock()
                works[name]()
                if device != "cpu":
                    torch.cuda.synchronize()
                self.times[name].append(1000 * (clock() - start))

    def best(self, name: str) -> float:
        """The shortest run, milliseconds."""
        return min(self.times[name])

    def ratio(self, name: str, to: str) -> Ratio:
        """One way's time over another's."""
        pairs = zip(self.times[name], self.times[to], strict=True)
        low, median, high = statistics.quantiles([own / other for own, other in pairs], n=4)
        return Ratio(low, median, high)


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
        head(header),
        *rows,
    ]
    Path(script).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def head(columns: Sequence[str]) -> str:
    """The first two lines of a Markdown table, whose columns all begin at the left."""
    return table_forms.markdown(columns, [], words=range(len(columns)))


def run(main: Callable[[], int]) -> None:
    """Run a benchmark as a command: what the reader can mend is a message and no traceback."""
    try:
        sys.exit(main())
    except CourseError as error:
        sys.exit(str(error))
