"""The LSTM: a cell state that gates protect from being overwritten (chapter 03).

Hochreiter and Schmidhuber (1997, "Long short-term memory") add a cell state c to the hidden state
h, and gates on its input and output; Gers et al. (2000, "Learning to forget") add the forget gate.
With σ the logistic function and ⊙ the elementwise product:

    i_t = σ(U_i x_t + W_i h_{t-1} + b_i)          input gate
    f_t = σ(U_f x_t + W_f h_{t-1} + b_f)          forget gate
    g_t = tanh(U_g x_t + W_g h_{t-1} + b_g)       candidate
    o_t = σ(U_o x_t + W_o h_{t-1} + b_o)          output gate
    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t
    h_t = o_t ⊙ tanh(c_t)

The gradient flows from c_t to c_{t-1} through ⊙ f_t alone: where the forget gate is 1, it is
unchanged.

A projection (Sak et al. 2014, "Long short-term memory based recurrent neural network architectures
for large scale acoustic modeling", section 2) makes h narrower than c: h_t = P (o_t ⊙ tanh(c_t)).
ELMo also clips every entry of c_t after its update, and of h_t after the projection.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import check_sizes
from lmcourse.models.conversion.recurrent import LSTM_LAYER
from lmcourse.models.conversion.torch_layers import FromTorch
from lmcourse.models.recurrence import (
    Boundary,
    Lengths,
    check_inputs,
    run_kernel,
    unroll,
    zero_padding,
)


class LSTM(FromTorch):
    """One layer, in one direction.

    The gates' matrices and biases are stacked in PyTorch's order i, f, g, o, with one bias where
    PyTorch has two that are always added. So b_f is ``b[hidden_size : 2 * hidden_size]``. It starts
    at 0; Jozefowicz et al. (2015, "An empirical exploration of recurrent network architectures")
    start it at 1, so that the cell remembers until it learns to forget.

    Args:
        input_size: width of x_t.
        hidden_size: width of c_t, and of h_t where it is not projected.
        projection_size: width of h_t; 0: no projection.
        cell_clip: bound on the absolute value of c_t's entries; None: no bound.
        projection_clip: the same for h_t, if it is projected.
    """

    torch_layer = LSTM_LAYER

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        projection_size: int = 0,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        check_sizes(0, projection_size=projection_size)
        self.hidden_size = hidden_size
        self.projection_size = projection_size
        self.cell_clip = cell_clip
        self.projection_clip = projection_clip
        output_size = projection_size or hidden_size
        self.U = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.W = nn.Parameter(torch.empty(4 * hidden_size, output_size))
        self.b = nn.Parameter(torch.zeros(4 * hidden_size))
        self.P = nn.Parameter(torch.empty(output_size, hidden_size)) if projection_size else None
        bound = 1 / math.sqrt(hidden_size)  # as in torch.nn.LSTM; b starts at zero
        for weight in (self.U, self.W, self.P):
            if weight is not None:
                nn.init.uniform_(weight, -bound, bound)

    @property
    def input_size(self) -> int:
        return self.U.shape[1]

    @property
    def output_size(self) -> int:
        """The width of h_t."""
        return self.W.shape[1]

    def step(
        self,
        projected_t: Float[Tensor, "batch gates"],
        state: tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]],
    ) -> tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]]:
        """Return (h_t, c_t) from U x_t + b and (h_{t-1}, c_{t-1})."""
        h, c = state
        i, f, g, o = self.gates(projected_t, h)
        c = f * c + i * g
        if self.cell_clip is not None:
            c = c.clamp(-self.cell_clip, self.cell_clip)
        h = o * c.tanh()
        if self.P is not None:
            h = h @ self.P.T
            if self.projection_clip is not None:
                h = h.clamp(-self.projection_clip, self.projection_clip)
        return h, c

    def gates(
        self, projected_t: Float[Tensor, "batch gates"], h: Float[Tensor, "batch output"]
    ) -> tuple[
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
    ]:
        """Return the gates and the candidate, (i_t, f_t, g_t, o_t)."""
        i, f, g, o = (projected_t + h @ self.W.T).chunk(4, dim=-1)
        return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]] | None = None,
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[
        Float[Tensor, "batch time output"],
        tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]],
    ]:
        """Apply the layer to a batch of sequences.

        Args:
            inputs, lengths: as in `RNN.forward`.
            state: (h_0, c_0); zeros by default.
            boundary: as in `unroll`.
            fused: use PyTorch's kernel if there is no clipping and no boundary. On some devices it
                can be differentiated only once.

        Returns:
            h_1 … h_T, and the last (h, c) of each sequence.
        """
        widths = (self.output_size, self.hidden_size)
        first, lengths = check_inputs("LSTM", inputs, self.U, state, widths, lengths)
        # The kernel infers a projection from the widths, so it misses a square one.
        square = self.P is not None and self.output_size == self.hidden_size
        clipped = self.cell_clip is not None or self.projection_clip is not None
        if fused and boundary is None and not clipped and not square:
            weights = [self.U, self.W, self.b, torch.zeros_like(self.b)]
            weights += [] if self.P is None else [self.P]
            with nullcontext() if self.P is None else _no_warning():
                outputs, (h, c) = run_kernel(torch.lstm, inputs, first, weights, lengths)
        else:
            projected = (
                zero_padding(inputs, lengths) @ self.U.T + self.b
            )  # [batch, time, 4 · hidden]
            outputs, (h, c) = unroll(self.step, projected, first, lengths, boundary)
        return outputs, (h, c)


@contextmanager
def _no_warning() -> Iterator[None]:
    """Ignore the warning that oneDNN, used on some CPUs, has no projection."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LSTM with projections")
        yield
