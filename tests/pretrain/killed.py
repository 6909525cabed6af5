"""Train the small recipe, and die in the middle of a step: `python -m tests.pretrain.killed`."""

import os
import pickle
import sys
from pathlib import Path

from lmcourse.training import BatchLosses
from research.pretrain import recipes, run


def main(folder: str, recipe: str, step: str) -> None:
    """Begin, or go on, and die before this step's loss."""
    chosen = pickle.loads(Path(recipe).read_bytes())  # our own, of a moment ago
    recipes.RECIPES[chosen.name] = chosen
    run.EVERY = 2
    drawn = BatchLosses.__next__

    def deadly(losses: BatchLosses):
        if losses.step == int(step):
            os._exit(9)
        return drawn(losses)

    BatchLosses.__next__ = deadly
    run.pretrain(chosen.name, folder=folder, device="cpu", watch="nothing", ship=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
