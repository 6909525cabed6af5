"""What a step teaches by Muon and by AdamW alone: `python -m benchmarks.optimizers [--steps 1500]`.

A recurrent network's recipe, shortened: once as it is, with Muon for the matrices of layers, and by
AdamW alone at some rates, whose best is told. The losses are on reviews of the validation split.
The table goes to `benchmarks/optimizers.md`.
"""

import argparse
from dataclasses import replace
from typing import Any

from benchmarks import tables
from lmcourse import table_forms

NAME = "bookworld-lstm"
RATES = 8e-3, 1.6e-2, 3.2e-2, 6.4e-2  # of AdamW alone
HEADER = (
    *("model", "steps", "Muon and AdamW", "AdamW alone, at its best", "its rate"),
    "AdamW alone, at the other rates",
)


def loss(steps: int, seed: int, **changes: Any) -> float:
    """The held-out loss after a shortened recipe, in nats a prediction.

    Args:
        changes: of its budget.
    """
    import torch

    from lmcourse.corpus.bookworld import BookWorld
    from research.pretrain.recipes import recipe

    known: Any = recipe(NAME)
    reviews = min(known.budget.reviews, steps * known.budget.batch_size)
    short = replace(known.budget, steps=steps, reviews=reviews, looks=1, **changes)
    trained = replace(known, budget=short).train(
        BookWorld(), seed, torch.device("cpu"), watch="nothing"
    )
    return float(trained.held_out[-1][1])


def row(steps: int, seeds: int) -> str:
    """The line of the table."""
    both = [loss(steps, seed) for seed in range(seeds)]
    alone = {
        rate: [loss(steps, seed, learning_rate=rate, matrix_rate=None) for seed in range(seeds)]
        for rate in RATES
    }
    best = min(alone, key=lambda rate: sum(alone[rate]))
    others = ", ".join(
        f"{tables.over_seeds(found)} at {rate:g}" for rate, found in alone.items() if rate != best
    )
    cells = [tables.over_seeds(both), tables.over_seeds(alone[best]), f"{best:g}", others]
    return table_forms.markdown_line([NAME, f"{steps:,}", *cells])


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    found = row(given.steps, given.seeds)
    tables.write(
        __file__,
        "What a step teaches by Muon and by AdamW alone",
        f"PyTorch {torch.__version__}; held-out losses in nats a prediction, of the first "
        f"{given.seeds} seed(s) the mean (smallest and largest). Each training has its schedule "
        "from beginning to end. Muon's rates are the recipe's, which have not been tuned here.",
        HEADER,
        [found],
    )
    return 0


if __name__ == "__main__":
    tables.run(main)
