"""A bidirectional language model: one network reads forward, another one backward (chapter 07).

Peters et al. (2018, "Deep contextualized word representations", section 3.1). Over the same vectors
x_k of the tokens stand two stacks of LSTMs that share nothing:

    →h_{k,j} = LSTM_j(→h_{k,j-1}, …)        from x_1 … x_k: what stands up to k
    ←h_{k,j} = LSTM_j(←h_{k,j-1}, …)        from x_N … x_k: what stands from k on

The layers' width is that of the tokens, by a projection, so that from the second layer on the input
is added to the output (section 4). No direction ever sees the other's side: a state
that had seen both would have seen the word that it is to predict.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from lmcourse.models.lstm import LSTM


@dataclass(frozen=True)
class BiLMConfig:
    """The sizes of both directions.

    Attributes:
        hidden_size: width of an LSTM's cells.
        projection_size: width of its output, and of the tokens' vectors.
        num_hidden_layers: how many in each direction.
        hidden_dropout_prob: dropout of what each layer reads.
        cell_clip, projection_clip: the largest modulus in a cell, and in an output; None: any.
    """

    hidden_size: int = 4096
    projection_size: int = 512
    num_hidden_layers: int = 2
    hidden_dropout_prob: float = 0.1
    cell_clip: float | None = 3.0
    projection_clip: float | None = 3.0


class Direction(nn.Module):
    """A stack of LSTMs that reads from left to right."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        width = config.projection_size
        self.layers = nn.ModuleList(
            LSTM(width, config.hidden_size, width, config.cell_clip, config.projection_clip)
            for _ in range(config.num_hidden_layers)
        )
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Float[Tensor, "batch time width"]) -> list[Tensor]:
        """What each layer gave."""
        found = []
        for number, layer in enumerate(self.layers):
            x = self.dropout(x)
            output, _ = layer(x)
            x = output if number == 0 else output + x
            found.append(x)
        return found


class BiLM(nn.Module):
    """Both directions over the same tokens."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.forward_direction = Direction(config)
        self.backward_direction = Direction(config)

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        real: Bool[Tensor, "batch time"],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """What each layer gave, forward and backward, (batch, time, width) each.

        Args:
            x: the tokens' vectors.
            real: False where there is padding, which stands on the right.
        """
        forward = self.forward_direction(x)
        backward = self.backward_direction(turned(x, real))
        return forward, [turned(states, real) for states in backward]


def turned(
    x: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"]
) -> Float[Tensor, "batch time width"]:
    """Each sequence from its last token to its first; the padding stays on the right.

    To turn the whole row, padding and all, would have the network read the padding first.
    """
    places = torch.arange(x.shape[1], device=x.device).expand(real.shape)
    last = real.sum(1, keepdim=True) - 1
    places = torch.where(real, last - places, places)
    return x.gather(1, places.unsqueeze(-1).expand_as(x))
