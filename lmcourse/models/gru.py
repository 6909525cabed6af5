"""The GRU: gates without a second state (chapter 03).

In Cho et al. (2014, "Learning phrase representations using RNN encoder–decoder for statistical
machine translation", section 2.3), the update gate interpolates between the old state and a
candidate, and the reset gate scales the old state's part in the candidate. With σ the logistic
function and ⊙ the elementwise product, and as PyTorch computes it:

    r_t = σ(U_r x_t + W_r h_{t-1} + b_r)                        reset gate
    z_t = σ(U_z x_t + W_z h_{t-1} + b_z)                        update gate
    n_t = tanh(U_n x_t + b_n' + r_t ⊙ (W_n h_{t-1} + b_n))      candidate
    h_t = (1 − z_t) ⊙ n_t + z_t ⊙ h_{t-1}

The paper applies the reset gate before the product (equation 8), W_n (r_t ⊙ h_{t-1}); PyTorch and
cuDNN after it, so that one product serves all three rows. These are different functions, with
different weights. Applied after the product, the gate also scales a bias, so the candidate has two
biases, b_n' outside and b_n inside.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import check_sizes
from lmcourse.models.conversion.recurrent import GRU_LAYER
from lmcourse.models.conversion.torch_layers import FromTorch
from lmcourse.models.recurrence import (
    Boundary,
    Lengths,
    check_inputs,
    run_kernel,
    unroll,
    zero_padding,
)


class GRU(FromTorch):
    """One layer, in one direction.

    Matrices and biases are stacked in PyTorch's order r, z, n; ``b`` is (b_r, b_z, b_n'), and
    ``b_n`` is separate.

    Args:
        input_size: width of x_t.
        hidden_size: width of h_t.
    """

    torch_layer = GRU_LAYER

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        self.U = nn.Parameter(torch.empty(3 * hidden_size, input_size))
        self.W = nn.Parameter(torch.empty(3 * hidden_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(3 * hidden_size))
        self.b_n = nn.Parameter(torch.zeros(hidden_size))
        bound = 1 / math.sqrt(hidden_size)  # as in torch.nn.GRU; biases start at zero
        nn.init.uniform_(self.U, -bound, bound)
        nn.init.uniform_(self.W, -bound, bound)

    @property
    def input_size(self) -> int:
        return self.U.shape[1]

    @property
    def hidden_size(self) -> int:
        return self.W.shape[1]

    def step(
        self, projected_t: Float[Tensor, "batch gates"], state: tuple[Float[Tensor, "batch hidden"]]
    ) -> tuple[Float[Tensor, "batch hidden"]]:
        """Return h_t from U x_t + b and h_{t-1}."""
        (h,) = state
        _, z, n = self.gates(projected_t, h)
        return ((1 - z) * n + z * h,)

    def gates(
        self, projected_t: Float[Tensor, "batch gates"], h: Float[Tensor, "batch hidden"]
    ) -> tuple[
        Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]
    ]:
        """Return the gates and the candidate, (r_t, z_t, n_t)."""
        r_x, z_x, n_x = projected_t.chunk(3, dim=-1)
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
        """Apply the layer to a batch of sequences; arguments as for `RNN.forward`.

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
            projected = (
                zero_padding(inputs, lengths) @ self.U.T + self.b
            )  # [batch, time, 3 · hidden]
            hidden, (h,) = unroll(self.step, projected, first, lengths, boundary)
        return hidden, h
