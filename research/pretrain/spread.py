"""Trained again from other seeds: how far a checkpoint may be from the next one of its recipe."""

from collections.abc import Sequence
from math import inf, sqrt
from statistics import mean, stdev

import msgspec

from lmcourse import table_forms
from research.pretrain.records import Again, Record

GAP, BEST = "gap", "the best head"
LEVEL = 0.95
ENOUGH = 3  # seeds, to say where a further one is expected
_TABLE = """Trained again from other seeds (`--again`); where another seed is expected is Student's
prediction interval, as far as the score can be so low or high:"""


def summary(record: Record) -> dict[str, float]:
    """A model's scores by name, without their errors: its gap, if it has one, and all others."""
    table, found = record.scores.table, {}
    own = None if table is None else table.own(record.name)
    if own is not None and own.gap.value is not None:
        found[GAP] = own.gap.value
    others = [*record.scores.others.items()]
    others += [(f"{BEST} {link}", one.score) for link, one in record.scores.heads.items()]
    return found | {name: score.value for name, score in others if score.value is not None}


def same(one: Record, other: Record) -> bool:
    """Whether both are of one recipe, and of one BookWorld."""
    return (one.name, one.recipe, one.world) == (other.name, other.recipe, other.world)


def noted(record: Record, *others: Record | Again) -> Record:
    """The record with what other seeds have given; the last word of a seed counts."""
    found = {one.seed: one for one in record.again}
    for other in others:
        found[other.seed] = other if isinstance(other, Again) else _again(other)
    found.pop(record.seed, None)
    return msgspec.structs.replace(record, again=[found[seed] for seed in sorted(found)])


def _again(record: Record) -> Again:
    return Again(record.seed, record.machine.device, record.wall_seconds, summary(record))


def expected(values: Sequence[float]) -> tuple[float, float]:
    """Where a further seed's score is expected: Student's 95 % prediction interval.

    Args:
        values: a score, one a seed; two or more.
    """
    from scipy.stats import t

    n, middle = len(values), mean(values)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 1)) * stdev(values) * sqrt(1 + 1 / n)
    return middle - reach, middle + reach


def limits(name: str) -> tuple[float, float]:
    """What a score can be at all, by its name in a `summary`.

    Nats and bits are at least 0. All others are shares; a selectivity is a difference of two.
    """
    if name == GAP or {"nats", "bits"} & set(name.split()):
        return 0.0, inf
    return (-1.0 if "selectivity" in name else 0.0), 1.0


def section(record: Record) -> str:
    """Each score over all seeds, and how long each took, in Markdown; nothing if there is one.

    What is the same from all seeds, as the score of chance, has no row: it is listed below.
    """
    if not record.again:
        return ""
    seeds = [record.seed, *(one.seed for one in record.again)]
    head = ["score", *(f"seed {it}" for it in seeds), "mean", "standard deviation"]
    head.append(f"{LEVEL:.0%} expected")
    rows, constant = [], []
    for name, found in _by_seed(record).items():
        values = list(found.values())
        if len(set(values)) == 1:
            constant.append(f"{name} {_number(values[0])}")
            continue
        cells = [_number(found[it]) if it in found else "" for it in seeds]
        cells += [_number(mean(values)), _number(stdev(values))]
        cells += [_range(name, values) if len(values) >= ENOUGH else ""]
        rows.append([name, *cells])
    parts = []
    if rows:
        parts += [_TABLE, table_forms.markdown(head, rows)]
    if constant:
        all_seeds = f"{', '.join(map(str, seeds[:-1]))} and {seeds[-1]}"
        parts.append(f"The same from seeds {all_seeds}: {'; '.join(constant)}.")
    return "\n\n".join([*parts, _minutes(record)])


def gap_over_seeds(record: Record) -> str:
    """The gap's mean and standard deviation over all seeds, as "0.120 ± 0.004 (3)", or nothing."""
    values = [*_by_seed(record).get(GAP, {}).values()]
    return f"{mean(values):.3f} ± {stdev(values):.3f} ({len(values)})" if values[1:] else ""


def _minutes(record: Record) -> str:
    """How long each seed took, and where: trainings on a GPU next to those on a CPU."""
    runs = [(record.machine.device, record.wall_seconds, record.seed)]
    runs += [(one.device, one.wall_seconds, one.seed) for one in record.again]
    each = [
        f"{seconds / 60:.1f} (seed {seed}, {'CPU' if device == 'cpu' else device})"
        for device, seconds, seed in runs
    ]
    return f"Minutes of training: {', '.join(each)}."


def compared(found: Record, shipped: Record) -> list[str]:
    """One run beside the shipped model and those of other seeds, in words: score by score.

    Args:
        found: the run.
        shipped: the model's record, which may contain this run.
    """
    if found.digest == shipped.digest:
        return ["Its weights are those of the shipped model, bit by bit."]
    lines = []
    for name, value in summary(found).items():
        seeds = _by_seed(shipped).get(name, {})
        others = [seeds[it] for it in seeds if it == shipped.seed or it != found.seed]
        line = f"{name}: {_number(value)}; others: {', '.join(map(_number, others)) or 'none'}"
        if len(others) >= ENOUGH:
            low, high = expected(others)
            where = "it is" if low <= value <= high else "it is not"
            line += f"; {LEVEL:.0%} are expected within {_range(name, others)}: {where}"
        lines.append(f"{line}.")
    return lines


def _range(name: str, values: Sequence[float]) -> str:
    (low, high), (least, most) = expected(values), limits(name)
    return f"{_number(max(low, least))} to {_number(min(high, most))}"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _by_seed(record: Record) -> dict[str, dict[int, float]]:
    """Each score of a model, by seed, the shipped one first."""
    found = {name: {record.seed: value} for name, value in summary(record).items()}
    for one in record.again:
        for name in found:
            if name in one.scores:
                found[name][one.seed] = one.scores[name]
    return found
