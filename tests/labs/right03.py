"""Right answers to lab 03, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("03", RIGHT)


@right("parameters")
def parameters_of_pytorch(blocks, input_size, hidden_size, num_layers):
    kind = {1: nn.RNN, 3: nn.GRU, 4: nn.LSTM}[blocks]
    return sum(p.numel() for p in kind(input_size, hidden_size, num_layers).parameters())


@right("parameters")
def parameters_in_a_loop(blocks, input_size, hidden_size, num_layers):
    total, width = 0, input_size
    for _ in range(num_layers):
        total += width * hidden_size + hidden_size**2 + 2 * hidden_size
        width = hidden_size
    return np.int64(blocks * total)


@right("lstm")
def lstm_cell(x, h, c, U, W, b):
    cell = nn.LSTMCell(x.shape[1], h.shape[1])
    cell.weight_ih.data, cell.weight_hh.data, cell.bias_ih.data = U, W, b
    cell.bias_hh.data.zero_()
    return cell(x, (h, c))


@right("lstm")
def lstm_one_matrix(x, h, c, U, W, b):
    n = h.shape[1]
    a = torch.cat([h, x], 1) @ torch.cat([W, U], 1).T + b
    gates, g = torch.sigmoid(a), torch.tanh(a[:, 2 * n : 3 * n])
    c = gates[:, n : 2 * n] * c + gates[:, :n] * g
    return [gates[:, 3 * n :] * torch.tanh(c), c]


@right("lstm")
def lstm_numpy(x, h, c, U, W, b):
    a = (x @ U.T + h @ W.T + b).numpy()
    i, f, g, o = np.split(a, 4, axis=1)

    def sigma(v):
        return 1 / (1 + np.exp(-v))

    c = sigma(f) * c.numpy() + sigma(i) * np.tanh(g)
    return sigma(o) * np.tanh(c), c


@right("lstm")
def lstm_gate_by_gate(x, h, c, U, W, b):
    (U_i, U_f, U_g, U_o), (W_i, W_f, W_g, W_o) = U.split(len(U) // 4), W.split(len(W) // 4)
    b_i, b_f, b_g, b_o = b.split(len(b) // 4)
    i = torch.sigmoid(F.linear(x, U_i) + F.linear(h, W_i, b_i))
    f = torch.sigmoid(F.linear(x, U_f) + F.linear(h, W_f, b_f))
    g = torch.tanh(F.linear(x, U_g) + F.linear(h, W_g, b_g))
    o = torch.sigmoid(F.linear(x, U_o) + F.linear(h, W_o, b_o))
    new = torch.addcmul(f * c, i, g)
    return torch.stack([o * torch.tanh(new), new])


@right("gru")
def gru_cell_and_paper(x, h, U, W, b, b_n, reset_first):
    n = h.shape[1]
    if not reset_first:
        cell = nn.GRUCell(x.shape[1], n)
        cell.weight_ih.data, cell.weight_hh.data, cell.bias_ih.data = U, W, b
        cell.bias_hh.data = torch.cat([torch.zeros(2 * n), b_n])
        return cell(x, h)
    r, z = torch.sigmoid(x @ U[: 2 * n].T + h @ W[: 2 * n].T + b[: 2 * n]).chunk(2, 1)
    new = torch.tanh(x @ U[2 * n :].T + b[2 * n :] + b_n + (r * h) @ W[2 * n :].T)
    return torch.lerp(new, h, z)


@right("gru")
def gru_rows(x, h, U, W, b, b_n, reset_first):
    n, rows = h.shape[1], []
    for one, state in zip(x, h, strict=True):
        a, s = U @ one + b, W[: 2 * n] @ state
        r, z = torch.sigmoid(a[:n] + s[:n]), torch.sigmoid(a[n : 2 * n] + s[n:])
        read = W[2 * n :] @ (r * state) + b_n if reset_first else (W[2 * n :] @ state + b_n) * r
        rows.append(state * z + torch.tanh(a[2 * n :] + read) * (1 - z))
    return rows


@right("bias")
def bias_by_expm1(steps):
    return -torch.log(torch.expm1(math.log(2) / steps.double()))


@right("bias")
def bias_in_float64(steps):
    f = 0.5 ** (1 / steps.double())
    return torch.log(f / (1 - f))


@right("bias")
def bias_as_a_list(steps):
    return [-math.log(math.expm1(math.log(2) / T)) for T in steps.tolist()]


@right("bias")
def bias_numpy(steps):
    f = np.exp2(-1 / steps.numpy().astype(np.float64))
    return np.log(f) - np.log1p(-f)


@right("peepholes")
def peepholes_gate_by_gate(x, h, c, U, W, b, p_i, p_f, p_o):
    n = h.shape[1]
    a = x @ U.T + h @ W.T + b
    i = torch.sigmoid(a[:, :n] + c * p_i)
    f = torch.sigmoid(a[:, n : 2 * n] + c * p_f)
    new = f * c + i * torch.tanh(a[:, 2 * n : 3 * n])
    o = torch.sigmoid(a[:, 3 * n :] + new * p_o)
    return o * torch.tanh(new), new


@right("peepholes")
def peepholes_as_diagonal_matrices(x, h, c, U, W, b, p_i, p_f, p_o):
    i, f, g, o = torch.split(torch.cat([x, h], 1) @ torch.cat([U, W], 1).T + b, h.shape[1], 1)
    i, f = (i + c @ torch.diag(p_i)).sigmoid(), (f + c @ torch.diag(p_f)).sigmoid()
    c = f * c + i * g.tanh()
    return (o + c @ torch.diag(p_o)).sigmoid() * c.tanh(), c


@right("unit")
def unit_corrcoef(states, values, split):
    def correlations(c, y):
        return torch.corrcoef(torch.cat([y[None], c.T]))[0, 1:].nan_to_num(0)

    first = correlations(states[:split], values[:split])
    second = correlations(states[split:], values[split:])
    unit = first.abs().max(0).indices
    return unit, first[unit], second[unit]


@right("unit")
def unit_standardized(states, values, split):
    def r(c, y):
        c, y = c - c.mean(), y - y.mean()
        scale = ((c**2).mean() * (y**2).mean()).sqrt()
        return float((c * y).mean() / scale) if scale > 1e-9 else 0.0

    scores = [r(column[:split], values[:split]) for column in states.T]
    best = max(range(len(scores)), key=lambda unit: abs(scores[unit]))
    return [best, scores[best], r(states[split:, best], values[split:])]


@right("unit")
def unit_numpy(states, values, split):
    c, y = states.numpy(), values.numpy()
    live = c[:split].std(0) > 0
    found = np.zeros(c.shape[1])
    for unit in np.flatnonzero(live):
        found[unit] = np.corrcoef(c[:split, unit], y[:split])[0, 1]
    best = int(np.argmax(np.abs(found)))
    varies = y[split:].std() > 0 and c[split:, best].std() > 0
    late = np.corrcoef(c[split:, best], y[split:])[0, 1] if varies else 0
    return best, found[best], late
