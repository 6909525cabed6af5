"""Models that are wrong, and what notices: `python -m tests.models.broken` prints the table.

Each is one of ours with one thing changed, as authors and students get it wrong. The property kit
and the parity table must catch every one; `tests/models/test_broken.py` sees to it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch

from tests.models.kit import PROPERTIES
from tests.models.subject import Subject
from tests.parity.architectures import ARCHITECTURES


@dataclass(frozen=True)
class Broken:
    """A model with one mistake in it.

    Attributes:
        name: the mistake.
        patch: makes the mistake for the duration of a ``with`` block.
        architectures: names of the rows of the parity table that it concerns.
        subjects: names of the kit's subjects that it concerns.
    """

    name: str
    patch: Callable[[], AbstractContextManager[object]]
    architectures: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def caught_by(self, subjects: tuple[Subject, ...]) -> Iterator[str]:
        """What detects it: properties of the kit, and ``"parity"``.

        An error other than a failed comparison is not caught but raised: the list would prove
        nothing if a mistake in a patch counted as a mistake that was found.
        """
        known = {architecture.name: architecture for architecture in ARCHITECTURES}
        by_name = {subject.name: subject for subject in subjects}
        for name in self.subjects:
            for examine in PROPERTIES:
                torch.manual_seed(0)
                try:
                    with self.patch():
                        examine(by_name[name])
                except AssertionError:
                    yield examine.__name__
        for name in self.architectures:
            try:
                with self.patch():
                    comparison = known[name].run(seed=0, configurations=5, dtype=torch.float64)
                if not comparison.passed(torch.float64):
                    yield "parity"
            except AssertionError:
                yield "parity"


def main() -> int:
    """Print every broken model and what caught it; 1 if one was not."""
    from rich.console import Console
    from rich.table import Table

    from tests.models.subjects import BROKEN, SUBJECTS

    table = Table("the mistake", "what notices it")
    missed = 0
    for broken in BROKEN:
        noticed = list(dict.fromkeys(broken.caught_by(SUBJECTS)))
        missed += not noticed
        table.add_row(broken.name, ", ".join(noticed) or "nothing")
    Console(width=120).print(table)
    print(f"{len(BROKEN) - missed} of {len(BROKEN)} caught")
    return min(missed, 1)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
