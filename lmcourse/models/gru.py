"""The GRU: gates without a second state (chapter 03).

Cho et al. (2014, "Learning phrase representations using RNN encoder–decoder for statistical machine
translation", section 2.3) let one gate choose between the old state and a new one, and another
choose how much of the old one the new one is made of. With σ the logistic function and ⊙ the
product entry by entry, and as PyTorch computes it:

    r_t = σ(U_r x_t + W_r h_{t-1} + b_r)                        reset gate
    z_t = σ(U_z x_t + W_z h_{t-1} + b_z)                        update gate
    n_t = tanh(U_n x_t + b_n' + r_t ⊙ (W_n h_{t-1} + b_n))      candidate
    h_t = (1 − z_t) ⊙ n_t + z_t ⊙ h_{t-1}

In the paper the reset gate stands before the product (equation 8): W_n (r_t ⊙ h_{t-1}). PyTorch
and cuDNN put it behind, so that one product serves all three rows; the two are different functions,
and weights of one are wrong in the other. Behind the product the gate scales a bias, too: so the
candidate has two biases that are not just added, b_n' outside and b_n inside.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.models.checkpoint import TorchCounterpart
from lmcourse.models.inputs import whole_number
from lmcourse.models.recurrence import Boundary, Lengths, check_inputs, run_kernel, unroll


class GRU(TorchCounterpart):
    """One layer, in one direction.

    Matrices and biases are stacked in PyTorch's order r, z, n; ``b`` is (b_r, b_z, b_n'), and
    ``b_n`` stands alone.

    Args:
        input_size: width of x_t.
        hidden_size: width of h_t.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        input_size = whole_number(input_size, "input_size", "GRU")
        hidden_size = whole_number(hidden_size, "hidden_size", "GRU")
        self.U = nn.Parameter(torch.empty(3 * hidden_size, input_size))
        self.W = nn.Parameter(torch.empty(3 * hidden_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(3 * hidden_size))
        self.b_n = nn.Parameter(torch.zeros(hidden_size))
        bound = 1 / math.sqrt(hidden_size)  # as torch.nn.GRU's start; biases start at zero
        nn.init.uniform_(self.U, -bound, bound)
        nn.init.uniform_(self.W, -bound, bound)

    @property
    def input_size(self) -> int:
        return self.U.shape[1]

    @property
    def hidden_size(self) -> int:
        return self.W.shape[1]

    def step(
        self, driven_t: Float[Tensor, "batch gates"], state: tuple[Float[Tensor, "batch hidden"]]
    ) -> tuple[Float[Tensor, "batch hidden"]]:
        """h_t from U x_t + b and h_{t-1}."""
        (h,) = state
        _, z, n = self.gates(driven_t, h)
        return ((1 - z) * n + z * h,)

    def gates(
        self, driven_t: Float[Tensor, "batch gates"], h: Float[Tensor, "batch hidden"]
    ) -> tuple[
        Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]
    ]:
        """(r_t, z_t, n_t), how far each gate is open and the candidate, from the same."""
        r_x, z_x, n_x = driven_t.chunk(3, dim=-1)
        r_h, z_h, n_h = (h @ self.W.T).chunk(3, dim=-1)
        r = (r_x + r_h).sigmoid()
        z = (z_x + z_h).sigmoid()
        n = torch.tanh(n_x + r * (n_h + self.b_n))
        return r, z, n

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: Float[Tensor, "batch hidden"] | None = None,
        lengths: Lengths | None = None,
        boundary: Boundary | None = None,
        *,
        fused: bool = True,
    ) -> tuple[Float[Tensor, "batch time hidden"], Float[Tensor, "batch hidden"]]:
        """Run over a batch of sequences.

        Args and errors are those of `lmcourse.models.rnn.RNN.forward`.

        Returns:
            h_1 … h_T, and the last state of each sequence.
        """
        widths = (self.hidden_size,)
        first, lengths = check_inputs("GRU", inputs, self.U, state, widths, lengths)
        if fused and boundary is None:
            inside = torch.cat([torch.zeros_like(self.b[: -self.hidden_size]), self.b_n])
            weights = [self.U, self.W, self.b, inside]
            hidden, (h,) = run_kernel(torch.gru, inputs, first, weights, lengths)
        else:
            driven = inputs @ self.U.T + self.b  # needs no recurrence: all steps at once
            hidden, (h,) = unroll(self.step, driven, first, lengths, boundary)
        return hidden, h
