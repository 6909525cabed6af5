"""From runs to findings, and to what the course keeps of them: ``data/claims``.

Each claim's finding is ``NAME.json``, with every score, configuration and version. The page
``README.md`` is made of these files alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.findings import kept
from lmcourse.findings.finding import Claimed, Finding, Limit, Part
from research.claims.claim import TUNING, Claim, Column, Plan, Run, Variant
from research.claims.runs import Result, result_of

PAGE = "README.md"
Done = dict[int, Result]
"""The result of each seed that is done."""


def found_of(claim: Claim, seeds: Sequence[int], folder: Path, world: str) -> Finding:
    """What the runs of a claim say.

    Raises:
        CourseError: no seed has all of its runs.
    """
    done = [_done(variant, seeds, folder, world) for variant in claim.variants]
    common = sorted(set.intersection(*(set(one) for one in done))) if done else []
    if not common:
        raise CourseError(
            f"No seed of {claim.name} has all of its runs.",
            f"Do them: lmcourse claims {claim.name}",
        )
    parts = [
        Part(
            variant.name,
            variant.about,
            {
                column: [its[seed].scores[key] for seed in common]
                for column, key in variant.reads.items()
            },
            grid(variant, folder, world),
        )
        for variant, its in zip(claim.variants, done, strict=True)
    ]
    results = [its[seed] for its in done for seed in common]
    return Finding(
        **{name: getattr(claim, name) for name in ("name", "says", "key", "where", "chapter")},
        note=claim.note,
        seeds=common,
        parts=parts,
        columns={name: _limit(column, results) for name, column in claim.columns.items()},
        contrasts=[Claimed(**vars(contrast)) for contrast in claim.contrasts],
        world=world,
        runs=_runs(claim, common, folder, world),
    )


def _done(variant: Variant, seeds: Sequence[int], folder: Path, world: str) -> Done:
    """The seeds whose best plan is there and measured; none, while that is not known."""
    if len(variant.plans) > 1 and not grid(variant, folder, world):
        return {}
    plan, found = best(variant, folder, world), {}
    for seed in seeds:
        result = result_of(Run(plan, seed), folder, world)
        if result is not None and not result.lacks(variant.measures):
            found[seed] = result
    return found


def grid(variant: Variant, folder: Path, world: str) -> dict[str, float]:
    """What the first seed scored with each setting of a grid; nothing while one is missing."""
    if variant.select is None:
        return {}
    each = [result_of(Run(plan, TUNING), folder, world) for plan in variant.plans]
    there = [one for one in each if one is not None and not one.lacks(variant.measures)]
    if len(there) < len(each):
        return {}
    scores = [one.scores[variant.select] for one in there]
    return dict(zip(variant.settings, scores, strict=True))


def best(variant: Variant, folder: Path, world: str) -> Plan:
    """What the first seed found best of a grid; the first plan, while it has not all of it."""
    scores = list(grid(variant, folder, world).values())
    return variant.plans[scores.index(max(scores)) if scores else 0]


def _limit(column: Column, results: Sequence[Result]) -> Limit:
    limit = column.limit
    if isinstance(limit, str):
        # One claim may read it from several measures: "static sense/exact" is "sense/exact", too.
        ends = [it.scores[limit] for it in results if limit in it.scores]
        limit = ends[0] if ends else None
    return Limit(column.about, column.better, column.digits, limit)


def _runs(claim: Claim, seeds: Sequence[int], folder: Path, world: str) -> dict[str, Any]:
    """All runs that a finding rests on, those that others start from among them."""
    found: dict[str, Any] = {}
    waiting = [
        Run(plan, seed)
        for variant in claim.variants
        for seed in seeds
        for plan in variant.trained(seed, best(variant, folder, world))
    ]
    while waiting:
        run = waiting.pop(0)
        result = result_of(run, folder, world)
        if result is None or run.digest(world) in found:
            continue
        if run.source is not None:
            waiting.append(run.source)
        source = None if run.source is None else run.source.digest(world)
        content = msgspec.to_builtins(result)
        config = content.pop("config") | {"source": source}
        found[run.digest(world)] = {"name": run.plan.recipe.name, **config, **content}
    return found


def write(found: Finding, folder: Path | None = None) -> Path:
    """Write a finding, replacing an earlier one.

    Raises:
        CourseError: it cannot be written, or would be read back as another one.
    """
    path = (folder or kept.shelf()) / f"{found.name}.json"
    content = msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    if msgspec.json.decode(content, type=Finding) != found:
        raise CourseError(
            f"The finding {found.name} is not the same once it is read back.",
            "Give it finite numbers, text, lists and dictionaries alone.",
        )
    _replace(path, content)
    return path


def _replace(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise files.trouble(error, path, "Give another folder.") from error


def write_page(folder: Path | None = None) -> Path:
    """Make the page of all findings in the folder."""
    from research.claims.page import page

    folder = folder or kept.shelf()
    found = [kept.finding(path.stem, folder) for path in sorted(folder.glob("*.json"))]
    _replace(folder / PAGE, page(found).encode())
    return folder / PAGE
