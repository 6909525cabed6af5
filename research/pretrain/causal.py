"""Recipes of networks that read from left to right (chapter 10)."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation import GapTable, gap_table, of_causal
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.tokenizers import words
from lmcourse.training.objectives import CausalLM, Objective
from research.pretrain import held_out
from research.pretrain.encoders import COPY_WARM_UP, SMALL
from research.pretrain.head_scores import head_scores
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores

AS_BERT: dict[str, Any] = {"norm_first": False, "hidden_act": "gelu", "embd_pdrop": 0.0}
"""The first GPT's order of things, which is BERT's: the mask alone differs."""


@dataclass(frozen=True)
class CausalRecipe(Recipe):
    """A network that predicts each token from those before it, and is measured by it."""

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return CausalLM(network)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`."""
        return held_out.causal(self.held_out_reviews(world), device)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table."""
        return Scores.of(self.table(trained, world))

    def table(self, trained: Trained, world: BookWorld) -> GapTable:
        """How far the network is above the floor."""
        asked = {self.name: of_causal(trained.model, world, words.ids(world))}
        return gap_table(asked, world, kind="causal", reviews=self.test_reviews(world))


@dataclass(frozen=True)
class AttentiveRecipe(CausalRecipe):
    """The same of a network that has heads."""

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table, and what heads look at."""
        shortened = self.budget.measured is not None
        heads = head_scores(trained.model, world, shortened, causal=True)
        return Scores.of(self.table(trained, world), heads=heads)


CAUSAL = (
    AttentiveRecipe(
        "bookworld-clm",
        "GPT: the causal twin of bookworld-mlm, with the same sizes, data and steps, and a warm-up "
        "phase for copying",
        GPTForCausalLM,
        SMALL | AS_BERT,
        COPY_WARM_UP,
    ),
)
