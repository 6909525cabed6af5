"""The recurrent layer equals `torch.nn.RNN`; the language model behaves as a causal model must."""

import math

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.rnn import RNN, RNNConfig, RNNLanguageModel

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


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_equals_torch_in_outputs_and_every_gradient(configuration):
    reference, ours, inputs, state = make(configuration)
    results = []
    for layer, h0 in ((reference, state[None].clone()), (ours, state.clone())):
        x = inputs.clone().requires_grad_()
        h0.requires_grad_()
        hidden, last = layer(x, h0)
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


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_padding_equals_packed_sequences(configuration):
    reference, ours, inputs, state = make(configuration)
    batch, time = inputs.shape[:2]
    lengths = torch.randint(1, time + 1, (batch,), generator=torch.Generator().manual_seed(0))
    lengths[0] = time
    packed = nn.utils.rnn.pack_padded_sequence(
        inputs, lengths, batch_first=True, enforce_sorted=False
    )
    hidden, last = reference(packed, state[None])
    hidden, _ = nn.utils.rnn.pad_packed_sequence(hidden, batch_first=True)
    mine, my_last = ours(inputs, state, lengths=lengths)
    torch.testing.assert_close(hidden, mine, rtol=0, atol=1e-12)
    torch.testing.assert_close(last[0], my_last, rtol=0, atol=1e-12)


def test_what_stands_in_the_padding_changes_nothing():
    _, ours, inputs, state = make(CONFIGURATIONS[1])
    lengths = torch.tensor([7, 2, 4])
    padded = inputs.clone()
    padded[1, 2:] = 1e3
    padded[2, 4:] = -5.0
    for a, b in zip(ours(inputs, state, lengths), ours(padded, state, lengths), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


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
        (torch.zeros(2, 3, 4), None, torch.tensor([3]), "one length between 1 and 3"),
        (torch.zeros(2, 3, 4), None, torch.tensor([0, 3]), "one length between 1 and 3"),
        (torch.zeros(2, 3, 4), None, torch.tensor([2, 4]), "one length between 1 and 3"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(inputs, state, lengths, words):
    with pytest.raises(CourseError, match=words):
        RNN(4, 6)(inputs, state, lengths)


@pytest.mark.bad_input
def test_an_unknown_nonlinearity_is_named():
    with pytest.raises(CourseError, match=r"'sigmoid'.*tanh, relu"):
        RNN(2, 2, "sigmoid")


@pytest.fixture
def model():
    torch.manual_seed(0)
    return RNNLanguageModel(RNNConfig(vocabulary_size=11, embedding_width=6, hidden_width=8))


def test_a_later_token_changes_no_earlier_prediction(model):
    ids = torch.randint(11, (2, 9))
    changed = ids.clone()
    changed[:, 5:] = (ids[:, 5:] + 1) % 11
    before, after = model(ids).logits, model(changed).logits
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5], after[:, 5])


def test_windows_with_a_carried_state_equal_the_whole_text(model):
    ids = torch.randint(11, (3, 12))
    whole, state, parts = model(ids), None, []
    for window in ids.split(5, dim=1):
        result = model(window, state=state)
        state = result.state
        parts.append(result.logits)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole.logits)
    torch.testing.assert_close(state, whole.state)


def test_every_parameter_gets_a_gradient_and_the_first_loss_is_log_v(model):
    ids = torch.randint(11, (32, 21))
    loss = model(ids[:, :-1], labels=ids[:, 1:]).loss
    assert loss.item() == pytest.approx(math.log(11), abs=0.15)
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_the_loss_is_the_mean_negative_log_likelihood_of_the_labels(model):
    ids = torch.randint(11, (2, 6))
    result = model(ids[:, :-1], labels=ids[:, 1:])
    p = result.logits.softmax(-1).gather(-1, ids[:, 1:, None])
    torch.testing.assert_close(result.loss, -p.log().mean())


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (torch.tensor([[1, 11]]), "id 11.*0 to 10"),
        (torch.tensor([[1, -1]]), "id -1.*0 to 10"),
        (torch.tensor([1, 2]), r"\(2,\).*\(batch, time\)"),
        (torch.zeros(2, 0, dtype=torch.long), "at least one token"),
    ],
)
def test_bad_ids_are_named(model, ids, words):
    with pytest.raises(CourseError, match=words):
        model(ids)
