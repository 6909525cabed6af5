"""The LSTM: a cell that carries what it remembers past the steps that do not need it (chapter 03).

Hochreiter and Schmidhuber (1997, "Long short-term memory") add a cell state c to the hidden state
h, and gates that decide what goes in and out; Gers et al. (2000, "Learning to forget") add the
gate that decides what stays. With σ the logistic function and ⊙ the product entry by entry:

    i_t = σ(U_i x_t + W_i h_{t-1} + b_i)          input gate
    f_t = σ(U_f x_t + W_f h_{t-1} + b_f)          forget gate
    g_t = tanh(U_g x_t + W_g h_{t-1} + b_g)       candidate
    o_t = σ(U_o x_t + W_o h_{t-1} + b_o)          output gate
    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t
    h_t = o_t ⊙ tanh(c_t)

The gradient flows from c_t to c_{t-1} through ⊙ f_t alone: where the forget gate is 1, it arrives
as it left.

A projection (Sak et al. 2014, "Long short-term memory based recurrent neural network architectures
for large scale acoustic modeling", section 2) makes h narrower than c: h_t = P (o_t ⊙ tanh(c_t)).
ELMo clips besides: every entry of c_t after its update, and of h_t after the projection.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import TorchCounterpart
from lmcourse.models.inputs import positive_number, whole_number
from lmcourse.models.recurrence import Boundary, Lengths, check_inputs, run_kernel, unroll


class LSTM(TorchCounterpart):
    """One layer, in one direction.

    The gates' matrices and biases are stacked in PyTorch's order i, f, g, o; where PyTorch keeps
    two biases that are only ever added, there is one.

    So b_f is ``b[hidden_size : 2 * hidden_size]``. It starts at 0, as the rest of b. Jozefowicz et
    al. (2015, "An empirical exploration of recurrent network architectures") set it to 1 at the
    start: then the cell remembers until it learns to forget.

    Args:
        input_size: width of x_t.
        hidden_size: width of c_t, and of h_t where it is not projected.
        projection_size: width of h_t; 0: no projection.
        cell_clip: the largest modulus that an entry of c_t may have; None: any.
        projection_clip: the same for the projected h_t.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        projection_size: int = 0,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
    ) -> None:
        super().__init__()
        input_size = whole_number(input_size, "input_size", "LSTM")
        hidden_size = whole_number(hidden_size, "hidden_size", "LSTM")
        projection_size = whole_number(projection_size, "projection_size", "LSTM", least=0)
        if cell_clip is not None:
            cell_clip = positive_number(cell_clip, "cell_clip", "LSTM")
        if projection_clip is not None:
            projection_clip = positive_number(projection_clip, "projection_clip", "LSTM")
        if projection_clip is not None and not projection_size:
            raise CourseError(
                f"The projection is to be clipped to {projection_clip}, and there is none.",
                "Give a projection_size, or no projection_clip.",
            )
        self.hidden_size = hidden_size
        self.projection_size = projection_size
        self.cell_clip = cell_clip
        self.projection_clip = projection_clip
        output_size = projection_size or hidden_size
        self.U = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.W = nn.Parameter(torch.empty(4 * hidden_size, output_size))
        self.b = nn.Parameter(torch.zeros(4 * hidden_size))
        self.P = nn.Parameter(torch.empty(output_size, hidden_size)) if projection_size else None
        bound = 1 / math.sqrt(hidden_size)  # as torch.nn.LSTM's start; b starts at zero
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
        driven_t: Float[Tensor, "batch gates"],
        state: tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]],
    ) -> tuple[Float[Tensor, "batch output"], Float[Tensor, "batch hidden"]]:
        """(h_t, c_t) from U x_t + b and (h_{t-1}, c_{t-1})."""
        h, c = state
        i, f, g, o = self.gates(driven_t, h)
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
        self, driven_t: Float[Tensor, "batch gates"], h: Float[Tensor, "batch output"]
    ) -> tuple[
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
        Float[Tensor, "batch hidden"],
    ]:
        """(i_t, f_t, g_t, o_t), how far each gate is open and the candidate, from the same."""
        i, f, g, o = (driven_t + h @ self.W.T).chunk(4, dim=-1)
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
        """Run over a batch of sequences.

        Args:
            inputs: x_1 … x_T of each sequence.
            state: (h_0, c_0); zeros if it is not given.
            lengths: how many steps of each sequence are real. Beyond them the state stands still
                and the output is zero.
            boundary: as in `unroll`.
            fused: whether PyTorch's kernel may take the steps. It cannot where something is clipped
                or a boundary stands, and on some devices it can be differentiated only once.

        Returns:
            h_1 … h_T, and the last (h, c) of each sequence.

        Raises:
            CourseError: a shape or a type does not fit.
        """
        widths = (self.output_size, self.hidden_size)
        first, lengths = check_inputs("LSTM", inputs, self.U, state, widths, lengths)
        # The kernel sees by the widths whether there is a projection: not a square one.
        square = self.P is not None and self.output_size == self.hidden_size
        clipped = self.cell_clip is not None or self.projection_clip is not None
        if fused and boundary is None and not clipped and not square:
            weights = [self.U, self.W, self.b, torch.zeros_like(self.b)]
            weights += [] if self.P is None else [self.P]
            with nullcontext() if self.P is None else _no_warning():
                outputs, (h, c) = run_kernel(torch.lstm, inputs, first, weights, lengths)
        else:
            driven = inputs @ self.U.T + self.b  # needs no recurrence: all steps at once
            outputs, (h, c) = unroll(self.step, driven, first, lengths, boundary)
        return outputs, (h, c)


@contextmanager
def _no_warning() -> Iterator[None]:
    """Without the warning that oneDNN, which computes LSTMs on some CPUs, has no projection."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LSTM with projections")
        yield
