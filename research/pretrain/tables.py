"""The page of the models that come with the course, made from their records alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lmcourse import table_forms
from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints
from research.pretrain.records import Head, Measured, Record, Row
from research.pretrain.spread import gap_over_seeds, section

CHANCE = 5.0  # standard errors that a loss may lie below the floor, as a small sample may have it
NONE = "—"

_HEAD = """# The models that come with the course

`hub.load("{name}")` gives one with its tokenizer. Each was trained from nothing by
`lmcourse pretrain NAME`, on reviews of BookWorld (the Transformer: on dates); what decides how it
comes out, and how it came out, is in NAME.json. This page is made from these records alone, by
`make card`."""

_COLUMNS = (
    *("model", "architecture", "parameters", "kB", "minutes", "CPU minutes", "on", "tokens read"),
    *("loss", "floor", "gap", "gap over seeds"),
)
_EXPLAINED = """Loss, floor and gap are in nats a token on the test split. Floor: what the exact
answer loses; of the kind *causal* each token given those before it, of *masked* 15 % of the tokens
given the others. Gap: KL(exact ‖ model). ±: standard error, reviews as units; over seeds, mean ±
standard deviation (how many). Why some models do not copy names or predict ratings:
[names](../../benchmarks/names.md) and [what is left unlearned](../../benchmarks/unlearned.md)."""

_HEADS = """What attention heads look at: the share of links whose right end gets the head's largest
weight on another word. Head and offset (so many words on, or back where negative) are chosen on one
half of the reviews and scored on the other; layers and heads count from 0."""


def shipped_records(folder: Path | None = None) -> list[Record]:
    """The records of all models in the folder, by name.

    Raises:
        CourseError: one is not there, or is of another model than the one beside it.
    """
    folder = folder or checkpoints.home()
    found = []
    for name, one in checkpoints.shipped(folder).items():
        assert folder is not None
        record = Record.read(folder / f"{name}.json")
        if (record.name, record.bytes) != (name, one.model.size):
            raise CourseError(
                f"The record of {name} is not of the model beside it.",
                f"Ship it again: lmcourse pretrain {name} --seed {record.seed}",
            )
        found.append(record)
    return found


def page(records: Sequence[Record]) -> str:
    """The whole page, in Markdown.

    Raises:
        CourseError: a model lies below the floor.
    """
    check_floor(records)
    if not records:
        return f"{_HEAD.format(name='NAME')}\n\nNone is here yet.\n"
    megabytes = sum(record.bytes for record in records) / 1e6
    worlds = " and ".join(sorted({record.world for record in records}))
    parts = [
        _HEAD.format(name=records[0].name),
        table_forms.markdown(_COLUMNS, map(_overview, records), words=(0, 1)),
        _EXPLAINED,
        f"Together they have {megabytes:.1f} MB. BookWorld's digest: {worlds}. {_least(records)}",
        *map(_section, records),
    ]
    return "\n\n".join(parts) + "\n"


def check_floor(records: Sequence[Record]) -> None:
    """See that no model lies below BookWorld's floor, which nothing honest can.

    Raises:
        CourseError: one does: it has seen what it had to predict, or it was measured wrongly.
    """
    for record in records:
        for name, measured in _measured(record).items():
            gap, below = measured.gap.value, measured.difference
            lower = below.value is not None and below.value < -CHANCE * (below.error or 0)
            saw = record.scores.table is not None and name in record.scores.table.saw_targets
            if saw or lower or (gap is not None and gap < 0):
                raise CourseError(
                    f"{name} of {record.name} lies below BookWorld's floor: its loss − floor is "
                    f"{below}, its gap {measured.gap}.",
                    "Nothing honest does. See that it is not shown what it has to predict, and "
                    "that floor and loss are of the same reviews.",
                )


def _measured(record: Record) -> dict[str, Measured]:
    """What of a record has a gap, over all tokens."""
    table = record.scores.table
    return {} if table is None else table.row().models


def _least(records: Sequence[Record]) -> str:
    """That none lies below the floor, with the least that there is."""
    gaps = [
        (one.gap.value, str(one.gap), name)
        for record in records
        for name, one in _measured(record).items()
        if one.gap.value is not None
    ]
    if not gaps:
        return "None of them has a gap."
    _, gap, name = min(gaps)
    return f"None lies below the floor: the least gap is that of {name}, {gap}."


def _overview(record: Record) -> list[str]:
    """A model's row."""
    table = record.scores.table
    own = None if table is None else table.own(record.name)
    numbers = [NONE] * 3
    if own is not None and table is not None:
        numbers = [str(own.loss), f"{table.row().floor} ({table.kind})", str(own.gap)]
    return [
        f"[{record.name}](#{record.name})",
        record.architecture,
        f"{record.parameters:,}",
        f"{record.bytes / 1e3:,.0f}",
        f"{record.wall_seconds / 60:.1f}",
        f"{record.cpu_seconds / 60:.1f}",
        _machine(record),
        f"{record.tokens / 1e6:.1f} M",
        *numbers,
        gap_over_seeds(record) or NONE,
    ]


def _machine(record: Record) -> str:
    threads = record.machine.threads
    if record.machine.device != "cpu":
        return record.machine.device
    return f"CPU, {threads} thread{'s' * (threads != 1)}"


def _section(record: Record) -> str:
    """All that is known of one model."""
    one = record.machine
    steps = f"{record.steps:,} steps"
    if record.best_step != record.steps:
        steps += f", the best being step {record.best_step:,} on held-out examples"
    trained = (
        f"`lmcourse pretrain {record.name} --seed {record.seed}`: {steps}, on {_machine(record)}, "
        f"with Python {one.python}, PyTorch {one.pytorch}, lmcourse {one.lmcourse}."
    )
    share = record.recipe.get("budget", {}).get("repeats")
    if share:
        trained += (
            f" With a warm-up phase for copying: in the first {share:.0%} of the steps, rare "
            "words that a review repeats count more (`research.pretrain.repeats`)."
        )
    curve = ", ".join(f"{loss:.3f} ({step:,})" for step, loss in _some(record.held_out))
    parts = [f"## {record.name}", f"{record.about}.", trained]
    if curve:
        parts.append(f"Loss on held-out examples after so many steps: {curve}.")
    if record.scores.others:
        found = [[name, str(score)] for name, score in record.scores.others.items()]
        parts.append(table_forms.markdown(["score", "value"], found))
    if record.scores.heads:
        parts.append(_heads(record.scores.heads))
    table = record.scores.table
    if table is not None:
        parts += [_gaps(table.kind, table.reviews, name, table.rows) for name in _measured(record)]
    if record.again:
        parts.append(section(record))
    return "\n\n".join(parts)


def _heads(heads: Mapping[str, Head]) -> str:
    """Which head looks where, beside the best fixed offset."""
    header = ["the best head …", "links", "which", "finds it", "offset", "finds it", "chance"]
    rows = [
        [
            link,
            f"{one.links:,}",
            f"layer {one.layer}, head {one.head}",
            *(str(one.score), f"{one.offset:+d}", str(one.baseline), f"{one.chance:.3f}"),
        ]
        for link, one in heads.items()
    ]
    return f"{_HEADS}\n\n{table_forms.markdown(header, rows, words=(0, 2))}"


def _some(curve: Sequence[tuple[int, float]], count: int = 5) -> list[tuple[int, float]]:
    """A few points of a curve, the last one among them."""
    if len(curve) <= count:
        return list(curve)
    return [curve[round(k * (len(curve) - 1) / (count - 1))] for k in range(count)]


def _gaps(kind: str, reviews: int, name: str, rows: Sequence[Row]) -> str:
    """The gap table of one model."""
    header = [name, "tokens", "floor", "loss", "loss − floor", "gap"]
    lines = [
        [row.phenomenon, f"{row.tokens:,}"]
        + [str(number) for number in (row.floor, one.loss, one.difference, one.gap)]
        for row in rows
        for one in [row.models[name]]
    ]
    return f"The {kind} gap table ({reviews:,} reviews):\n\n{table_forms.markdown(header, lines)}"
