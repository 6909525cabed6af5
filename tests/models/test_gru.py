"""The GRU's two forms are two functions; ours is PyTorch's (the parity table)."""

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.gru import GRU


def paper_step(layer: GRU, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    """Cho et al. (2014, equations 5 to 8): the reset gate before the product."""
    U_r, U_z, U_n = layer.U.chunk(3)
    W_r, W_z, W_n = layer.W.chunk(3)
    r = torch.sigmoid(x @ U_r.T + h @ W_r.T)
    z = torch.sigmoid(x @ U_z.T + h @ W_z.T)
    return (1 - z) * torch.tanh(x @ U_n.T + (r * h) @ W_n.T) + z * h


def test_the_papers_form_agrees_where_every_reset_gate_is_open_and_not_elsewhere():
    torch.manual_seed(0)
    layer, x, h = GRU(3, 4).double(), torch.randn(2, 3).double(), torch.randn(2, 4).double()
    assert (layer(x[:, None], h)[1] - paper_step(layer, x, h)).abs().max() > 1e-3
    with torch.no_grad():
        layer.U[:4] = layer.W[:4] = 0
        layer.U[:4, 0] = 100 * x[0, 0].sign()
    torch.testing.assert_close(layer(x[:1, None], h[:1])[1], paper_step(layer, x[:1], h[:1]))


def test_a_closed_update_gate_keeps_the_state():
    layer = GRU(3, 4)
    with torch.no_grad():
        layer.b[4:8] = 50.0  # z = 1
    h = torch.randn(2, 4)
    for fused in (True, False):
        _, last = layer(torch.randn(2, 30, 3), h, fused=fused)
        torch.testing.assert_close(last, h)


def test_the_candidates_two_biases_go_where_torch_has_them():
    layer = GRU(2, 3)
    with torch.no_grad():
        layer.b.normal_(), layer.b_n.normal_()
    theirs = layer.to_torch()
    assert torch.equal(theirs.bias_ih_l0, layer.b)
    assert torch.equal(theirs.bias_hh_l0, torch.cat([torch.zeros(6), layer.b_n]))
    with torch.no_grad():
        theirs.bias_hh_l0[:6] = 1.0  # only ever added, so they may be summed
    torch.testing.assert_close(GRU.from_torch(theirs).b[:6], layer.b[:6] + 1)
    assert torch.equal(GRU.from_torch(theirs).b[6:], layer.b[6:])


def test_the_gates_are_those_of_the_step_in_order():
    torch.manual_seed(0)
    layer, x, h = GRU(3, 4), torch.randn(2, 3), torch.randn(2, 4)
    projected = x @ layer.U.T + layer.b
    r, z, n = layer.gates(projected, h)
    torch.testing.assert_close(layer.step(projected, (h,))[0], (1 - z) * n + z * h)
    torch.testing.assert_close(r, (x @ layer.U[:4].T + h @ layer.W[:4].T).sigmoid())
    torch.testing.assert_close(z, (x @ layer.U[4:8].T + h @ layer.W[4:8].T).sigmoid())
    torch.testing.assert_close(n, (x @ layer.U[8:].T + r * (h @ layer.W[8:].T)).tanh())


@pytest.mark.bad_input
def test_bad_input_is_named():
    with pytest.raises(CourseError, match=r"This GRU takes \(batch, time, 2\)"):
        GRU(2, 3)(torch.zeros(1, 2, 3))
    with pytest.raises(CourseError, match=r"\(2, 3\).*\(1, 3\)"):
        GRU(2, 3)(torch.zeros(1, 2, 2), torch.zeros(2, 3))
    with pytest.raises(CourseError, match="cannot be built from a LSTM"):
        GRU.from_torch(nn.LSTM(2, 3))
