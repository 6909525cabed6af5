"""Time and memory of the chapters and labs: `python -m benchmarks.notebooks [02] [--runs 3]`.

Each notebook is executed in a kernel of its own, on one core and one thread; the kernel
says its own peak memory. With all notebooks the table goes to `benchmarks/notebooks.md`.
"""

import argparse
import os
import statistics

from benchmarks import tables
from coursekit import course
from coursekit.book.execute import run

SECONDS, MEGABYTES = 90, 1024  # what a chapter or lab may take on one core of a CPU


def one_core() -> str:
    """Keep this process and its kernels to one core and one thread; say which core."""
    os.environ["LMCOURSE_DEVICE"] = "cpu"
    if not hasattr(os, "sched_setaffinity"):
        return "one thread"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return "one core"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", nargs="?", help="only this chapter and its lab")
    parser.add_argument("--runs", type=int, default=3, help="the median of so many runs counts")
    arguments = parser.parse_args()
    chosen = course.select(arguments.number) if arguments.number else course.sources()
    held = one_core()
    rows, within = [], True
    for source in chosen:
        runs = [run(source) for _ in range(arguments.runs)]
        seconds = statistics.median(each.seconds for each in runs)
        memory = max(each.megabytes for each in runs)
        within &= seconds <= SECONDS and memory <= MEGABYTES
        times = [each.seconds for each in runs]
        name = source.number or source.slug
        spread = f"{min(times):.0f}–{max(times):.0f}"
        rows.append(f"| {source.kind} {name} | {seconds:.0f} ({spread}) | {memory:.0f} |")
        print(rows[-1], flush=True)
    if not arguments.number:
        import torch

        facts = (
            f"PyTorch {torch.__version__}, CPU, {held}; the median of {arguments.runs} runs "
            "(smallest and largest), and the kernel's peak memory. A chapter or lab may take "
            f"{SECONDS} s and {MEGABYTES} MB."
        )
        header = ("notebook", "seconds", "peak MB")
        tables.write(__file__, "Time and memory of the notebooks", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
