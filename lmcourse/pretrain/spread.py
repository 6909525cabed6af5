"""Trained again from other seeds: how far a checkpoint may be from the next one of its recipe."""

from collections.abc import Iterable
from pathlib import Path
from statistics import mean, stdev

import msgspec

from lmcourse.errors import CourseError
from lmcourse.pretrain.records import Again, Record

GAP, BEST = "gap", "the best head"


def summary(record: Record) -> dict[str, float]:
    """A model's scores by name, without their errors: its gap, if it has one, and all others."""
    table, found = record.scores.table, {}
    own = None if table is None else table.row().models.get(record.name)
    if own is not None and own.gap.value is not None:
        found[GAP] = own.gap.value
    others = [*record.scores.others.items()]
    others += [(f"{BEST} {link}", one.score) for link, one in record.scores.heads.items()]
    return found | {name: score.value for name, score in others if score.value is not None}


def with_others(record: Record, known: Iterable[Again], runs: Path) -> Record:
    """The record with what other seeds have given.

    Args:
        known: what an earlier record of the same recipe had.
        runs: the folder with the folders of runs; of those that are whole and of the same recipe
            and world, each is taken up.
    """
    found = {one.seed: one for one in known}
    for path in sorted(runs.glob(f"{record.name}-*/record.json")):
        try:
            other = Record.read(path)
        except CourseError:  # of an older version, perhaps
            continue
        if (other.name, other.recipe, other.world) == (record.name, record.recipe, record.world):
            found[other.seed] = Again(
                seed=other.seed,
                device=other.machine.device,
                wall_seconds=other.wall_seconds,
                scores=summary(other),
            )
    found.pop(record.seed, None)
    return msgspec.structs.replace(record, again=[found[seed] for seed in sorted(found)])


def told(record: Record) -> list[str]:
    """Each score over all seeds, in words; nothing if there is one seed."""
    lines = []
    for name, value in summary(record).items():
        seeds = {one.seed: one.scores[name] for one in record.again if name in one.scores}
        if not seeds:
            continue
        values = [value, *seeds.values()]
        each = ", ".join(f"{it:.3f}" for it in values)
        lines.append(
            f"Trained from {len(values)} seeds ({', '.join(map(str, [record.seed, *seeds]))}), "
            f"{name}: {each}; mean {mean(values):.3f}, standard deviation {stdev(values):.3f}."
        )
    return lines
