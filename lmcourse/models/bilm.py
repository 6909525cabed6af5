"""A bidirectional language model: a forward and a backward network (chapter 07).

Peters et al. (2018, "Deep contextualized word representations", section 3.1). Two stacks of LSTMs
without shared weights read the same token vectors x_k:

    →h_{k,j} = →LSTM_j(→h_{1,j-1} … →h_{k,j-1}) + →h_{k,j-1}        →h_{k,0} = x_k
    ←h_{k,j} = ←LSTM_j(←h_{N,j-1} … ←h_{k,j-1}) + ←h_{k,j-1}        ←h_{k,0} = x_k

A projection gives each layer's output the tokens' width, for the residual connection; the first
layer has none (section 3.4). The directions stay separate: a state that depends on both sides would
depend on the word to be predicted.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import reverse


@dataclass(frozen=True)
class BiLMConfig:
    """The sizes of both directions.

    Attributes:
        hidden_size: width of an LSTM's cells.
        projection_size: width of its output, and of the tokens' vectors.
        num_hidden_layers: number of layers in each direction.
        hidden_dropout_prob: dropout of each layer's input.
        cell_clip, projection_clip: bounds on the entries of cells and outputs; None: no bound.
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

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> list[Tensor]:
        """Return each layer's output."""
        outputs = []
        for number, layer in enumerate(self.layers):
            x = self.dropout(x)
            output, _ = layer(x, lengths=lengths)
            x = output if number == 0 else output + x
            outputs.append(x)
        return outputs


class BiLM(nn.Module):
    """Both directions over the same tokens."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.forward_direction = Direction(config)
        self.backward_direction = Direction(config)

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return each layer's output, forward and backward, (batch, time, width) each.

        Args:
            x: the token vectors, zero at padding.
            lengths: the number of tokens of each sequence; None: no padding.
        """
        forward = self.forward_direction(x, lengths)
        backward = self.backward_direction(reverse(x, lengths), lengths)
        return forward, [reverse(states, lengths) for states in backward]
