"""The meter counts what autograd keeps, to the byte."""

import torch

from lmcourse.models.rnn import RNN
from lmcourse.training.cost import SavedForBackward


def test_one_saved_tensor_is_counted_and_released():
    x = torch.randn(10, 10, requires_grad=True)
    with SavedForBackward() as saved:
        y = x.exp()  # keeps its output: 100 floats
        assert saved.now == saved.peak == 400
        y.sum().backward()
        del y
    assert saved.now == 0 and saved.peak == 400


def test_a_tensor_that_is_saved_twice_counts_once():
    x = torch.randn(10, 10, requires_grad=True)
    with SavedForBackward() as saved:
        y = x * x  # keeps x, twice
        z = y * x  # keeps y and x again
        assert saved.now == 800
    assert z.requires_grad


def test_a_view_counts_for_what_it_shows_and_its_transpose_once():
    x = torch.randn(100, 10, requires_grad=True)
    with SavedForBackward() as saved:
        part = x[:3]
        y = part * part
        assert saved.now == 120  # not the 4,000 bytes behind it
        z = part.T * part.T
        assert saved.now == 120
    assert y.requires_grad and z.requires_grad


def test_the_gradient_under_the_meter_is_the_same():
    torch.manual_seed(0)
    layer, x = RNN(3, 4), torch.randn(2, 9, 3)
    gradients = []
    for metered in (False, True):
        layer.zero_grad()
        if metered:
            with SavedForBackward():
                layer(x)[0].square().sum().backward()
        else:
            layer(x)[0].square().sum().backward()
        gradients.append(layer.W.grad.clone())
    assert torch.equal(*gradients)


def peak(length: int, window: int) -> int:
    layer, x, state = RNN(8, 16), torch.randn(4, length, 8), None
    with SavedForBackward() as saved:
        for t in range(0, length, window):
            hidden, state = layer(x[:, t : t + window], state)
            hidden.square().mean().backward()
            state = state.detach()
    return saved.peak


def test_memory_is_linear_in_time_for_full_and_flat_for_truncated():
    full = [peak(n, n) for n in (50, 100, 150)]
    assert full[2] - full[1] == full[1] - full[0] > 0
    assert len({peak(n, 25) for n in (50, 100, 150)}) == 1
