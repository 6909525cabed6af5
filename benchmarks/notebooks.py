"""Time and memory of the chapters and labs: `python -m benchmarks.notebooks [02] [--runs 3]`.

Each notebook is executed in a kernel of its own, on one core and one thread; the kernel
reports its own peak memory. With `--device cuda` each is executed on that device as well, with the
same core. With all notebooks the table goes to `benchmarks/notebooks.md`.
"""

import argparse
import os
import statistics

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
    rows, within = [], True
    for source in chosen:
        cells = [f"{source.kind} {source.number or source.slug}"]
        for device in ("cpu", arguments.device):
            if device is None:
                continue
            times, memory = measure(source, device, arguments.runs)
            seconds = statistics.median(times)
            within &= device != "cpu" or (seconds <= SECONDS and memory <= MEGABYTES)
            cells += [f"{seconds:.0f} ({min(times):.0f}–{max(times):.0f})", f"{memory:.0f}"]
        rows.append("| " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    if not arguments.number:
        write(rows, arguments.device, held, arguments.runs)
    return 0 if within else 1


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
