"""Recipes of networks that read from left to right (chapter 10)."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation import gap_table, of_causal
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.pretrain import held_out, words
from lmcourse.pretrain.encoders import FAMILY, SMALL
from lmcourse.pretrain.head_scores import head_scores
from lmcourse.pretrain.recipe import Recipe, Trained
from lmcourse.pretrain.records import Scores
from lmcourse.training.objectives import CausalLM, Objective

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
        """The gap table, and what heads look at, if there are any."""
        asked = {self.name: of_causal(trained.model, world, words.ids(world))}
        reviews = self.test_reviews(world)
        table = gap_table(asked, world, kind="causal", reviews=reviews)
        if not isinstance(trained.model, GPTForCausalLM):
            return Scores.of(table)
        return Scores.of(table, heads=head_scores(trained.model, world, reviews is not None))


CAUSAL = (
    CausalRecipe(
        "bookworld-clm",
        "GPT: the causal twin of bookworld-mlm, with the same sizes, data and steps",
        GPTForCausalLM,
        SMALL | AS_BERT,
        FAMILY,
    ),
)
