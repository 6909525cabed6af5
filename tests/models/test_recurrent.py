"""Stacks and directions, and the way from `torch.nn` and back."""

import itertools

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.conversion.recurrent import RecurrentNaming
from lmcourse.models.recurrent import Recurrent, reverse

CELLS = ["rnn", "lstm", "gru"]


def test_reverse_turns_the_real_steps_and_leaves_the_padding():
    x = torch.arange(8.0).view(2, 4, 1)
    assert reverse(x)[:, :, 0].tolist() == [[3, 2, 1, 0], [7, 6, 5, 4]]
    lengths = torch.tensor([3, 0])
    assert reverse(x, lengths)[:, :, 0].tolist() == [[2, 1, 0, 3], [4, 5, 6, 7]]
    assert torch.equal(reverse(reverse(x, lengths), lengths), x)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_sequence_in_a_batch_is_as_alone(cell, fused):
    torch.manual_seed(0)
    stack = Recurrent(cell, 3, 4, num_layers=2, bidirectional=True).double()
    x, lengths = torch.randn(4, 6, 3, dtype=torch.float64), torch.tensor([6, 1, 0, 4])
    outputs, state = stack(x, lengths=lengths, fused=fused)
    states = state if isinstance(state, tuple) else (state,)
    for row, length in enumerate(lengths.tolist()):
        assert not outputs[row, length:].any()
        if not length:
            assert not any(part[:, row].any() for part in states)
            continue
        alone, end = stack(x[row : row + 1, :length], fused=fused)
        torch.testing.assert_close(outputs[row : row + 1, :length], alone)
        ends = end if isinstance(end, tuple) else (end,)
        for one, other in zip(states, ends, strict=True):
            torch.testing.assert_close(one[:, row : row + 1], other)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("content", [float("nan"), float("inf")])
@pytest.mark.parametrize("cell", CELLS)
def test_padding_that_is_not_a_number_does_not_reach_the_gradients(cell, content, fused):
    torch.manual_seed(0)
    stack = Recurrent(cell, 3, 4, num_layers=2, bidirectional=True)
    lengths, found = [6, 1, 0], []
    for filler in (0.0, content):
        x = torch.randn(3, 6, 3, generator=torch.Generator().manual_seed(1))
        for row, length in enumerate(lengths):
            x[row, length:] = filler
        stack.zero_grad()
        outputs, _ = stack(x.requires_grad_(), lengths=lengths, fused=fused)
        outputs.square().sum().backward()
        found.append([outputs, x.grad, *(weight.grad for weight in stack.parameters())])
    assert all(one.isfinite().all() for one in found[1])
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_batch_without_steps_has_gradients_of_zero(cell, fused):
    stack = Recurrent(cell, 3, 4, num_layers=2, bidirectional=True)
    x = torch.full((2, 5, 3), float("nan"), requires_grad=True)
    outputs, _ = stack(x, lengths=[0, 0], fused=fused)
    assert outputs.shape == (2, 5, 8) and not outputs.any()
    outputs.sum().backward()
    for tensor in (x, *stack.parameters()):
        assert tensor.grad is not None and not tensor.grad.any()


@pytest.mark.parametrize("cell", CELLS)
def test_each_place_sees_both_sides(cell):
    torch.manual_seed(0)
    stack = Recurrent(cell, 3, 4, bidirectional=True)
    x = torch.randn(1, 5, 3, requires_grad=True)
    stack(x)[0][0, 2, :4].sum().backward()
    assert x.grad[0, :3].abs().sum(1).all() and not x.grad[0, 3:].any()
    x.grad = None
    stack(x)[0][0, 2, 4:].sum().backward()
    assert x.grad[0, 2:].abs().sum(1).all() and not x.grad[0, :2].any()


def test_dropout_stands_between_layers_and_nowhere_else():
    torch.manual_seed(0)
    stack = Recurrent("gru", 3, 4, num_layers=3, dropout=0.5)
    seen = []
    stack.dropout.register_forward_hook(lambda module, args, out: seen.append((args[0], out)))
    x = torch.randn(2, 6, 3)
    outputs, _ = stack.read(x)
    assert len(seen) == 2 and seen[0][0] is outputs[0] and seen[1][0] is outputs[1]
    assert (seen[0][1] == 0).any()
    torch.testing.assert_close(stack.layers[1](seen[0][1])[0], outputs[1])
    stack.eval()
    assert torch.equal(stack(x)[0], stack(x)[0])


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
def test_there_and_back_every_tensor_and_setting_is_the_same(cell, layers):
    options = {"rnn": {"nonlinearity": "relu"}, "lstm": {"projection_size": 2}, "gru": {}}[cell]
    ours = Recurrent(cell, 3, 4, layers, bidirectional=True, dropout=0.25, **options)
    there = ours.to_torch()
    assert there.batch_first and there.training and there.num_layers == layers
    assert there.dropout == (0.25 if layers > 1 else 0.0)
    back = Recurrent.from_torch(there.eval())
    assert not back.training and back.cell == cell and back.dropout.p == there.dropout
    assert back.state_dict().keys() == ours.state_dict().keys()
    assert all(torch.equal(back.state_dict()[name], t) for name, t in ours.state_dict().items())
    x = torch.randn(2, 5, 3)
    torch.testing.assert_close(back(x)[0], there(x)[0])
    assert getattr(back.layers[0].forward_layer, "nonlinearity", "relu") == "relu"


def test_the_type_of_number_comes_along():
    assert Recurrent.from_torch(nn.GRU(2, 3).double()).layers[0].U.dtype == torch.float64


def test_a_tensor_that_is_unknown_is_told():
    naming, tensor = RecurrentNaming(stacked=True), torch.zeros(2, 2)
    with pytest.raises(CourseError, match="weight_xx_l0 is not part"):
        naming.to_ours({"weight_xx_l0": tensor})
    with pytest.raises(CourseError, match=r"layers\.0\.Q is not part"):
        naming.to_theirs({"layers.0.Q": tensor})


def test_another_module_is_refused():
    with pytest.raises(CourseError, match=r"a Linear.*torch\.nn\.RNN or torch\.nn\.LSTM or"):
        Recurrent.from_torch(nn.Linear(2, 2))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("elman", 3, 4), "'elman'.*rnn, lstm, gru"),
        (("gru", 3, 4, 1, False, 0.0, 2), "only lstm has a projection"),
    ],
)
def test_settings_that_do_not_exist_are_named(arguments, words):
    with pytest.raises(CourseError, match=words):
        Recurrent(*arguments)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("cell", "state", "words"),
    [
        ("gru", torch.zeros(2, 4), r"\(2, 4\).*\(4, 2, 4\)"),
        ("lstm", torch.zeros(4, 2, 4), r"\(4, 2, 4\) and \(4, 2, 4\)"),
    ],
)
def test_a_state_that_does_not_fit_is_named(cell, state, words):
    with pytest.raises(CourseError, match=words):
        Recurrent(cell, 3, 4, 2, bidirectional=True)(torch.zeros(2, 5, 3), state)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        (torch.tensor([5, 6]), r"\[5, 6\]\) do not fit.*between 0 and 5"),
        (torch.tensor([5]), r"\[5\]\) do not fit.*between 0 and 5"),
        (torch.tensor([[5, 1]]), r"\[\[5, 1\]\]\) do not fit"),
    ],
    ids=str,
)
def test_lengths_that_do_not_fit_are_named_before_anything_is_read(lengths, words):
    for bidirectional, fused in itertools.product((False, True), repeat=2):
        stack = Recurrent("gru", 3, 4, 2, bidirectional=bidirectional)
        with pytest.raises(CourseError, match=words):
            stack(torch.zeros(2, 5, 3), lengths=lengths, fused=fused)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
@pytest.mark.parametrize("cell", CELLS)
def test_lengths_may_be_a_list_or_of_any_type_of_whole_numbers(cell, fused):
    torch.manual_seed(0)
    stack, x = Recurrent(cell, 3, 4, 2, bidirectional=True), torch.randn(3, 5, 3)
    expected, _ = stack(x, lengths=torch.tensor([5, 0, 3]), fused=fused)
    for kind in (torch.int32, torch.int8, torch.uint8):
        lengths = torch.tensor([5, 0, 3], dtype=kind)
        assert torch.equal(stack(x, lengths=lengths, fused=fused)[0], expected)
    assert torch.equal(stack(x, lengths=[5, 0, 3], fused=fused)[0], expected)


@pytest.mark.parametrize("fused", [True, False], ids=["kernel", "loop"])
def test_a_small_type_of_lengths_holds_for_a_long_text(fused):
    stack, x = Recurrent("rnn", 1, 1), torch.randn(2, 300, 1)
    lengths = torch.tensor([7, 0])
    expected, _ = stack(x, lengths=lengths, fused=fused)
    for kind in (torch.int8, torch.uint8):
        assert torch.equal(stack(x, lengths=lengths.to(kind), fused=fused)[0], expected)


@pytest.mark.bad_input
def test_inputs_of_another_shape_are_named():
    for cell in CELLS:
        with pytest.raises(CourseError, match=r"\(2, 3\).*\(batch, time, 3\)"):
            Recurrent(cell, 3, 4, 2, bidirectional=True)(torch.zeros(2, 3))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("lengths", [[5, 0], torch.tensor([5, 0]), torch.empty(2, device="meta")])
def test_on_the_meta_device_lengths_count_for_their_shape_alone(cell, lengths):
    lengths = lengths.long() if isinstance(lengths, torch.Tensor) else lengths
    stack = Recurrent(cell, 3, 4, 2, bidirectional=True).to("meta")
    inputs = torch.empty(2, 5, 3, device="meta")
    for fused in (True, False):
        assert stack(inputs, lengths=lengths, fused=fused)[0].shape == (2, 5, 8)


@pytest.mark.bad_input
def test_on_the_meta_device_lengths_of_another_shape_are_named():
    stack, inputs = Recurrent("gru", 3, 4).to("meta"), torch.empty(2, 5, 3, device="meta")
    with pytest.raises(CourseError, match="do not fit a batch of 2 sequences"):
        stack(inputs, lengths=torch.zeros(1, dtype=torch.long, device="meta"))
