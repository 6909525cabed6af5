"""The runs that are missing, each in a process of its own, so many at a time."""

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path

from lmcourse.errors import CourseError
from research.claims.claim import Claim, Plan, Run, Variant

ERROR = "error.txt"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """A run, and all that its claims measure of it."""

    run: Run
    measures: frozenset[str]


def jobs_of(
    claims: Iterable[Claim],
    seeds: int | None = None,
    best: Callable[[Variant], Plan] = lambda variant: variant.plans[0],
) -> list[Job]:
    """All runs of some claims, each once, what others start from before these.

    Args:
        seeds: how many; None: as many as each claim has.
        best: what of a grid all seeds but the first train.
    """
    found: dict[str, tuple[Run, set[str]]] = {}

    def add(run: Run, wanted: frozenset[str]) -> None:
        if run.source is not None:
            add(run.source, frozenset())
        found.setdefault(run.digest(""), (run, set()))[1].update(wanted)

    for claim in claims:
        for seed in range(claim.seeds if seeds is None else seeds):
            for variant in claim.variants:
                for plan in variant.trained(seed, best(variant)):
                    add(Run(plan, seed), variant.measures)
    return [Job(run, frozenset(measures)) for run, measures in found.values()]


def missing(jobs: Sequence[Job], folder: Path, world: str, anew: bool = False) -> list[Job]:
    """The jobs that were not done, or not all of them, and what these start from.

    Args:
        jobs: what others start from before these, as `jobs_of` gives them.
        anew: whether what the course's findings record is to be done here, too.
    """
    from research.claims.runs import is_here, result_of

    left, needed = [], set()
    for job in reversed(jobs):
        found = result_of(job.run, folder, world)
        done = found is not None and not found.lacks(job.measures)
        if done and not (anew or job.run.digest("") in needed):
            continue
        if done and is_here(job.run, folder, world):
            continue
        left.append(job)
        if job.run.source is not None:
            needed.add(job.run.source.digest(""))
    return left[::-1]


def do(
    jobs: Sequence[Job], folder: Path, world: str, at_once: int, say: Say, anew: bool = False
) -> None:
    """Do the jobs that are missing. What is done is kept, whatever happens then.

    Args:
        at_once: how many processes there are, each with one thread.
        say: called with each line of progress.
        anew: see `missing`.

    Raises:
        CourseError: a run failed; the others that had begun were finished.
        KeyboardInterrupt: the processes were ended; the same call goes on from there.
    """
    left = missing(jobs, folder, world, anew)
    total, done, start = len(left), 0, time.monotonic()
    running: dict[BaseProcess, Job] = {}
    failed: list[Job] = []
    try:
        while running or (left and not failed):
            for job in _ready(left, [*left, *running.values()]):
                if len(running) == at_once or failed:
                    break
                left.remove(job)
                running[_begun(job, folder, world)] = job
                say(f"{_name(job)} begins.")
            for process in _ended(running):
                job = running.pop(process)
                if process.exitcode:
                    failed.append(job)
                    continue
                done += 1
                minutes = (time.monotonic() - start) / 60
                rest = minutes / done * (total - done)
                say(f"{_name(job)} is done: {done} of {total}, some {rest:.0f} minutes left.")
    finally:
        for process in running:
            process.terminate()
            process.join()
    if failed:
        raise CourseError(*_failure(failed[0], folder, world))


def _ready(left: list[Job], unfinished: list[Job]) -> list[Job]:
    """Those whose source is done."""
    names = [job.run.config for job in unfinished]
    return [job for job in left if job.run.source is None or job.run.source.config not in names]


def _ended(running: dict[BaseProcess, Job]) -> list[BaseProcess]:
    """Wait for one or more processes to end."""
    connection.wait([process.sentinel for process in running])
    ended = [process for process in running if not process.is_alive()]
    for process in ended:
        process.join()
    return ended


def _begun(job: Job, folder: Path, world: str) -> BaseProcess:
    process = get_context("spawn").Process(target=work, args=(job, folder, world), daemon=True)
    with _one_thread():
        process.start()
    return process


@contextmanager
def _one_thread() -> Iterator[None]:
    """What is started here computes with one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def work(job: Job, folder: Path, world: str) -> None:
    """What a process does: the job, and no more if who began it is gone."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    import torch

    from lmcourse.corpus.bookworld import BookWorld
    from research.claims.runs import perform

    torch.set_num_threads(1)
    own = folder / job.run.digest(world)
    own.mkdir(parents=True, exist_ok=True)
    (own / ERROR).unlink(missing_ok=True)
    try:
        perform(job.run, job.measures, folder, BookWorld())
    except KeyboardInterrupt:
        os._exit(1)
    except Exception:
        (own / ERROR).write_text(traceback.format_exc(), encoding="utf-8")
        os._exit(1)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _name(job: Job) -> str:
    return f"{job.run.plan.recipe.name}, seed {job.run.seed},"


def _failure(job: Job, folder: Path, world: str) -> tuple[str, str]:
    path = folder / job.run.digest(world) / ERROR
    last = "its process was ended"
    if path.is_file():
        last = path.read_text(encoding="utf-8").strip().splitlines()[-1]
    return (
        f"{_name(job)} failed: {last}.",
        f"See {path}. What is done is kept; the same command goes on.",
    )
