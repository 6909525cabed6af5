"""A highway layer: each entry is transformed, or carried past, as a gate decides (chapter 07).

Srivastava et al. (2015, "Highway networks", eq. 3; Kim et al. 2015, eq. 8, over characters):

    y = T ⊙ g(W_H x + b_H) + (1 − T) ⊙ x        T = σ(W_T x + b_T)

T is the transform gate; the carry gate is C = 1 − T, so that what is not transformed is carried.
b_T starts below zero: then T ≈ 0.12, a fresh layer is nearly the identity, and a deep stack of them
passes its gradient.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Highway(nn.Module):
    """One layer, as wide as its input; g is ReLU.

    Args:
        hidden_size: the width.
    """

    GATE_BIAS: ClassVar[float] = -2.0

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.transform = nn.Linear(hidden_size, hidden_size)
        self.gate = nn.Linear(hidden_size, hidden_size)
        nn.init.constant_(self.gate.bias, self.GATE_BIAS)

    def forward(self, x: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes width"]:
        T = torch.sigmoid(self.gate(x))
        return T * torch.relu(self.transform(x)) + (1 - T) * x
