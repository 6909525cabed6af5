"""Training one network of the scaling law, and scoring it."""

from dataclasses import dataclass
from functools import cache

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import words
from lmcourse.training.checks import single_loss
from lmcourse.training.examples import Example, padded
from lmcourse.training.seeds import generator_of
from research.pretrain.causal import CausalRecipe
from research.pretrain.clock import Seconds
from research.pretrain.records import Machine
from research.scaling.grid import Record, Result, Run


@cache
def world() -> BookWorld:
    """The world, which a process compiles once."""
    return BookWorld()


@cache
def sampled(count: int, seed: int) -> list[Review]:
    """Reviews to learn from, which a process draws once for all of its runs."""
    return world().sample(count, seed)


@dataclass(frozen=True)
class SampledOnce(CausalRecipe):
    """The recipe of a run, whose reviews are drawn once."""

    def examples(self, world: BookWorld) -> list[Example]:
        """See `Recipe.examples`."""
        return list(words.examples(sampled(self.budget.reviews, self.budget.reviews_seed)))


def begin() -> None:
    """Prepare a process: it computes with one thread."""
    torch.set_num_threads(1)


def empty_record() -> Record:
    """The record of this world before any run."""
    return Record(world=world().digest, vocabulary=words.size(world()))


def trained(run: Run) -> Result:
    """Train a network on the CPU and score it."""
    recipe = SampledOnce(**vars(run.recipe))
    result = recipe.train(world(), run.seed, torch.device("cpu"), watch="nothing")
    before = Seconds.now()
    table = recipe.table(result, world())
    every = sum(it.numel() for it in result.model.parameters())
    embeddings = num_embedding_parameters(result.model)
    return Result(
        layers=run.cell.layers,
        width=run.cell.width,
        reviews=run.cell.reviews,
        rate=run.rate,
        seed=run.seed,
        parameters=every - embeddings,
        embeddings=embeddings,
        tokens=result.tokens,
        flops=flops_per_token(recipe) * result.tokens,
        held_out=result.held_out,
        loss=table.loss().value,
        gap=table.gap().value,
        floor=table.floor().value,
        cpu_seconds=result.seconds.cpu,
        scoring_seconds=(Seconds.now() - before).cpu,
        machine=Machine.here(torch.device("cpu")),
    )


def num_embedding_parameters(model: Model) -> int:
    """The parameters of a model's token and position embeddings."""
    tables = [it for it in model.modules() if isinstance(it, nn.Embedding)]
    return sum(it.weight.numel() for it in tables)


def flops_per_token(recipe: CausalRecipe) -> float:
    """The operations of a training step by its tokens, padding not counted."""
    network = recipe.built(world())
    reviews = words.examples(world().split("validation", 16))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        for review in reviews:
            batch = padded([review], words.PAD)
            single_loss(recipe.objective(network)(batch, generator_of(0)), 0).backward()
    return counter.get_total_flops() / sum(len(review["input_ids"]) for review in reviews)
