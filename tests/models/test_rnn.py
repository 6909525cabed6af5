"""What the recurrent layer does besides equaling `torch.nn.RNN` (the parity table)."""

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.rnn import RNN

FUSED = pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return RNN(5, 4).double()


@pytest.fixture
def inputs():
    return torch.randn(3, 7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def state():
    return torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


@FUSED
def test_what_stands_in_the_padding_changes_nothing(layer, inputs, state, fused):
    lengths = torch.tensor([7, 2, 4])
    padded = inputs.clone()
    padded[1, 2:] = 1e3
    padded[2, 4:] = -5.0
    pair = (layer(x, state, lengths, fused=fused) for x in (inputs, padded))
    for a, b in zip(*pair, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


@FUSED
def test_a_sequence_of_no_steps_keeps_its_state(layer, inputs, state, fused):
    x, h0 = inputs.requires_grad_(), state.requires_grad_()
    hidden, last = layer(x, h0, torch.tensor([0, 7, 3]), fused=fused)
    assert not hidden[0].any() and torch.equal(last[0], state[0])
    (last.sum() + hidden.sum()).backward()
    assert torch.equal(h0.grad[0], torch.ones(4, dtype=torch.float64)) and not x.grad[0].any()
    nothing, still = layer(x, h0, torch.zeros(3, dtype=torch.long), fused=fused)
    assert not nothing.any() and torch.equal(still, state)


def test_a_boundary_sees_every_step_and_its_state_is_the_one_that_is_used(layer, inputs, state):
    seen = []

    def boundary(t, h):
        seen.append((t, h))
        return h * 0 if t == 3 else h

    hidden, last = layer(inputs, state, boundary=boundary)
    assert [t for t, _ in seen] == list(range(7))
    assert torch.equal(seen[0][1], state) and torch.equal(seen[5][1], hidden[:, 4])
    again, end = layer(inputs[:, 3:], fused=False)  # from a state of zeros
    torch.testing.assert_close(hidden[:, 3:], again)
    torch.testing.assert_close(last, end)


def test_the_loop_can_be_differentiated_twice(layer, inputs, state):
    torch.autograd.gradgradcheck(
        lambda x, h: layer(x[:, :2], h, fused=False), (inputs.requires_grad_(), state)
    )


@pytest.mark.parametrize(
    "options", [{"num_layers": 2}, {"bidirectional": True}], ids=["layers", "directions"]
)
def test_a_larger_torch_network_is_refused(options):
    with pytest.raises(CourseError, match="one layer and one direction"):
        RNN.from_torch(nn.RNN(3, 4, batch_first=True, **options))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("inputs", "state", "lengths", "words"),
    [
        (torch.zeros(2, 3, 5), None, None, r"\(2, 3, 5\).*\(batch, time, 4\)"),
        (torch.zeros(2, 0, 4), None, None, "at least one time step"),
        (torch.zeros(2, 3, 4), torch.zeros(3, 6), None, r"\(3, 6\).*\(2, 6\)"),
        (torch.zeros(2, 3, 4), None, torch.tensor([3]), "one length between 0 and 3"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(inputs, state, lengths, words):
    with pytest.raises(CourseError, match=words):
        RNN(4, 6)(inputs, state, lengths)


@FUSED
def test_autocast_converts_by_itself(layer, inputs, fused):
    expected = layer(inputs, fused=fused)[0]
    with torch.autocast("cpu", torch.bfloat16):
        outputs, _ = layer.float()(inputs.bfloat16(), fused=fused)
    torch.testing.assert_close(outputs.double(), expected, rtol=0, atol=0.05)
