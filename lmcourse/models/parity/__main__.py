"""The parity table: `python -m lmcourse.models.parity [--seed 0] [--configurations 5]`."""

import argparse
import os
import sys

import torch
from rich.console import Console
from rich.table import Table

from lmcourse.models.parity.architectures import ARCHITECTURES
from lmcourse.models.parity.comparing import KINDS, TOLERANCE


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if anything is beyond its tolerance."""
    parser = argparse.ArgumentParser(
        prog="python -m lmcourse.models.parity",
        description="Every model beside its reference: the largest difference of each kind.",
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed: other configurations")
    parser.add_argument("--configurations", type=int, default=5, help="how many of each")
    parser.add_argument("--only", default="", help="only what has this in its name")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it reports what it takes for granted
    found = [one for one in ARCHITECTURES if chosen.only.lower() in one.name.lower()]
    if not found:
        print(
            f"None is called {chosen.only!r}. There are:", ", ".join(a.name for a in ARCHITECTURES)
        )
        return 1
    table = Table(
        title=f"Largest differences over {chosen.configurations} random configurations each, "
        f"seed {chosen.seed}; allowed: "
        + ", ".join(f"{limit:g} in {str(dtype)[6:]}" for dtype, limit in TOLERANCE.items())
    )
    for column in ("architecture", "reference", "type", *KINDS, ""):
        table.add_column(column, justify="right" if column in KINDS else "left")
    console, failures = Console(), 0
    if not console.is_terminal:
        console = Console(width=160)
    with console.status("comparing") as status:
        for architecture in found:
            for dtype in architecture.dtypes:
                status.update(f"{architecture.name}, {str(dtype)[6:]}")
                comparison = architecture.run(chosen.seed, chosen.configurations, dtype)
                passed = comparison.passed(dtype)
                failures += not passed
                worst = [
                    f"{comparison.worst[kind]:.0e}" if kind in comparison.worst else "–"
                    for kind in KINDS
                ]
                row = (architecture.name, architecture.reference, str(dtype)[6:], *worst)
                table.add_row(*row, "✓" if passed else "✗ " + str(comparison.where))
    console.print(table)
    return min(failures, 1)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
