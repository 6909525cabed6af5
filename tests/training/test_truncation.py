"""Truncation: the forward pass stays, the backward pass is cut where it should be."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.rnn import RNN
from lmcourse.training import cut_every, cut_randomly, scale_gradient


@pytest.fixture
def layer():
    torch.manual_seed(1)
    layer = RNN(3, 4).double()
    torch.nn.init.orthogonal_(layer.W)
    return layer


@pytest.fixture
def inputs():
    return torch.randn(1, 12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def gradient(layer, inputs, boundary=None):
    hidden, _ = layer(inputs, boundary=boundary)
    return torch.autograd.grad(hidden.square().sum(), layer.W)[0]


def test_scaling_the_gradient_leaves_the_values():
    x = torch.randn(5, requires_grad=True)
    y = scale_gradient(x, 3.0)
    assert torch.equal(x, y)
    y.sum().backward()
    assert torch.equal(x.grad, torch.full((5,), 3.0))


@pytest.mark.parametrize("make", [lambda: cut_every(4), lambda: cut_randomly(0.5)])
def test_truncation_leaves_the_forward_pass(layer, inputs, make):
    assert torch.equal(layer(inputs)[0], layer(inputs, boundary=make())[0])


@pytest.mark.parametrize("steps", [1, 4, 5, 12, 20])
def test_cut_every_equals_windows_with_a_detached_state(layer, inputs, steps):
    total, state = torch.zeros_like(layer.W), None
    for window in inputs.split(steps, dim=1):
        hidden, state = layer(window, state)
        total += torch.autograd.grad(hidden.square().sum(), layer.W)[0]
        state = state.detach()
    torch.testing.assert_close(gradient(layer, inputs, cut_every(steps)), total)


def test_keeping_everything_is_full_backpropagation(layer, inputs):
    full = gradient(layer, inputs)
    torch.testing.assert_close(gradient(layer, inputs, cut_randomly(1.0)), full)
    torch.testing.assert_close(gradient(layer, inputs, cut_every(100)), full)


def test_the_mean_of_randomized_truncation_meets_the_full_gradient(layer, inputs):
    generator = torch.Generator().manual_seed(0)
    copies, batches = 50, 40  # each sequence of a batch has a draw of its own
    many = inputs.repeat(copies, 1, 1)
    estimates = torch.stack(
        [gradient(layer, many, cut_randomly(0.8, generator)) / copies for _ in range(batches)]
    )
    error = estimates.std(0) / batches**0.5
    full = gradient(layer, inputs)
    assert ((estimates.mean(0) - full) / error).abs().max() < 4
    # The same yardstick tells a biased estimate apart: it has the power to fail.
    assert ((gradient(layer, inputs, cut_every(4)) - full) / error).abs().max() > 10


def test_each_sequence_of_a_batch_is_cut_by_its_own_draw(layer, inputs):
    x = inputs.repeat(64, 1, 1).requires_grad_()
    hidden, _ = layer(x, boundary=cut_randomly(0.5, torch.Generator().manual_seed(0)))
    hidden[:, -1].sum().backward()
    reached = {int((row.abs().sum(-1) > 0).sum()) for row in x.grad}
    assert len(reached) > 3  # how many steps back the gradient came, by sequence


@pytest.mark.parametrize("make", [lambda: cut_every(0), lambda: cut_randomly(0.0)])
def test_an_impossible_truncation_is_refused(make):
    with pytest.raises(CourseError):
        make()
