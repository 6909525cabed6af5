"""Stacked and bidirectional recurrent layers (chapter 03).

A second layer reads the states of the first one as its inputs (Graves et al. 2013, "Speech
recognition with deep recurrent neural networks", section 2). A second direction reads the sequence
from its end, so that each state depends on both sides (Schuster and Paliwal 1997, "Bidirectional
recurrent neural networks"):

    →h_t = step(x_t, →h_{t-1})        ←h_t = step(x_t, ←h_{t+1})        h_t = [→h_t ; ←h_t]

The end is each sequence's own last step, without padding.
"""

from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError, check_sizes
from lmcourse.models.conversion.recurrent import STACK
from lmcourse.models.conversion.torch_layers import FromTorch
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrence import Boundary, Lengths, check_inputs, check_lengths, check_state
from lmcourse.models.rnn import RNN, Nonlinearity

Cell = Literal["rnn", "lstm", "gru"]
CELLS: dict[Cell, type[RNN | LSTM | GRU]] = {"rnn": RNN, "lstm": LSTM, "gru": GRU}
States = Tensor | tuple[Tensor, Tensor]
"""h, or an LSTM's (h, c)."""


def reverse(
    x: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch time width"]:
    """Reverse each sequence; its padding stays in place."""
    if lengths is None:
        return x.flip(1)
    time = torch.arange(x.shape[1], device=x.device)
    last = lengths.to(x.device, torch.long).unsqueeze(1) - 1
    source = torch.where(time <= last, last - time, time)
    return x.take_along_dim(source.unsqueeze(2), dim=1)


class Bidirectional(nn.Module):
    """Two layers; the second reads from the end.

    Args:
        forward_layer, backward_layer: two of `RNN`, `LSTM` or `GRU`.
    """

    def __init__(self, forward_layer: nn.Module, backward_layer: nn.Module) -> None:
        super().__init__()
        self.forward_layer = forward_layer
        self.backward_layer = backward_layer

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: tuple[States, States] | tuple[None, None] = (None, None),
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[Float[Tensor, "batch time output"], tuple[States, States]]:
        """Apply both layers to a batch of sequences, as `RNN.forward` does.

        Args:
            state: the first state of each direction.

        Returns:
            The concatenated outputs of both directions, and the last state of each.
        """
        lengths = check_lengths(lengths, len(inputs), inputs.shape[1])
        forth, state_forth = self.forward_layer(inputs, state[0], lengths, boundary, fused=fused)
        back, state_back = self.backward_layer(
            reverse(inputs, lengths), state[1], lengths, boundary, fused=fused
        )
        return torch.cat([forth, reverse(back, lengths)], -1), (state_forth, state_back)


class Recurrent(FromTorch):
    """Layers of one kind of cell, as `torch.nn.RNN`, `torch.nn.LSTM` and `torch.nn.GRU` stack them.

    Args:
        cell: ``"rnn"``, ``"lstm"`` or ``"gru"``.
        input_size: width of x_t.
        hidden_size: width of each direction's state, in each layer.
        num_layers: number of layers.
        bidirectional: whether each layer reads in both directions.
        dropout: dropout between layers.
        projection_size: width of an LSTM's h; 0: no projection.
        nonlinearity: of an `RNN`.
    """

    torch_layer = STACK

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        projection_size: int = 0,
        nonlinearity: Nonlinearity = "tanh",
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        if cell not in CELLS or (projection_size and cell != "lstm"):
            raise CourseError(
                f"Layers of {cell!r} with a projection to {projection_size} do not exist.",
                f"Choose one of {', '.join(CELLS)}; only lstm has a projection.",
            )
        options: dict[Cell, tuple[Any, ...]] = {
            "rnn": (nonlinearity,),
            "lstm": (projection_size,),
            "gru": (),
        }
        self.cell = cell
        self.bidirectional = bidirectional
        self.dropout = nn.Dropout(dropout)
        self.widths = (projection_size or hidden_size, hidden_size)[: 2 if cell == "lstm" else 1]
        self.output_size = self.widths[0] * (2 if bidirectional else 1)
        self.layers = nn.ModuleList()
        for number in range(num_layers):
            width = self.output_size if number else input_size
            cells = [
                CELLS[cell](width, hidden_size, *options[cell]) for _ in range(1 + bidirectional)
            ]
            self.layers.append(Bidirectional(*cells) if bidirectional else cells[0])

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: States | None = None,
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[Float[Tensor, "batch time output"], States]:
        """Apply the layers to a batch of sequences.

        Args:
            inputs: x_1 … x_T of each sequence.
            state: the first states as PyTorch stacks them: h, or an LSTM's (h, c), each
                (layers · directions, batch, width); zeros by default.
            lengths, boundary, fused: as in `lmcourse.models.rnn.RNN.forward`, for each layer and
                direction.

        Returns:
            The last layer's outputs, and the last states of all layers.
        """
        layers, last = self.read(inputs, state, lengths, boundary, fused=fused)
        return layers[-1], last

    def read(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: States | None = None,
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[list[Float[Tensor, "batch time output"]], States]:
        """Apply the layers as `forward` does; return the outputs of all layers."""
        one: Any = self.layers[0].forward_layer if self.bidirectional else self.layers[0]
        _, lengths = check_inputs(type(one).__name__, inputs, one.U, None, self.widths, lengths)
        states = self._split(inputs, state)
        x = inputs
        outputs: list[Tensor] = []
        ends: list[Any] = []
        for layer, first in zip(self.layers, states, strict=True):
            x = self.dropout(x) if outputs else x
            x, end = layer(x, first, lengths, boundary, fused=fused)
            outputs.append(x)
            ends += end if self.bidirectional else [end]
        if self.cell == "lstm":
            h, c = zip(*ends, strict=True)
            return outputs, (torch.stack(h), torch.stack(c))
        return outputs, torch.stack(ends)

    def _split(self, inputs: Tensor, state: States | None) -> list[Any]:
        """Return each layer's part of the state."""
        directions = 1 + self.bidirectional
        if state is None:
            return [(None, None) if self.bidirectional else None] * len(self.layers)
        count = len(self.layers) * directions
        wanted = [(count, inputs.shape[0], width) for width in self.widths]
        parts = check_state(state, wanted)
        rows: list[Any] = list(zip(*parts, strict=True)) if self.cell == "lstm" else [*parts[0]]
        if not self.bidirectional:
            return rows
        return list(zip(rows[::2], rows[1::2], strict=True))


def detached(state: States) -> States:
    """Return the state detached from the graph."""
    if isinstance(state, Tensor):
        return state.detach()
    h, c = state
    return h.detach(), c.detach()
