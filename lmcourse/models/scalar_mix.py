"""A learned, task-specific mixture of a network's layers (chapter 07).

Peters et al. (2018, eq. 1): each task learns the weights of the layers and a common scale,

    ELMo_k = γ Σ_j s_j h_{k,j}        s = softmax(w)

while the network is frozen. Section 3.2 suggests layer normalization (Ba et al. 2016) of each layer
first. It is applied at each position here; the published program took one mean and variance over
all positions of a batch, so that sentences affected each other.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """γ Σ s_j h_j, initialized as the mean.

    Args:
        num_layers: number of layers; ELMo's 2L + 1 vectors are L + 1 layers of both directions.
        layer_norm: normalize each layer first, at each position.
    """

    def __init__(self, num_layers: int, layer_norm: bool = False) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(num_layers))
        self.gamma = nn.Parameter(torch.ones(()))
        self.layer_norm = layer_norm

    @property
    def shares(self) -> Float[Tensor, " layer"]:
        """s_j, the weight of each layer; they sum to one."""
        return self.weights.softmax(0)

    def forward(
        self, layers: Sequence[Float[Tensor, "*axes width"]]
    ) -> Float[Tensor, "*axes width"]:
        """Return the mixture of a model's ``hidden_states``."""
        if self.layer_norm:
            layers = [nn.functional.layer_norm(layer, layer.shape[-1:]) for layer in layers]
        mixed = (share * layer for share, layer in zip(self.shares, layers, strict=True))
        return self.gamma * torch.stack(list(mixed)).sum(0)
