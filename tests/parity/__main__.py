"""The parity table: `python -m tests.parity [--seed 0] [--configurations 5]`."""

import argparse
import os
import sys

import torch
from rich.console import Console
from rich.table import Table

from tests.parity.architectures import ARCHITECTURES, LEFT_OUT
from tests.parity.comparing import KINDS, TOLERANCE, Comparison


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if anything is beyond its tolerance."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity",
        description="Every model beside its reference: the largest difference of each kind.",
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed: other configurations")
    parser.add_argument("--configurations", type=int, default=5, help="how many of each")
    parser.add_argument("--only", default="", help="only what has this in its name")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it reports what it takes for granted
    found = [one for one in ARCHITECTURES if chosen.only.lower() in one.name.lower()]
    left_out = {n: why for n, why in LEFT_OUT.items() if chosen.only.lower() in n.lower()}
    if not found and not left_out:
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
                row = (architecture.name, architecture.reference, str(dtype)[6:])
                verdict = "✓" if passed else "✗ " + str(comparison.where)
                table.add_row(*row, *_worst(comparison), verdict)
    console.print(table)
    for name, reason in left_out.items():
        console.print(f"{name} is left out: {reason}.")
    return min(failures, 1)


def _worst(comparison: Comparison) -> list[str]:
    worst = comparison.worst
    return [f"{worst[kind]:.0e}" if kind in worst else "–" for kind in KINDS]


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
