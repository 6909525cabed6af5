"""One step of an LSTM, the GRU in both forms, peepholes."""

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def lstm_step(
    x: Tensor, h: Tensor, c: Tensor, U: Tensor, W: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    i, f, g, o = (x @ U.T + h @ W.T + b).chunk(4, dim=-1)
    new_c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * new_c.tanh(), new_c


def _cell(seed: int, batch: int, width: int, hidden: int, gates: int, more: int = 0) -> Example:
    """x, h, (c,) U, W, b and ``more`` vectors; h and c are no results of a tanh."""
    states = 2 if gates == 4 else 1
    shapes: list[tuple[int, ...]] = [
        (batch, width),
        *[(batch, hidden)] * states,
        (gates * hidden, width),
    ]
    shapes += [(gates * hidden, hidden), (gates * hidden,), *[(hidden,)] * more]
    return tuple(normal(*shape, seed=(seed, k)).float() for k, shape in enumerate(shapes))


_BOTH = ("h_t", "c_t")
_EQUAL_SIZES = """
The gates are in another order. The rows of `U`, `W` and `b` are those of i, f, g, o, one block
after the other.
    i, f, g, o = -> f, i, g, o = || i, f, o, g = || i, g, f, o = || i, o, g, f = || o, f, g, i =
        || f, i, o, g =
    or
    .chunk(4, dim=-1) -> .unflatten(-1, (-1, 4)).unbind(-1)
A matrix is not transposed. Each state is a row: (W h)ᵀ = hᵀ Wᵀ, and likewise for `U`.
    h @ W.T -> h @ W.view(W.shape[::-1])
    or
    x @ U.T -> x @ U.view(U.shape[::-1])
    or
    h @ W.T -> h @ W.view(W.shape[::-1])
    x @ U.T -> x @ U.view(U.shape[::-1])
    or
    (x @ U.T + h @ W.T + b) -> (x @ U + h @ W + b)
States and matrices are concatenated in different orders: [x; h] goes with [U, W], [h; x] with
[W, U].
    (x @ U.T + h @ W.T + b) -> (torch.cat([x, h], 1) @ torch.cat([W, U], 1).T + b)
"""

LSTM_STEP = Task(
    lstm_step,
    examples=[_cell(0, 3, 5, 4, 4), _cell(1, 2, 3, 6, 4), _cell(2, 4, 7, 2, 4)],
    slips=f"""{_EQUAL_SIZES}
h_t is computed from the old cell state. Update c first: h_t shows the new one.
    new_c.tanh(), -> c.tanh(),
The tanh of c_t is missing, or another function: h_t = o_t ⊙ tanh(c_t).
    new_c.tanh(), -> new_c, || new_c.sigmoid(),
    or
    return o.sigmoid() * new_c.tanh(), -> return (o.sigmoid() * new_c).tanh(),
A gate or the candidate has the wrong activation: σ for the gates, tanh for the candidate.
    g.tanh() -> g.sigmoid() || g
    or
    f.sigmoid() -> f.tanh() || f
    or
    i.sigmoid() -> i.tanh() || i
    or
    o.sigmoid() -> o.tanh() || o
    or
    f.sigmoid() -> f
    i.sigmoid() -> i
    o.sigmoid() -> o
The states are in another order, or one of them is not the new one: return (h_t, c_t).
    return o.sigmoid() * new_c.tanh(), new_c -> return new_c, o.sigmoid() * new_c.tanh() ||
        return o.sigmoid() * new_c.tanh(), c ||
        return o.sigmoid() * new_c.tanh(), o.sigmoid() * new_c.tanh()
The forget gate is inverted. f_t is the share that is kept: 1 keeps everything.
    f.sigmoid() * c -> (1 - f.sigmoid()) * c
The new cell state lacks the old one, or the new content: c_t = f_t ⊙ c_{{t−1}} + i_t ⊙ g_t.
    f.sigmoid() * c + -> f.sigmoid() * || f.sigmoid() * h +
    or
    f.sigmoid() * c + i.sigmoid() * g.tanh() -> f.sigmoid() * c || i.sigmoid() * g.tanh() ||
        f.sigmoid() * c + g.tanh() || c + i.sigmoid() * g.tanh()
The two gates are tied, i_t = 1 − f_t. That is the variant with coupled gates, and saves a matrix.
    i.sigmoid() * g.tanh() -> (1 - f.sigmoid()) * g.tanh()
    or
    f.sigmoid() * c -> (1 - i.sigmoid()) * c
The bias is missing, or added twice. It is added once, before the activations.
    + b) -> ) || + 2 * b)
The gates read h_{{t−1}} − 1, or c_{{t−1}}, or no state. They read the last hidden state, h.
    h @ W.T -> (h - 1) @ W.T || c @ W.T || 0
""",
    names=_BOTH,
    note="With copied weights, this is torch.nn.LSTMCell; its two biases are added to one.",
)


def gru_step(
    x: Tensor, h: Tensor, U: Tensor, W: Tensor, b: Tensor, b_n: Tensor, reset_first: bool
) -> Tensor:
    (r_x, z_x, n_x), (W_r, W_z, W_n) = (x @ U.T + b).chunk(3, -1), W.chunk(3)
    r = torch.sigmoid(r_x + h @ W_r.T)
    z = torch.sigmoid(z_x + h @ W_z.T)
    inside = (r * h) @ W_n.T + b_n if reset_first else r * (h @ W_n.T + b_n)
    n = torch.tanh(n_x + inside)
    return (1 - z) * n + z * h


def _gru(seed: int, batch: int, width: int, hidden: int) -> list[Example]:
    return [(*_cell(seed, batch, width, hidden, 3, 1), first) for first in (True, False)]


def _one_form(arguments: Example, value: Result, wanted: Result) -> str:
    if arguments[-1]:
        return (
            "The result for `reset_first=True`, the paper's form, is wrong. Compare r, z, n and "
            "h_t with the equations; PyTorch's form is checked after it."
        )
    return "The paper's form is right, PyTorch's (`reset_first=False`) is wrong: compare its n_t."


GRU_STEP = Task(
    gru_step,
    examples=[*_gru(0, 3, 5, 4), *_gru(1, 2, 3, 6)],
    slips="""
The two forms are exchanged, or both calls give the same one. With `reset_first` the gate multiplies
h_{t−1} before W_n, without it the product W_n h_{t−1} + b_n.
    if reset_first else -> if True else || if False else || if not reset_first else
The shares of old and new are wrong: z_t is the share of h_{t−1}, and 1 − z_t that of n_t.
    (1 - z) * n + z * h -> z * n + (1 - z) * h || n + z * h || (1 - z) * n + h
Reset and update gate are exchanged, or the blocks are in another order: r, z, n.
    (r_x, z_x, n_x), (W_r, W_z, W_n) -> (z_x, r_x, n_x), (W_z, W_r, W_n) ||
        (n_x, r_x, z_x), (W_n, W_r, W_z) || (r_x, n_x, z_x), (W_r, W_n, W_z)
In PyTorch's form the inner bias b_n is outside the gate. There, r_t multiplies W_n h_{t−1} + b_n.
    r * (h @ W_n.T + b_n) -> r * (h @ W_n.T) + b_n
In the paper's form the bias b_n is reset as well. The gate multiplies h_{t−1} alone.
    (r * h) @ W_n.T + b_n if -> (r * h) @ W_n.T + r * b_n if
A bias is missing. `b` belongs to all three blocks of the input's part, and b_n to the candidate.
    (r * h) @ W_n.T + b_n if -> (r * h) @ W_n.T if
    r * (h @ W_n.T + b_n) -> r * (h @ W_n.T)
    or
    (x @ U.T + b) -> (x @ U.T)
The reset gate also scales the input's part a_t. It multiplies what the candidate reads of the old
state.
    torch.tanh(n_x + inside) -> torch.tanh(r * n_x + inside) ||
        torch.tanh((1 if reset_first else r) * n_x + inside)
The reset gate is not used, used twice or inverted. r_t multiplies once.
    r * h) @ W_n.T + b_n if -> (1 - r) * h) @ W_n.T + b_n if
    r * (h @ W_n.T + b_n) -> (1 - r) * (h @ W_n.T + b_n)
    or
    (r * h) @ W_n.T + b_n if -> h @ W_n.T + b_n if
    r * (h @ W_n.T + b_n) -> (h @ W_n.T + b_n)
    or
    (r * h) @ W_n.T + b_n if -> r * ((r * h) @ W_n.T + b_n) if
    or
    r * (h @ W_n.T + b_n) -> r * ((r * h) @ W_n.T + b_n)
The reset gate acts outside the candidate. The update gate and the last line use h_{t−1} itself.
    + z * h -> + z * r * h
    or
    z_x + h @ W_z.T -> z_x + (r * h) @ W_z.T
The candidate has no tanh, or a sigmoid.
    torch.tanh(n_x + inside) -> (n_x + inside) || torch.sigmoid(n_x + inside)
W_n h_{t−1} is added twice, once without the reset gate. Only r and z need W h_{t−1} without it.
    n_x + inside -> n_x + h @ W_n.T + inside
A matrix is not transposed. Each state is a row: (W h)ᵀ = hᵀ Wᵀ.
    h @ W_r.T -> h @ W_r
    h @ W_z.T -> h @ W_z
    (r * h) @ W_n.T + b_n if -> (r * h) @ W_n + b_n if
    r * (h @ W_n.T + b_n) -> r * (h @ W_n + b_n)
    or
    (r * h) @ W_n.T + b_n if -> (r * h) @ W_n + b_n if
    r * (h @ W_n.T + b_n) -> r * (h @ W_n + b_n)
""",
    cause=_one_form,
    note="The same weights, two functions: a checkpoint of one form is wrong in the other.",
)


def peephole_step(
    x: Tensor,
    h: Tensor,
    c: Tensor,
    U: Tensor,
    W: Tensor,
    b: Tensor,
    p_i: Tensor,
    p_f: Tensor,
    p_o: Tensor,
) -> tuple[Tensor, Tensor]:
    i, f, g, o = (x @ U.T + h @ W.T + b).chunk(4, dim=-1)
    i, f = torch.sigmoid(i + p_i * c), torch.sigmoid(f + p_f * c)
    new_c = f * c + i * g.tanh()
    return torch.sigmoid(o + p_o * new_c) * new_c.tanh(), new_c


PEEPHOLES = Task(
    peephole_step,
    examples=[_cell(3, 3, 5, 4, 4, 3), _cell(4, 2, 3, 6, 4, 3), _cell(5, 4, 7, 2, 4, 3)],
    slips="""
The output gate reads the old cell state. By then the new one is known: it reads c_t.
    p_o * new_c -> p_o * c
A gate has no peephole. All three read the cell state: i and f the old one, o the new one.
    i + p_i * c -> i
    or
    f + p_f * c -> f
    or
    o + p_o * new_c -> o
    or
    i + p_i * c -> i
    f + p_f * c -> f
    o + p_o * new_c -> o
The vectors of two gates are exchanged.
    i + p_i * c -> i + p_f * c
    f + p_f * c -> f + p_i * c
    or
    i + p_i * c -> i + p_o * c
    p_o * new_c -> p_i * new_c
    or
    f + p_f * c -> f + p_o * c
    p_o * new_c -> p_f * new_c
The peepholes are added after the sigmoid, so a gate can leave the range from 0 to 1.
    torch.sigmoid(i + p_i * c), torch.sigmoid(f + p_f * c) ->
        torch.sigmoid(i) + p_i * c, torch.sigmoid(f) + p_f * c
    torch.sigmoid(o + p_o * new_c) -> (torch.sigmoid(o) + p_o * new_c)
The gates read tanh(c). Peepholes read c itself.
    i + p_i * c -> i + p_i * c.tanh()
    f + p_f * c -> f + p_f * c.tanh()
    p_o * new_c -> p_o * new_c.tanh()
    or
    p_o * new_c -> p_o * new_c.tanh()
A peephole is a vector that multiplies the cell state entry by entry, and the product is added.
    i + p_i * c -> i + (p_i * c).sum(-1, keepdim=True)
    f + p_f * c -> f + (p_f * c).sum(-1, keepdim=True)
    p_o * new_c -> (p_o * new_c).sum(-1, keepdim=True)
    or
    i + p_i * c -> i * p_i * c
    f + p_f * c -> f * p_f * c
    o + p_o * new_c -> o * p_o * new_c
The input gate reads a cell state that is partly or wholly new. Like f_t, it reads c_{t−1}.
    i, f = torch.sigmoid(i + p_i * c), torch.sigmoid(f + p_f * c) ->
        f = torch.sigmoid(f + p_f * c); i = torch.sigmoid(i + p_i * (f * c)) ||
        f = torch.sigmoid(f + p_f * c);
        i = torch.sigmoid(i + p_i * (f * c + torch.sigmoid(i) * g.tanh()))
The last line is h_t = o_t ⊙ tanh(c_t), with the new cell state.
    * new_c.tanh(), -> * c.tanh(), || * new_c,
The gates read h through the peepholes; h is read through `W` already. Peepholes read c.
    i + p_i * c -> i + p_i * h
    f + p_f * c -> f + p_f * h
    p_o * new_c -> p_o * h
The candidate reads the cell state, too. Only the three gates have peepholes.
    i * g.tanh() -> i * (g + p_i * c).tanh() || i * (g + p_f * c).tanh()
The gates are in another order. The blocks are those of i, f, g, o.
    i, f, g, o = -> f, i, g, o = || i, f, o, g =
The states are in another order, or one of them is not the new one: return (h_t, c_t).
    return torch.sigmoid(o + p_o * new_c) * new_c.tanh(), new_c ->
        return new_c, torch.sigmoid(o + p_o * new_c) * new_c.tanh() ||
        return torch.sigmoid(o + p_o * new_c) * new_c.tanh(), c
""",
    names=_BOTH,
    note="Each unit's gates read only its own cell, so peepholes cost three vectors.",
)
