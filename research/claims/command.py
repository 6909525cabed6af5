"""What `lmcourse claims` does: list the claims, or do their runs and write what was found."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.files import require_writable
from lmcourse.findings import kept
from lmcourse.findings.finding import Finding, said
from research.claims import results, runs, schedule
from research.claims.claim import Claim
from research.claims.table import CLAIMS, chosen

ELSEWHERE = "Make the checkout writable, or work in a checkout of your own."
COMPILING = "Compiling BookWorld, whose digest every run records ..."
GUESS = 4.0  # minutes of a run, where none of its recipe was done


def tested(
    names: Sequence[str],
    *,
    at_once: int = 1,
    seeds: int | None = None,
    steps: int | None = None,
    anew: bool = False,
    say: Callable[[str], None] = print,
    folder: Path | None = None,
    shelf: Path | None = None,
) -> list[Finding]:
    """Do the runs that are missing, and write what was found of the claims.

    Args:
        names: of the claims.
        at_once: how many runs are done at a time, each in a process with one thread.
        seeds: how many of each; None: as many as a claim has, or as its finding, if it has more.
        steps: so few instead, to try it out: nothing is then written into ``data/claims``.
        anew: whether runs that the course's findings record are done here, too.
        say: called with each line of progress.
        folder: where runs are kept; None: ``_build/claims``.
        shelf: where findings are written; None: ``data/claims``.

    Raises:
        CourseError: there is no such claim; a number is below 1; what is found cannot be written;
            a run failed.
    """
    for what, number in (("jobs", at_once), ("seeds", seeds), ("steps", steps)):
        if number is not None and number < 1:
            raise CourseError(f"{what} is {number}.", "Give 1 or more.")
    claims = [
        _with_all_seeds(claim, shelf) if steps is None else claim.shortened(steps)
        for claim in chosen(names)
    ]
    folder = folder or runs.home()
    require_writable(folder / runs.RESULT, ELSEWHERE)
    if steps is None or shelf is not None:
        require_writable((shelf or kept.shelf()) / results.PAGE, ELSEWHERE)
    say(COMPILING)
    world = BookWorld().digest
    best = partial(results.best, folder=folder, world=world)
    if grids := [claim for claim in claims if claim.tuned]:
        schedule.do(schedule.jobs_of(grids, 1), folder, world, at_once, say, anew)
    schedule.do(schedule.jobs_of(claims, seeds, best), folder, world, at_once, say, anew)
    found = [_found(claim, seeds, folder, world) for claim in claims]
    if steps is None or shelf is not None:
        for one in found:
            results.write(one, shelf)
        results.write_page(shelf)
    return found


def _with_all_seeds(claim: Claim, shelf: Path | None) -> Claim:
    """The claim with as many seeds as its finding has, if these are more: none of them is lost."""
    try:
        found = kept.finding(claim.name, shelf)
    except CourseError:
        return claim
    return replace(claim, seeds=max(claim.seeds, len(found.seeds)))


def _found(claim: Claim, seeds: int | None, folder: Path, world: str) -> Finding:
    wanted = range(claim.seeds if seeds is None else seeds)
    return results.found_of(claim, wanted, folder, world)


def overview(folder: Path | None = None, shelf: Path | None = None) -> Iterator[str]:
    """All claims: how many runs are there, what was found, and how long the rest will take.

    Yields:
        Lines, each as soon as it is known.
    """
    yield COMPILING
    folder, world = folder or runs.home(), BookWorld().digest
    took = taken(folder)
    best = partial(results.best, folder=folder, world=world)
    for claim in CLAIMS.values():
        jobs = schedule.jobs_of([claim], best=best)
        left = schedule.missing(jobs, folder, world)
        progress = f"{len(jobs) - len(left)} of {len(jobs)} runs"
        if left:
            progress += f", some {minutes(left, took):.0f} minutes to go"
        yield f"{claim.name}: {progress}."
        yield from _state(claim.name, shelf)
    left = schedule.missing(schedule.jobs_of(CLAIMS.values(), best=best), folder, world)
    rest = f"{len(left)} runs, some {minutes(left, took):.0f} minutes on one core"
    yield ""
    yield (
        f"All together, runs that claims share counted once: {rest}. `lmcourse claims NAME` "
        "does a claim's; Ctrl-C leaves it, and the same command goes on."
    )


def _state(name: str, shelf: Path | None) -> Iterator[str]:
    """Yield what was found: each thing that is claimed, with its verdict."""
    try:
        found = kept.finding(name, shelf)
    except CourseError:
        yield "    Nothing found yet."
        return
    yield f"    {found.says}. Found with {len(found.seeds)} seeds:"
    for claimed, verdict in zip(found.contrasts, found.verdicts, strict=True):
        yield f"    - {said(claimed, found.columns)}: {verdict}"


def taken(folder: Path) -> dict[str, float]:
    """How many minutes the runs that are there took, on average, by recipe."""
    each: dict[str, list[float]] = {}
    for path in sorted(folder.glob(f"*/{runs.RESULT}")):
        try:
            found = msgspec.json.decode(path.read_bytes(), type=runs.Result)
        except (OSError, msgspec.DecodeError):
            continue  # reported when the run itself is due
        recipe = found.config["recipe"]
        if found.steps == recipe.get("budget", {}).get("steps") and found.steps > runs.FEW:
            each.setdefault(recipe["name"], []).append(found.minutes)
    return {name: math.fsum(times) / len(times) for name, times in each.items()}


def minutes(jobs: Sequence[schedule.Job], took: dict[str, float]) -> float:
    """How long these will take, one after the other; by guess, where nothing is known."""
    usual = sum(took.values()) / len(took) if took else GUESS
    return sum(took.get(job.run.plan.recipe.name, usual) for job in jobs)
