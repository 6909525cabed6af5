"""What the LSTM does besides equaling `torch.nn.LSTM` (the parity table): clips, bad input."""

import warnings

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.lstm import LSTM


@pytest.fixture
def inputs():
    torch.manual_seed(0)
    return torch.randn(3, 7, 4)


def test_what_is_clipped_stays_within(inputs):
    layer = LSTM(4, 6, projection_size=2, cell_clip=0.1, projection_clip=0.02)
    outputs, (_, c) = layer(inputs)
    assert outputs.abs().max().item() == pytest.approx(0.02)
    assert c.abs().max().item() == pytest.approx(0.1)
    free = LSTM(4, 6, projection_size=2)
    free.load_state_dict(layer.state_dict())
    assert free(inputs)[0].abs().max() > 0.02
    wide = LSTM(4, 6, projection_size=2, cell_clip=1e3, projection_clip=1e3)
    wide.load_state_dict(layer.state_dict())
    torch.testing.assert_close(wide(inputs)[0], free(inputs)[0])  # the loop equals the kernel


def test_a_projection_is_clipped_alone(inputs):
    layer = LSTM(4, 6, projection_size=2, projection_clip=0.02)
    outputs, (_, c) = layer(inputs)
    assert outputs.abs().max().item() == pytest.approx(0.02) and c.abs().max() > 0.02


def test_the_forget_gate_alone_carries_the_gradient():
    layer = LSTM(1, 3)
    with torch.no_grad():
        layer.W.zero_()
        layer.b[3:6] = 50.0  # the forget gate is 1
    c0 = torch.randn(1, 3, requires_grad=True)
    _, (_, c) = layer(torch.randn(1, 40, 1), (torch.zeros(1, 3), c0), fused=False)
    c.sum().backward()
    torch.testing.assert_close(c0.grad, torch.ones(1, 3))


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
def test_a_sequence_of_no_steps_keeps_its_state(inputs, fused):
    layer = LSTM(4, 6, projection_size=2)
    state = torch.randn(3, 2), torch.randn(3, 6)
    outputs, (h, c) = layer(inputs, state, torch.tensor([7, 0, 2]), fused=fused)
    assert not outputs[1].any() and not outputs[2, 2:].any()
    assert torch.equal(h[1], state[0][1]) and torch.equal(c[1], state[1][1])
    alone, (_, c_alone) = layer(inputs[2:, :2], tuple(part[2:] for part in state), fused=fused)
    torch.testing.assert_close(outputs[2:, :2], alone)
    torch.testing.assert_close(c[2:], c_alone)


def test_the_kernel_keeps_what_backward_needs_in_evaluation_too(inputs, monkeypatch):
    flags, kernel = [], torch.lstm

    def watched(inputs, state, weights, biases, layers, dropout, train, two, batch_first):
        flags.append(train)
        return kernel(inputs, state, weights, biases, layers, dropout, train, two, batch_first)

    monkeypatch.setattr(torch, "lstm", watched)
    layer = LSTM(4, 6).eval()
    layer(inputs)
    with torch.no_grad():
        layer(inputs)
    assert flags == [True, False]  # cuDNN takes it for "will be differentiated"


def test_a_projection_makes_no_warning(inputs, recwarn):
    torch.set_warn_always(True)  # PyTorch would say it only once in a process
    try:
        LSTM(4, 6, projection_size=2)(inputs)
    finally:
        torch.set_warn_always(False)
    assert not recwarn.list


def test_without_a_projection_there_is_no_warning_to_silence(inputs, monkeypatch):
    """To silence one changes what the whole process warns of, and torch.compile stops there."""

    def silenced(*_, **__):
        raise AssertionError("all warnings are caught")

    monkeypatch.setattr(warnings, "catch_warnings", silenced)
    LSTM(4, 6)(inputs)
    with pytest.raises(AssertionError):
        LSTM(4, 6, projection_size=2)(inputs)


def test_the_gates_are_those_of_the_step_in_order(inputs):
    layer, h, c = LSTM(4, 6, projection_size=2), torch.randn(3, 2), torch.randn(3, 6)
    with torch.no_grad():
        layer.b[6:12] = 1.0  # the forget gate's
    projected = inputs[:, 0] @ layer.U.T + layer.b
    i, f, g, o = layer.gates(projected, h)
    new_h, new_c = layer.step(projected, (h, c))
    torch.testing.assert_close(new_c, f * c + i * g)
    torch.testing.assert_close(new_h, (o * new_c.tanh()) @ layer.P.T)
    for number, gate in enumerate((i, f, g, o)):
        rows = slice(6 * number, 6 * number + 6)
        expected = inputs[:, 0] @ layer.U[rows].T + h @ layer.W[rows].T + (number == 1)
        expected = expected.tanh() if number == 2 else expected.sigmoid()
        torch.testing.assert_close(gate, expected)


def test_a_clip_has_no_counterpart():
    with pytest.raises(CourseError, match="cannot clip"):
        LSTM(4, 6, cell_clip=3.0).to_torch()


@pytest.mark.parametrize("projection_size", [6, 9])
def test_a_projection_may_be_as_wide_as_the_state_or_wider(inputs, projection_size):
    layer = LSTM(4, 6, projection_size)
    outputs, (_, c) = layer(inputs)
    readable, (_, c_readable) = layer(inputs, fused=False)
    torch.testing.assert_close(outputs, readable)
    torch.testing.assert_close(c, c_readable)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("state", "words"),
    [
        ((torch.zeros(3, 6), torch.zeros(3, 2)), r"\(3, 6\) and \(3, 2\).*\(3, 2\) and \(3, 6\)"),
        ((torch.zeros(3, 2),), r"\(3, 2\)\..*\(3, 2\) and \(3, 6\)"),
        (torch.zeros(3, 2), r"\(3, 2\)\..*\(3, 2\) and \(3, 6\)"),
    ],
)
def test_a_state_that_does_not_fit_is_named(inputs, state, words):
    with pytest.raises(CourseError, match=words):
        LSTM(4, 6, projection_size=2)(inputs, state)


def test_only_its_counterpart_is_taken_over():
    with pytest.raises(CourseError, match=r"cannot be built from a GRU.*torch\.nn\.LSTM"):
        LSTM.from_torch(nn.GRU(2, 3))
    with pytest.raises(CourseError, match="one layer and one direction"):
        LSTM.from_torch(nn.LSTM(2, 3, num_layers=2))
