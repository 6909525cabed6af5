"""What `lmcourse scaling` does: train what is missing, and write the record and its page."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import msgspec

from lmcourse import checkout
from lmcourse.files import require_writable
from research import recorded
from research.scaling import training
from research.scaling.grid import Cell, Record, Result, cells, missing
from research.scaling.page import page


def shelf() -> Path:
    """Where results are: ``data/scaling``."""
    return checkout.root() / "data" / "scaling"


def done(at_once: int, say: Callable[[str], None], folder: Path | None = None) -> Record:
    """Do the runs that are missing; each is recorded as soon as it is done.

    Args:
        at_once: the number of processes, each with one thread.
        say: called with each line of progress.
        folder: where results are written; None: ``data/scaling``.

    Raises:
        CourseError: results cannot be read or written.
    """
    folder = folder or shelf()
    require_writable(folder / recorded.RESULTS, recorded.ELSEWHERE)
    record = training.empty_record()
    before = recorded.read(folder / recorded.RESULTS, Record)
    if before is not None and before.world == record.world:
        record = before
    waiting, running = cells(), dict[Future[Result], Cell]()
    context = get_context("spawn")
    with ProcessPoolExecutor(at_once, context, initializer=training.begin) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    cell = waiting.pop(0)
                    if (run := missing(cell, record)) is not None:
                        running[pool.submit(training.trained, run)] = cell
                for each in wait(running, return_when=FIRST_COMPLETED).done:
                    result, cell = each.result(), running.pop(each)
                    runs = record.runs | {result.run.digest(record.world): result}
                    record = msgspec.structs.replace(record, runs=runs)
                    _write(record, folder)
                    waiting.insert(0, cell)
                    say(_said(result, record))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    _write(record, folder)
    return record


def overview(folder: Path | None = None) -> str:
    """Return a line: how many cells are done."""
    record = recorded.read((folder or shelf()) / recorded.RESULTS, Record)
    whole = cells()
    complete = [] if record is None else [it for it in whole if missing(it, record) is None]
    return f"{len(complete)} of {len(whole)} sizes and amounts of text are done."


def _said(result: Result, record: Record) -> str:
    complete = sum(missing(it, record) is None for it in cells())
    return (
        f"{result.run.cell.name}, rate {result.rate:g}, seed {result.seed}: gap {result.gap:.3f} "
        f"nats, {result.cpu_seconds:.0f} s of the CPU; {complete} cells are done."
    )


def _write(record: Record, folder: Path) -> None:
    recorded.write({recorded.RESULTS: record, recorded.PAGE: page(record).encode()}, folder)
