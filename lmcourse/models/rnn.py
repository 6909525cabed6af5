"""The Elman network: a state updated by each input (chapter 02).

The recurrence is Elman's (1990, "Finding structure in time"), as `torch.nn.RNN` computes it:

    h_t = φ(U x_t + W h_{t-1} + b)        φ = tanh or ReLU

with one bias where PyTorch has two that are always added.
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import check_sizes
from lmcourse.models.conversion.recurrent import RNN_LAYER
from lmcourse.models.conversion.torch_layers import FromTorch
from lmcourse.models.recurrence import (
    Boundary,
    Lengths,
    check_inputs,
    run_kernel,
    unroll,
    zero_padding,
)

Nonlinearity = Literal["tanh", "relu"]
NONLINEARITIES: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "relu": torch.relu}


class RNN(FromTorch):
    """One recurrent layer, in one direction.

    Args:
        input_size: width of x_t.
        hidden_size: width of h_t.
        nonlinearity: φ, ``"tanh"`` or ``"relu"``.
    """

    torch_layer = RNN_LAYER

    def __init__(
        self, input_size: int, hidden_size: int, nonlinearity: Nonlinearity = "tanh"
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        self.nonlinearity = nonlinearity
        self.U = nn.Parameter(torch.empty(hidden_size, input_size))
        self.W = nn.Parameter(torch.empty(hidden_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))
        bound = 1 / math.sqrt(hidden_size)  # as in torch.nn.RNN; b starts at zero
        nn.init.uniform_(self.U, -bound, bound)
        nn.init.uniform_(self.W, -bound, bound)

    @property
    def input_size(self) -> int:
        return self.U.shape[1]

    @property
    def hidden_size(self) -> int:
        return self.W.shape[0]

    def step(
        self,
        projected_t: Float[Tensor, "batch hidden"],
        state: tuple[Float[Tensor, "batch hidden"]],
    ) -> tuple[Float[Tensor, "batch hidden"]]:
        """Return h_t from U x_t + b and h_{t-1}."""
        (h,) = state
        return (NONLINEARITIES[self.nonlinearity](projected_t + h @ self.W.T),)

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: Float[Tensor, "batch hidden"] | None = None,
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[Float[Tensor, "batch time hidden"], Float[Tensor, "batch hidden"]]:
        """Apply the layer to a batch of sequences.

        Args:
            inputs: x_1 … x_T of each sequence.
            state: h_0; zeros by default.
            lengths: the number of steps of each sequence. After them the state is constant and the
                output zero.
            boundary: called with (t, h_t) before x_{t+1}, for t = 0 … T-1; its result replaces the
                state, as in truncation.
            fused: use PyTorch's kernel if there is no boundary. On some devices it can be
                differentiated only once.

        Returns:
            h_1 … h_T, and the last state of each sequence.
        """
        widths = (self.hidden_size,)
        first, lengths = check_inputs("RNN", inputs, self.U, state, widths, lengths)
        if fused and boundary is None:
            kernel = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}[self.nonlinearity]
            weights = [self.U, self.W, self.b, torch.zeros_like(self.b)]
            hidden, (h,) = run_kernel(kernel, inputs, first, weights, lengths)
        else:
            projected = zero_padding(inputs, lengths) @ self.U.T + self.b  # [batch, time, hidden]
            hidden, (h,) = unroll(self.step, projected, first, lengths, boundary)
        return hidden, h
