"""The recurrent language model behaves as a causal model must, with each kind of cell."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.recurrent import detached
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training import cut_every, cut_randomly


@pytest.fixture(params=["rnn", "lstm", "gru"])
def model(request):
    torch.manual_seed(0)
    return RNNLanguageModel(RNNConfig(11, 6, 8, request.param, num_layers=2))


# The model checks what it is given before its layers read it.
ONE_KIND = pytest.mark.parametrize("model", ["lstm"], indirect=True)


def test_windows_with_a_carried_state_equal_the_whole_text(model):
    ids = torch.randint(11, (3, 12))
    whole, state, parts = model(ids), None, []
    for window in ids.split(5, dim=1):
        result = model(window, state=state)
        state = result.state
        parts.append(result.logits)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole.logits)
    parts = zip(*(s if isinstance(s, tuple) else (s,) for s in (state, whole.state)), strict=True)
    for carried, last in parts:
        torch.testing.assert_close(carried, last)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (torch.tensor([[1, 11]]), "number 11.*0 to 10"),
        (torch.tensor([[1, -1]]), "number -1.*0 to 10"),
        (torch.tensor([1, 2]), r"\(2,\).*\(batch, time\)"),
        (torch.zeros(2, 0, dtype=torch.long), "at least one token"),
    ],
)
@ONE_KIND
def test_bad_ids_are_named(model, ids, words):
    with pytest.raises(CourseError, match=words):
        model(ids)


@ONE_KIND
@pytest.mark.bad_input
def test_labels_that_do_not_fit_are_named(model):
    ids = torch.zeros(2, 3, dtype=torch.long)
    with pytest.raises(CourseError, match=r"labels has shape \(2, 2\)"):
        model(ids, labels=ids[:, :2])
    with pytest.raises(CourseError, match="labels holds the number 11"):
        model(ids, labels=ids + 11)


@ONE_KIND
def test_padding_must_stand_on_the_right(model):
    ids = torch.zeros(3, 4, dtype=torch.long)
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 0]])
    with pytest.raises(CourseError, match=r"row 1 of attention_mask.*right"):
        model(ids, mask)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (torch.ones(2, 4), r"\(2, 4\)"),
        (torch.ones(2, 3, 3), r"\(2, 3, 3\).*\(2, 3\)"),
        (torch.full((2, 3), 2), "other than 0 and 1"),
    ],
)
@ONE_KIND
def test_a_mask_that_does_not_fit_is_named(model, mask, words):
    with pytest.raises(CourseError, match=words):
        model(torch.zeros(2, 3, dtype=torch.long), mask)


def test_the_state_of_a_padded_row_is_that_of_the_row_alone(model):
    ids, mask = torch.randint(11, (2, 6)), torch.tensor([[1] * 6, [1, 1, 0, 0, 0, 0]])
    for fused in (True, False):
        state = model(ids, mask, fused=fused).state
        alone = model(ids[1:, :2], fused=fused).state
        both = (each if isinstance(each, tuple) else (each,) for each in (state, alone))
        for one, other in zip(*both, strict=True):
            torch.testing.assert_close(one[:, 1:], other)


def test_a_boundary_cuts_the_gradient_of_every_layer(model):
    ids = torch.randint(11, (2, 9))
    whole = model(ids, labels=ids, boundary=cut_every(4))
    state, losses = None, []
    for window in ids.split(4, dim=1):
        result = model(window, labels=window, state=state)
        state = detached(result.state)
        losses.append(result.loss * window.shape[1])
    loss = sum(losses) / 9
    torch.testing.assert_close(whole.loss, loss)
    names = [name for name, _ in model.named_parameters()]
    pair = (torch.autograd.grad(each, [*model.parameters()]) for each in (whole.loss, loss))
    for name, one, other in zip(names, *pair, strict=True):
        torch.testing.assert_close(one, other, msg=name)


def test_random_truncation_scales_the_gradient_by_0_or_1_over_keep(model):
    model, ids = model.double(), torch.randint(11, (32, 2))
    state = model(ids).state
    parts = [
        part.detach().requires_grad_() for part in ([state] if model.rnn.cell != "lstm" else state)
    ]
    start = tuple(parts) if len(parts) > 1 else parts[0]
    full, cut = (
        torch.autograd.grad(model(ids, state=start, boundary=boundary).logits[:, 1].sum(), parts)
        for boundary in (None, cut_randomly(0.25, torch.Generator().manual_seed(0)))
    )
    factors = [one[1] / other[1] for one, other in zip(cut, full, strict=True)]  # the last layer's
    drawn = factors[0][:, :1]
    assert set(drawn.flatten().round(decimals=3).tolist()) == {0.0, 4.0}
    for factor in factors:  # one draw a sequence, for both parts of an LSTM's state
        torch.testing.assert_close(factor, drawn.expand_as(factor))


def test_hidden_states_are_the_embedding_and_each_layer(model):
    ids = torch.randint(11, (2, 5))
    result = model(ids, output_hidden_states=True)
    assert [tuple(h.shape) for h in result.hidden_states] == [(2, 5, 6), (2, 5, 8), (2, 5, 8)]
    assert torch.equal(result.hidden_states[0], model.embedding(ids))
    assert result.hidden_states[-1] is result.last_hidden_state
    assert model(ids).hidden_states is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"cell": "LSTM"}, "'LSTM'.*rnn, lstm, gru"),
    ],
)
@pytest.mark.bad_input
def test_settings_that_do_not_fit_are_named(setting, words):
    with pytest.raises(CourseError, match=words):
        RNNLanguageModel(RNNConfig(5, **setting))


@pytest.mark.parametrize("mask_on_meta", [True, False])
def test_on_the_meta_device_padding_has_a_shape(model, mask_on_meta):
    ids, mask = torch.zeros(3, 4, dtype=torch.long, device="meta"), torch.tensor([[1, 1, 0, 0]] * 3)
    mask = mask.to("meta") if mask_on_meta else mask
    for fused in (True, False):
        result = model.to("meta")(ids, mask, fused=fused)
        assert result.logits.is_meta and result.logits.shape == (3, 4, 11)


def test_dropout_leaves_the_recurrence_alone():
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(11, 6, 8, "lstm", dropout=0.5)).train()
    ids = torch.randint(11, (1, 5))
    dropped = []
    model.dropout.register_forward_hook(lambda module, args, out: dropped.append((args[0], out)))
    result = model(ids)
    assert [tuple(x.shape) for x, _ in dropped] == [(1, 5, 6), (1, 5, 8)]  # before and after
    embedded, hidden = dropped[0][1], dropped[1][0]
    assert torch.equal(result.last_hidden_state, hidden)
    assert torch.equal(hidden, model.rnn(embedded)[0])
