"""The page of the models that come with the course, made from their records alone."""

from collections.abc import Sequence

from lmcourse.errors import CourseError
from lmcourse.pretrain.records import Record

CHANCE = 5.0  # standard errors that a loss may lie below the floor, as a small sample may have it


def check_floor(records: Sequence[Record]) -> None:
    """See that no model lies below BookWorld's floor, which nothing honest can.

    Raises:
        CourseError: one does: it has seen what it had to predict, or it was measured wrongly.
    """
    for record in records:
        table = record.scores.table
        if table is None:
            continue
        for name, measured in table.row().models.items():
            gap, below = measured.gap.value, measured.difference
            lower = below.value is not None and below.value < -CHANCE * (below.error or 0)
            if name in table.saw_targets or lower or (gap is not None and gap < 0):
                raise CourseError(
                    f"{name} of {record.name} lies below BookWorld's floor: its loss − floor is "
                    f"{below}, its gap {measured.gap}.",
                    "Nothing honest does. See that it is not shown what it has to predict, and "
                    "that floor and loss are of the same reviews.",
                )
