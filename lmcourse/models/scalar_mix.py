"""A task's own mixture of a network's layers (chapter 07).

Peters et al. (2018, eq. 1): a task learns how much of each layer it takes, and a common scale,

    ELMo_k = γ Σ_j s_j h_{k,j}        s = softmax(w)

while the network itself stands still. Different layers know different things; so no one has to say
beforehand which is best. Section 3.2 adds that it can help to apply layer normalization (Ba et al.
2016) to each layer first. That is done here place by place, as it is defined; the published program
took one mean and one variance over all places of a batch, so that sentences changed each other.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import CourseError


class ScalarMix(nn.Module):
    """γ Σ s_j h_j; it starts as the plain mean.

    Args:
        num_layers: how many layers are mixed: 2L + 1 vectors of ELMo are L + 1 layers here, each
            of both directions.
        layer_norm: whether each layer is normalized first, over the width of each place.
    """

    def __init__(self, num_layers: int, layer_norm: bool = False) -> None:
        super().__init__()
        if num_layers < 1:
            raise CourseError(f"There are {num_layers} layers to mix.", "Give at least one.")
        self.weights = nn.Parameter(torch.zeros(num_layers))
        self.gamma = nn.Parameter(torch.ones(()))
        self.layer_norm = layer_norm

    @property
    def shares(self) -> Float[Tensor, " layer"]:
        """s_j: how much of each layer is taken; they sum to one."""
        return self.weights.softmax(0)

    def forward(
        self, layers: Sequence[Float[Tensor, "*axes width"]]
    ) -> Float[Tensor, "*axes width"]:
        """The mixture.

        Args:
            layers: a model's ``hidden_states``.

        Raises:
            CourseError: their number is another.
        """
        if len(layers) != len(self.weights):
            raise CourseError(
                f"{len(layers)} layers were given, and there are weights for {len(self.weights)}.",
                "Give all of a model's hidden_states: the tokens' layer and what each layer gave.",
            )
        if self.layer_norm:
            layers = [nn.functional.layer_norm(layer, layer.shape[-1:]) for layer in layers]
        mixed = (share * layer for share, layer in zip(self.shares, layers, strict=True))
        return self.gamma * torch.stack(list(mixed)).sum(0)
