"""What can be trained and what came of it, in words: `lmcourse pretrain`."""

from lmcourse.hub.checkpoints import shipped
from research.pretrain.recipes import RECIPES
from research.pretrain.records import Record


def overview() -> str:
    """All recipes; those whose models come with the course are marked."""
    here = shipped()
    width = max(map(len, RECIPES))
    lines = [
        f"{'*' if name in here else ' '} {name:<{width}}  {recipe.about}"
        for name, recipe in RECIPES.items()
    ]
    return "\n".join(
        [
            *lines,
            "",
            "*: comes with the course. `lmcourse pretrain NAME` trains one from nothing; Ctrl-C "
            "leaves it, and the same command goes on.",
        ]
    )


def summary(record: Record) -> str:
    """What a training gave, in a few lines."""
    lines = [
        f"{record.name}: {record.architecture}, {record.parameters:,} parameters, "
        f"{record.bytes / 1e3:,.0f} kB; {record.steps:,} steps in {record.wall_seconds / 60:.1f} "
        "minutes.",
    ]
    if record.scores.table is not None:
        row = record.scores.table.row()
        lines += [
            f"{name}: loss {one.loss}, floor {row.floor}, gap {one.gap} nats a token "
            f"({record.scores.table.kind})."
            for name, one in row.models.items()
        ]
    lines += [f"{name}: {it}" for name, it in record.scores.others.items()]
    lines += [
        f"layer {it.layer}, head {it.head} looks {name}: {it.score} (offset {it.offset:+d}: "
        f"{it.baseline})"
        for name, it in record.scores.heads.items()
    ]
    return "\n".join(lines)
