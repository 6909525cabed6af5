"""What is trained: sizes of a GPT × amounts of text, each with learning rates of its own.

Each run reads its text once and ends its learning-rate schedule there: a loss in the middle of a
longer schedule is higher (Hoffmann et al. 2022, section 3). For each cell the rate is the best on
held-out reviews of a grid that is extended until the best one is not at its end, so neither small
nor large networks have the rate that suits the other. The best rate is then repeated from other
seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from lmcourse.models.gpt import GPTForCausalLM
from research.pretrain.budget import Budget
from research.pretrain.causal import CausalRecipe
from research.pretrain.encoders import LONGEST, NO_DROPOUT
from research.pretrain.records import Machine
from research.recorded import digest_of

SIZES = ((1, 8), (1, 16), (2, 16), (2, 32), (2, 64), (3, 96))
"""Layers and width; all have heads of width 8."""
REVIEWS = (500, 1500, 4500, 13_500)
"""Amounts of text, in reviews of some 150 tokens."""
FIRST = (0.004, 0.008, 0.016)
"""The rates that each cell begins with; they are extended by factors of 2."""
LOWEST, HIGHEST = 0.0005, 0.512
SEEDS = 3
BATCH = 16
HELD_OUT, TEST = 100, 300  # reviews


@dataclass(frozen=True)
class Cell:
    """A size and an amount of text."""

    layers: int
    width: int
    reviews: int

    @property
    def name(self) -> str:
        """As in messages and in the record."""
        return f"{self.layers} × {self.width}, {self.reviews:,} reviews"


@dataclass(frozen=True)
class Run:
    """A cell with one learning rate, from one seed."""

    cell: Cell
    rate: float
    seed: int = 0

    @property
    def recipe(self) -> CausalRecipe:
        """How it is trained."""
        cell = self.cell
        settings: dict[str, Any] = {
            "hidden_size": cell.width,
            "num_hidden_layers": cell.layers,
            "num_attention_heads": cell.width // 8,
            "intermediate_size": 4 * cell.width,
            "max_position_embeddings": LONGEST,
            "initializer_range": cell.width**-0.5,
            **NO_DROPOUT,
        }
        budget = Budget(
            steps=-(-cell.reviews // BATCH),
            reviews=cell.reviews,
            batch_size=BATCH,
            learning_rate=self.rate,
            warmup=0.1,
            looks=10,
            held_out=HELD_OUT,
            measured=TEST,
        )
        return CausalRecipe("scaling", "", GPTForCausalLM, settings, budget)

    def digest(self, world: str) -> str:
        """An identification by everything that decides the result."""
        return digest_of([world, dict(self.recipe.config), self.seed])


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A trained network and its scores.

    Attributes:
        layers, width, reviews, rate, seed: of the run.
        parameters: their number, without embeddings.
        embeddings: the parameters of token and position embeddings; those of tokens are also the
            output matrix.
        tokens: how many were read, each once; padding is not counted.
        flops: operations of the training, forward and backward, as PyTorch counts them for a few
            reviews without padding.
        held_out: (step, loss on held-out reviews in nats).
        loss, floor, gap: on the test reviews, in nats per token. The floor is the loss of the best
            possible model; the gap is the mean of KL(p ‖ q), loss − floor in expectation.
        cpu_seconds, scoring_seconds: of training and test.
        machine: where it ran.
    """

    layers: int
    width: int
    reviews: int
    rate: float
    seed: int
    parameters: int
    embeddings: int
    tokens: int
    flops: float
    held_out: list[tuple[int, float]]
    loss: float
    floor: float
    gap: float
    cpu_seconds: float
    scoring_seconds: float
    machine: Machine

    @property
    def run(self) -> Run:
        """What was trained."""
        return Run(Cell(self.layers, self.width, self.reviews), self.rate, self.seed)

    @property
    def validation(self) -> float:
        """The lowest loss on held-out reviews: that of the parameters that are measured."""
        return min(loss for _, loss in self.held_out)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All results in one world.

    Attributes:
        world: its digest.
        vocabulary: the number of tokens.
        runs: by their digests.
    """

    world: str
    vocabulary: int
    runs: dict[str, Result] = {}

    def of(self, run: Run) -> Result | None:
        """The result of a run, if it is there."""
        return self.runs.get(run.digest(self.world))


def cells() -> list[Cell]:
    """All cells, those that take little first."""
    found = [Cell(*size, reviews) for reviews in REVIEWS for size in SIZES]
    return sorted(found, key=lambda it: it.reviews * it.width * (it.layers * it.width + 200))


def missing(cell: Cell, record: Record) -> Run | None:
    """The next run of a cell: rates until the best is inside their grid, then further seeds."""
    tried: dict[float, float] = {}
    for rate in FIRST:
        run = Run(cell, rate)
        found = record.of(run)
        if found is None:
            return run
        tried[rate] = found.validation
    while True:
        best = min(tried, key=lambda rate: tried[rate])
        if best == min(tried) and best > LOWEST:
            run = Run(cell, best / 2)
        elif best == max(tried) and best < HIGHEST:
            run = Run(cell, best * 2)
        else:
            break
        found = record.of(run)
        if found is None:
            return run
        tried[run.rate] = found.validation
    for seed in range(SEEDS):
        run = Run(cell, best, seed)
        if record.of(run) is None:
            return run
    return None


def finished(record: Record) -> Iterator[tuple[Cell, list[Result]]]:
    """Each cell that has all of its runs, and its results from each seed at its best rate."""
    for cell in cells():
        if missing(cell, record) is None:
            mine = [it for it in record.runs.values() if it.run.cell == cell]
            best = min((it for it in mine if it.seed == 0), key=lambda it: it.validation)
            yield cell, sorted((it for it in mine if it.rate == best.rate), key=lambda it: it.seed)
