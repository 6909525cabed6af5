"""The recurrent layer equals `torch.nn.RNN`, by the loop and by the kernel."""

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.rnn import RNN

CONFIGURATIONS = [  # batch, time, input width, hidden width, nonlinearity, bias
    (1, 1, 1, 1, "tanh", True),
    (3, 7, 5, 4, "tanh", True),
    (2, 12, 1, 9, "relu", True),
    (4, 5, 8, 3, "tanh", False),
    (5, 20, 6, 6, "relu", False),
]


def make(configuration):
    batch, time, width, hidden, nonlinearity, bias = configuration
    torch.manual_seed(sum(configuration[:4]))
    reference = nn.RNN(width, hidden, nonlinearity=nonlinearity, bias=bias, batch_first=True)
    reference = reference.double()
    inputs = torch.randn(batch, time, width, dtype=torch.float64)
    state = torch.randn(batch, hidden, dtype=torch.float64)
    return reference, RNN.from_torch(reference), inputs, state


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_equals_torch_in_outputs_and_every_gradient(configuration, fused):
    reference, ours, inputs, state = make(configuration)
    results = []
    for layer, h0 in ((reference, state[None].clone()), (ours, state.clone())):
        x = inputs.clone().requires_grad_()
        h0.requires_grad_()
        hidden, last = layer(x, h0, fused=fused) if layer is ours else layer(x, h0)
        weight = torch.arange(hidden.numel(), dtype=torch.float64).view_as(hidden).cos()
        ((hidden * weight).sum() + last.square().sum()).backward()
        grads = {name: p.grad for name, p in layer.named_parameters()}
        results.append((hidden, last.view(state.shape), x.grad, h0.grad.view(state.shape), grads))
    theirs, mine = results
    for a, b in zip(theirs[:4], mine[:4], strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    for name, of_torch in (("U", "weight_ih_l0"), ("W", "weight_hh_l0"), ("b", "bias_ih_l0")):
        if of_torch in theirs[4]:
            torch.testing.assert_close(theirs[4][of_torch], mine[4][name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_padding_equals_packed_sequences(configuration, fused):
    reference, ours, inputs, state = make(configuration)
    batch, time = inputs.shape[:2]
    lengths = torch.randint(1, time + 1, (batch,), generator=torch.Generator().manual_seed(0))
    lengths[0] = time
    packed = nn.utils.rnn.pack_padded_sequence(
        inputs, lengths, batch_first=True, enforce_sorted=False
    )
    hidden, last = reference(packed, state[None])
    hidden, _ = nn.utils.rnn.pad_packed_sequence(hidden, batch_first=True)
    mine, my_last = ours(inputs, state, lengths=lengths, fused=fused)
    torch.testing.assert_close(hidden, mine, rtol=0, atol=1e-12)
    torch.testing.assert_close(last[0], my_last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
def test_what_stands_in_the_padding_changes_nothing(fused):
    _, ours, inputs, state = make(CONFIGURATIONS[1])
    lengths = torch.tensor([7, 2, 4])
    padded = inputs.clone()
    padded[1, 2:] = 1e3
    padded[2, 4:] = -5.0
    pair = (ours(x, state, lengths, fused=fused) for x in (inputs, padded))
    for a, b in zip(*pair, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
def test_a_sequence_of_no_steps_keeps_its_state(fused):
    _, ours, inputs, state = make(CONFIGURATIONS[1])
    x, h0 = inputs.requires_grad_(), state.requires_grad_()
    hidden, last = ours(x, h0, torch.tensor([0, 7, 3]), fused=fused)
    assert not hidden[0].any() and torch.equal(last[0], state[0])
    (last.sum() + hidden.sum()).backward()
    assert torch.equal(h0.grad[0], torch.ones(4, dtype=torch.float64)) and not x.grad[0].any()
    nothing, still = ours(x, h0, torch.zeros(3, dtype=torch.long), fused=fused)
    assert not nothing.any() and torch.equal(still, state)


def test_a_boundary_sees_every_step_and_its_state_is_the_one_that_is_used():
    _, ours, inputs, state = make(CONFIGURATIONS[1])
    seen = []

    def boundary(t, h):
        seen.append((t, h))
        return h * 0 if t == 3 else h

    hidden, last = ours(inputs, state, boundary=boundary)
    assert [t for t, _ in seen] == list(range(7))
    assert torch.equal(seen[0][1], state) and torch.equal(seen[5][1], hidden[:, 4])
    again, end = ours(inputs[:, 3:], fused=False)  # from a state of zeros
    torch.testing.assert_close(hidden[:, 3:], again)
    torch.testing.assert_close(last, end)


def test_the_loop_can_be_differentiated_twice():
    _, ours, inputs, state = make(CONFIGURATIONS[1])
    torch.autograd.gradgradcheck(
        lambda x, h: ours(x[:, :2], h, fused=False), (inputs.requires_grad_(), state)
    )


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_converts_to_torch_and_back(configuration):
    _, ours, inputs, state = make(configuration)
    there = ours.to_torch()
    torch.testing.assert_close(there(inputs, state[None])[0], ours(inputs, state)[0])
    back = RNN.from_torch(there)
    for name, parameter in ours.named_parameters():
        assert torch.equal(parameter, dict(back.named_parameters())[name])


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
        (torch.zeros(2, 3), None, None, r"\(2, 3\).*\(batch, time, 4\)"),
        (torch.zeros(2, 3, 5), None, None, r"\(2, 3, 5\).*\(batch, time, 4\)"),
        (torch.zeros(2, 0, 4), None, None, "at least one time step"),
        (torch.zeros(2, 3, 4), torch.zeros(3, 6), None, r"\(3, 6\).*\(2, 6\)"),
        (torch.zeros(2, 3, 4), None, torch.tensor([3]), "one length between 0 and 3"),
        (torch.zeros(2, 3, 4), None, torch.tensor([-1, 3]), "one length between 0 and 3"),
        (torch.zeros(2, 3, 4), None, torch.tensor([2, 4]), "one length between 0 and 3"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(inputs, state, lengths, words):
    with pytest.raises(CourseError, match=words):
        RNN(4, 6)(inputs, state, lengths)


@pytest.mark.bad_input
def test_an_unknown_nonlinearity_is_named():
    with pytest.raises(CourseError, match=r"'sigmoid'.*tanh, relu"):
        RNN(2, 2, "sigmoid")
