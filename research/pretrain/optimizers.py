"""Muon for the matrices of layers, and AdamW for all else, as one optimizer."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.models.recurrent import CELLS


def without_decay(model: nn.Module) -> list[nn.Parameter]:
    """The parameters without weight decay: biases, and those of LayerNorm.

    BERT's published code excludes them by their names. They are a thousandth of all parameters.
    """
    norms = [part for part in model.modules() if isinstance(part, nn.LayerNorm)]
    of_norms = {id(parameter) for norm in norms for parameter in norm.parameters()}
    return [p for p in model.parameters() if p.ndim < 2 or id(p) in of_norms]


def parameter_groups(model: nn.Module, weight_decay: float = 0.01) -> list[dict[str, Any]]:
    """The optimizer's parameter groups: with weight decay, and without.

    Frozen parameters (``requires_grad`` is False) are in neither.
    """
    exempt = {id(parameter) for parameter in without_decay(model)}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [p for p in trained if id(p) not in exempt], "weight_decay": weight_decay},
        {"params": [p for p in trained if id(p) in exempt], "weight_decay": 0.0},
    ]


class Muon(torch.optim.Muon):
    """PyTorch's Muon (Jordan et al. 2024), which computes in the numbers of the weights.

    PyTorch's own rounds each update to bfloat16. GPUs multiply that faster than float32, but
    processors without instructions for it many times more slowly (`benchmarks/muon.md`); and the
    rounding is not alike from one machine to the next.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move each matrix that has a gradient.

        Args:
            closure: there is none.
        """
        assert closure is None
        for group in self.param_groups:
            rate, momentum = group["lr"], group["momentum"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(weight.grad)
                mean = state["momentum_buffer"].lerp_(weight.grad, 1 - momentum)
                update = orthogonal(
                    weight.grad.lerp(mean, momentum), group["ns_coefficients"], group["ns_steps"]
                )
                rows, columns = weight.shape
                weight.mul_(1 - rate * group["weight_decay"])
                weight.add_(update, alpha=-rate * math.sqrt(max(1, rows / columns)))


def orthogonal(
    matrix: Float[Tensor, "row column"], coefficients: tuple[float, float, float], steps: int
) -> Float[Tensor, "row column"]:
    """About the nearest matrix with orthonormal rows or columns, by Newton–Schulz's iteration.

    With $(a, b, c)$, a step takes each singular value $s$ to $a s + b s^3 + c s^5$. Jordan et al.
    2024 chose coefficients that bring small ones up fast, to some 0.7 to 1.2, and not to 1.

    Args:
        matrix: of any scale.
        coefficients: $(a, b, c)$.
        steps: how often.
    """
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    wide = matrix.T if tall else matrix
    wide = wide / wide.norm().clamp(min=1e-7)  # no singular value is above 1
    for _ in range(steps):
        gram = wide @ wide.T
        change = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        wide = torch.addmm(wide, change, wide, beta=a)
    return wide.T if tall else wide


class MuonWithAdamW(torch.optim.Optimizer):
    """What learns most from a step: Muon where it is defined, and AdamW.

    Muon takes the momentum of a matrix to the nearest matrix whose singular values are alike, so
    that directions which are rare in the text move as fast as frequent ones. It is for matrices
    that map vectors to vectors, those of recurrent layers among them; tables of vectors, filters,
    biases and LayerNorms stay with AdamW, which is PyTorch's own. Both share one list of groups and
    one state, as schedules and checkpoints expect it.

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
        self._muon = Muon(found, lr=matrix_rate, weight_decay=weight_decay)
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
    """The weights of linear and recurrent layers, but those that are tables of vectors as well.

    A recurrent layer's gates are one matrix, as they are stacked.
    """
    tables = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    layers = [part for part in model.modules() if isinstance(part, (nn.Linear, *CELLS.values()))]
    return [
        weight
        for layer in layers
        for weight in layer.parameters(recurse=False)
        if weight.ndim == 2 and weight.requires_grad and id(weight) not in tables
    ]
