"""Recipes that differ from the common case in more than the network: see `VariedRecipe`."""

from dataclasses import dataclass

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.pretrain.recipe import Begun, Recipe
from lmcourse.training import BatchLosses
from lmcourse.training.objectives import Objective
from lmcourse.training.schedules import Curve, linear, parameter_groups, scheduled


@dataclass(frozen=True)
class VariedRecipe(Recipe):
    """A recipe whose objective knows the world, or whose optimizer or schedule are its own."""

    def network(self, world: BookWorld) -> nn.Module:
        """What is trained, at its start: the model, alone or with what only its training needs."""
        return self.built(world)

    def objective_in(self, world: BookWorld, network: nn.Module) -> Objective:
        """What is learned of a batch."""
        return self.objective(network)

    def optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """AdamW, as `Recipe` has it."""
        budget = self.budget
        groups = parameter_groups(network, budget.weight_decay)
        return torch.optim.AdamW(groups, lr=budget.learning_rate, betas=budget.betas, eps=1e-6)

    def curve(self) -> Curve:
        """How the learning rate moves: up in a line and down to 0, as `Recipe` has it."""
        steps = self.budget.steps
        return linear(min(round(self.budget.warmup * steps), steps - 1), steps)

    def begin(self, world: BookWorld, seed: int, device: torch.device) -> Begun:
        """See `Recipe.begin`."""
        torch.manual_seed(seed)
        network = self.network(world).to(device)
        losses = BatchLosses(
            self.objective_in(world, network),
            self.examples(world),
            steps=self.budget.steps,
            batch_size=self.budget.batch_size,
            seed=seed,
        )
        optimizer = self.optimizer(network)
        scheduler = scheduled(optimizer, self.curve())
        return Begun(network, losses, optimizer, scheduler, self.held_out(world, device))
