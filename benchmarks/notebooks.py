"""Time and memory of the chapters and labs: `python -m benchmarks.notebooks [02] [--runs 3]`.

Each notebook is executed in a kernel of its own, on one core and one thread; the kernel
reports its own peak memory. With `--device cuda` each is executed on that device as well, with the
same core. The rows go to `benchmarks/notebooks.md`: all of them, or those of the number given.
"""

import argparse
import os
import statistics
from pathlib import Path

from benchmarks import tables
from coursekit import course
from coursekit.book.execute import run
from lmcourse.devices import KINDS

SECONDS, MEGABYTES = 90, 1024  # what a chapter or lab may take on one core of a CPU


def one_core() -> str:
    """Keep this process and its kernels to one core; return how they are held."""
    if not hasattr(os, "sched_setaffinity"):
        return "one thread"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return "one core"


def measure(source: course.Source, device: str, runs: int) -> tuple[list[float], float]:
    """Execute a notebook some times on a device.

    Returns:
        the seconds of each run, and the largest peak memory of a kernel, megabytes.
    """
    os.environ["LMCOURSE_DEVICE"] = device
    done = [run(source) for _ in range(runs)]
    return [each.seconds for each in done], max(each.megabytes for each in done)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", nargs="?", help="only this chapter and its lab")
    parser.add_argument("--runs", type=int, default=3, help="the median of so many runs counts")
    parser.add_argument("--device", choices=[name for name in KINDS if name != "cpu"])
    arguments = parser.parse_args()
    chosen = course.select(arguments.number) if arguments.number else course.sources()
    held = one_core()
    rows, within = {}, True
    for source in chosen:
        cells = [_name(source)]
        for device in ("cpu", arguments.device):
            if device is None:
                continue
            times, memory = measure(source, device, arguments.runs)
            seconds = statistics.median(times)
            within &= device != "cpu" or (seconds <= SECONDS and memory <= MEGABYTES)
            cells += [f"{seconds:.0f} ({min(times):.0f}–{max(times):.0f})", f"{memory:.0f}"]
        rows[cells[0]] = "| " + " | ".join(cells) + " |"
        print(rows[cells[0]], flush=True)
    if arguments.number:
        rows = _kept(len(cells)) | rows
    write(
        [rows[name] for each in course.sources() if (name := _name(each)) in rows],
        arguments.device,
        held,
        arguments.runs,
    )
    return 0 if within else 1


def _name(source: course.Source) -> str:
    return f"{source.kind} {source.number or source.slug}"


def _kept(columns: int) -> dict[str, str]:
    """Return the rows of the last table with that many columns, by notebook."""
    lines = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and line.count("|") == columns + 1]
    return {row.split(" | ")[0].removeprefix("| "): row for row in rows}


def write(rows: list[str], device: str | None, held: str, runs: int) -> None:
    """Write the table to `benchmarks/notebooks.md`."""
    import torch

    also = ""
    header = ["notebook", "seconds", "peak MB"]
    if device is not None:
        name = torch.cuda.get_device_name() if device == "cuda" else device
        also = f" and {name} with the same core; memory is that of the CPU"
        header += [f"seconds, {device}", f"peak MB, {device}"]
    facts = (
        f"PyTorch {torch.__version__}, CPU, {held}{also}; median of {runs} "
        "(smallest and largest), and the kernel's peak memory. A chapter or lab may take "
        f"{SECONDS} s and {MEGABYTES} MB on the CPU."
    )
    tables.write(__file__, "Time and memory of the notebooks", facts, header, rows)


if __name__ == "__main__":
    tables.run(main)
