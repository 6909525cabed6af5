"""Gradient norms over time against closed forms and finite differences."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.evaluation.gradient_flow import (
    gradient_flow,
    random_network,
    state_gradient_norms,
    with_spectral_radius,
)


@pytest.mark.parametrize("radius", [0.3, 1.0, 2.5])
def test_the_spectral_radius_is_set(radius):
    W = with_spectral_radius(torch.randn(9, 9, dtype=torch.float64), radius)
    assert torch.linalg.eigvals(W).abs().max().item() == pytest.approx(radius)


def test_a_linear_network_gives_powers_of_its_matrix():
    torch.manual_seed(0)
    W = torch.randn(5, 5, dtype=torch.float64)
    norms = state_gradient_norms(lambda t, h: h @ W.T + t, torch.zeros(5, dtype=torch.float64), 7)
    ones = torch.ones(5, dtype=torch.float64)
    wanted = [torch.linalg.matrix_power(W.T, 7 - t) @ ones for t in range(1, 8)]
    torch.testing.assert_close(norms, torch.stack([g.norm() for g in wanted]))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_truncation_cuts_and_leaves_the_rest(kind):
    full = gradient_flow(kind, 1.0, time=12, width=6)
    cut = gradient_flow(kind, 1.0, time=12, width=6, truncation=5)
    assert (cut[:7] == 0).all() and (full > 0).all()
    torch.testing.assert_close(cut[7:], full[7:])


def test_a_larger_forget_bias_keeps_more_of_the_lstms_gradient():
    first = [gradient_flow("LSTM", 0.9, forget_bias=b)[0].item() for b in (0.0, 1.0, 3.0)]
    assert first[0] < first[1] < first[2]
    open_gate = gradient_flow("LSTM", 0.5, forget_bias=20.0)  # the cell passes everything on
    assert open_gate[0] > 0.1 * open_gate[-1]


def test_the_kinds_read_the_same_last_loss():
    last = [gradient_flow(kind, 0.9)[-1].item() for kind in ("RNN", "LSTM", "GRU")]
    assert last == [pytest.approx(last[0])] * 3


@pytest.mark.bad_input
def test_an_unknown_cell_is_named():
    with pytest.raises(CourseError, match=r"'CNN'.*RNN, LSTM, GRU"):
        gradient_flow("CNN", 1.0)


@pytest.mark.parametrize(
    ("kind", "radius", "forget_bias", "first", "last"),
    [
        ("RNN", 0.7, 0.0, 1.0634e-19, 0.055794),
        ("LSTM", 1.3, 0.0, 1.4469e-11, 0.156964),
        ("LSTM", 1.0, 2.0, 0.021727, 0.908208),
    ],
)
def test_the_draw_is_the_one_that_chapter_02_was_written_with(
    kind, radius, forget_bias, first, last
):
    norms = gradient_flow(kind, radius, forget_bias=forget_bias)
    assert norms[0].item() == pytest.approx(first, rel=1e-3)
    assert norms[-7].item() == pytest.approx(last, rel=1e-3)


def test_every_kind_reads_the_same_inputs_and_has_weights_of_its_own():
    network = random_network(time=12, width=6, seed=3)
    assert network.inputs.shape == (12, 6) and network.read_out.shape == (6,)
    for kind, gates in (("RNN", 1), ("LSTM", 4), ("GRU", 3)):
        assert network.U[kind].shape == network.W[kind].shape == (6 * gates, 6)
        last = gradient_flow(kind, 1.0, time=12, width=6, seed=3)[-1].item()
        assert last == pytest.approx(network.read_out.norm().item())
    again = random_network(time=12, width=6, seed=3)
    assert torch.equal(again.W["LSTM"], network.W["LSTM"])
    unseeded = random_network(time=12, width=6)  # the seed that gradient_flow has by default
    assert torch.equal(unseeded.inputs, random_network(time=12, width=6, seed=0).inputs)
