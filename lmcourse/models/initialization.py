"""Initial weights: small random numbers, biases of zero, every LayerNorm the identity."""

import torch
from torch import nn


@torch.no_grad()
def init_weights(module: nn.Module, std: float, *, truncated: bool = False) -> None:
    """Initialize the weights of all linear layers and embeddings from N(0, std²).

    Args:
        std: the standard deviation.
        truncated: truncate at two standard deviations, as BERT's published code does
            (``truncated_normal_initializer`` in ``modeling.py``).
    """
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            if truncated:
                nn.init.trunc_normal_(part.weight, std=std, a=-2 * std, b=2 * std)
            else:
                nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            part.weight[part.padding_idx].zero_()
