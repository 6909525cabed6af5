"""A bidirectional language model: one network reads forward, another one backward (chapter 07).

Peters et al. (2018, "Deep contextualized word representations", section 3.1). Over the same vectors
x_k of the tokens stand two stacks of LSTMs that share nothing:

    →h_{k,j} = →LSTM_j(→h_{1,j-1} … →h_{k,j-1}) + →h_{k,j-1}        →h_{k,0} = x_k
    ←h_{k,j} = ←LSTM_j(←h_{N,j-1} … ←h_{k,j-1}) + ←h_{k,j-1}        ←h_{k,0} = x_k

The layers' width is that of the tokens, by a projection, so that the input can be added; the first
layer is without (section 3.4). No direction ever sees the other's side: a state that had seen
both would have seen the word that it is to predict.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.inputs import check_settings
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import reverse


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

    def __post_init__(self) -> None:
        sizes = ("hidden_size", "projection_size", "num_hidden_layers")
        check_settings(self, sizes, ("hidden_dropout_prob",), ("cell_clip", "projection_clip"))


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
        """What each layer gave."""
        found = []
        for number, layer in enumerate(self.layers):
            x = self.dropout(x)
            output, _ = layer(x, lengths=lengths)
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
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """What each layer gave, forward and backward, (batch, time, width) each.

        Args:
            x: the tokens' vectors, zero behind the last real one.
            lengths: how many are real; None: all.
        """
        forward = self.forward_direction(x, lengths)
        backward = self.backward_direction(reverse(x, lengths), lengths)
        return forward, [reverse(states, lengths) for states in backward]
