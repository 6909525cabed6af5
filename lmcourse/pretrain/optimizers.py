"""Muon for the matrices of layers, and AdamW for all else, as one optimizer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from lmcourse.training.schedules import parameter_groups


class MuonWithAdamW(torch.optim.Optimizer):
    """What learns most from a step: Muon (Jordan et al. 2024) where it is defined, and AdamW.

    Muon takes the momentum of a matrix to the nearest matrix whose singular values are alike, so
    that directions which are rare in the text move as fast as frequent ones. It is for matrices
    that map vectors to vectors; tables of vectors, biases and LayerNorms stay with AdamW. Both are
    PyTorch's own; here, they share one list of groups and one state, as schedules and checkpoints
    expect it.

    Args:
        model: what is trained.
        matrix_rate: Muon's learning rate.
        learning_rate, betas: AdamW's.
        weight_decay: of both; not of biases and LayerNorms.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        matrix_rate: float,
        learning_rate: float,
        betas: tuple[float, float],
        weight_decay: float,
    ) -> None:
        chosen = {id(weight) for weight in matrices(model)}
        groups = parameter_groups(model, weight_decay)
        others = [
            group | {"params": [p for p in group["params"] if id(p) not in chosen]}
            for group in groups
        ]
        found = [p for group in groups for p in group["params"] if id(p) in chosen]
        self._muon = torch.optim.Muon(found, lr=matrix_rate, weight_decay=weight_decay)
        self._adamw = torch.optim.AdamW(others, lr=learning_rate, betas=betas, eps=1e-6)
        self._of_muon = len(self._muon.param_groups)
        super().__init__([*self._muon.param_groups, *self._adamw.param_groups], {})

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Both take their step.

        Args:
            closure: there is none.
        """
        assert closure is None
        cut = self._of_muon
        parts = (self._muon, self.param_groups[:cut]), (self._adamw, self.param_groups[cut:])
        for part, groups in parts:
            part.param_groups, part.state = groups, self.state
            part.step()


def matrices(model: nn.Module) -> list[nn.Parameter]:
    """The weights of linear layers, but those that are tables of vectors as well."""
    tables = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    linear = [part.weight for part in model.modules() if isinstance(part, nn.Linear)]
    return [
        weight
        for weight in linear
        if isinstance(weight, nn.Parameter) and weight.requires_grad and id(weight) not in tables
    ]
