"""Eight bits: plain operations beside PyTorch's kernels, for tensors, layers and a model."""

import warnings

import pytest
import torch
from torch import nn
from torch.ao.quantization import default_dynamic_qconfig, per_channel_dynamic_qconfig

from lmcourse.compression import dynamic_quantization
from lmcourse.compression.affine import (
    INT8,
    UINT7,
    UINT8,
    AffineQuantizer,
    affine_quantizer,
    dynamic_linear,
    symmetric_quantizer,
)
from lmcourse.compression.dynamic_quantization import (
    activation_range,
    quantize_dynamic,
    quantized_weight,
)
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import prune_weights
from lmcourse.errors import CourseError
from tests.compression.small import Tied, batch, classifier, untouched


def uneven(rows: int = 6, columns: int = 10) -> torch.Tensor:
    """A matrix whose rows are of very different size."""
    return torch.randn(rows, columns) * torch.logspace(-2, 1, rows)[:, None]


def by_torch(weight: torch.Tensor, per_channel: bool) -> torch.Tensor:
    """The weight as PyTorch's own observers quantize it."""
    with dynamic_quantization.silenced():
        config = per_channel_dynamic_qconfig if per_channel else default_dynamic_qconfig
        observer = config.weight()
        observer(weight)
        scale, zero_point = observer.calculate_qparams()
        if per_channel:
            return torch.quantize_per_channel(weight, scale, zero_point, 0, torch.qint8)
        return torch.quantize_per_tensor(weight, scale.item(), int(zero_point), torch.qint8)


@pytest.mark.parametrize("per_channel", [True, False])
def test_weights_are_rounded_as_by_torch(per_channel):
    for _ in range(20):
        weight = uneven()
        theirs = by_torch(weight, per_channel)
        ours = symmetric_quantizer(weight, per_channel=per_channel)
        scales = theirs.q_per_channel_scales() if per_channel else torch.tensor(theirs.q_scale())
        assert torch.equal(ours.scale, scales.float())
        assert torch.equal(ours.quantize(weight), theirs.int_repr().float())
        assert torch.equal(ours.dequantize(ours.quantize(weight)), theirs.dequantize())
        assert torch.equal(quantized_weight(weight, per_channel), theirs)


def test_a_number_moves_by_half_a_step_at_most_and_zero_does_not():
    for x in (torch.randn(50), torch.rand(50) + 3, -torch.rand(50), torch.zeros(3)):
        for range in (UINT7, UINT8, INT8):
            affine = affine_quantizer(x, range)
            q = affine.quantize(x)
            assert q.min() >= range[0] and q.max() <= range[1] and torch.equal(q, q.round())
            error = (affine.dequantize(q) - x).abs().max()
            # Rounding the zero point shifts one end out of the range, by half a step at most.
            assert error <= affine.scale * 1.0001
            inside = (q > range[0]) & (q < range[1])
            assert ((affine.dequantize(q) - x).abs()[inside] <= affine.scale * 0.5001).all()
            assert affine.dequantize(affine.quantize(torch.zeros(1))).item() == 0


def test_rounding_by_hand():
    affine = AffineQuantizer(torch.tensor(0.5), torch.tensor(3.0), (0, 127))
    x = torch.tensor([-9.0, -1.5, -0.25, 0.0, 0.25, 0.75, 0.8, 99.0])
    assert affine.quantize(x).tolist() == [0, 0, 3, 3, 3, 5, 5, 127]  # halves go to the even one
    assert affine.dequantize(affine.quantize(x)).tolist() == [-1.5, -1.5, 0, 0, 0, 1, 1, 62]
    assert affine_quantizer(torch.tensor([-1.0, 2.0]), (0, 255)) == AffineQuantizer(
        torch.tensor(3 / 255), torch.tensor(85.0), (0, 255)
    )
    given = symmetric_quantizer(torch.tensor([[1.0, -2.55], [0.0, 0.0]]))
    torch.testing.assert_close(given.scale, torch.tensor([0.02, torch.finfo(torch.float).eps]))


@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_is_the_slow_one(per_channel, bias):
    for shift in range(20):
        layer = nn.Linear(10, 6, bias=bias)
        layer.weight.data = uneven()
        x = torch.randn(3, 4, 10) * 2 + (shift - 10) / 5
        theirs = quantize_dynamic(layer, per_channel=per_channel).model(x)
        ours = dynamic_linear(
            x, layer.weight, layer.bias, range=activation_range(), per_channel=per_channel
        )
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_a_model_is_one_of_slow_layers():
    model = classifier()
    slow, given = classifier(), batch()
    slow.load_state_dict(model.state_dict())
    for layer in slow.modules():
        if isinstance(layer, nn.Linear):
            layer.forward = lambda x, layer=layer: dynamic_linear(
                x, layer.weight, layer.bias, range=activation_range()
            )
    with untouched(model):
        ours = quantize_dynamic(model).model(**given, output_hidden_states=True)
    theirs = slow(**given, output_hidden_states=True)
    # A number within a rounding error of a half may go the other way, by one step of many.
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-2, atol=1e-2)
    steps = (ours.hidden_states[1] - theirs.hidden_states[1]).abs()
    assert steps.median() < 1e-5
    full = model(**given).logits
    assert 0 < (ours.logits - full).abs().max() < 0.5 * full.abs().max()


def test_a_scale_a_row_loses_less_than_one_for_all():
    layer = nn.Linear(10, 6)
    layer.weight.data = uneven()
    per_row, for_all = (quantize_dynamic(layer, per_channel=c) for c in (True, False))
    assert per_row.changes[0].error < for_all.changes[0].error
    lost = [
        (c.model.weight().dequantize() - layer.weight).norm(dim=1) / layer.weight.norm(dim=1)
        for c in (per_row, for_all)
    ]
    assert lost[0].max() < 0.02 and lost[1][0] > 0.3 and (lost[0] <= lost[1] + 1e-6).all()


def test_it_says_what_it_did():
    model = classifier()
    quantized = quantize_dynamic(model, where="*.attention.*")
    assert [c.layer for c in quantized.changes] == [
        n for n, m in model.named_modules() if isinstance(m, nn.Linear) and ".attention." in n
    ]
    assert {(c.weights, c.bits) for c in quantized.changes} == {(144, 8)}
    for change in quantized.changes:
        whole = quantized.model.get_submodule(change.layer).weight().int_repr()
        assert change.kept == whole.count_nonzero() > 130
    assert all(0 < c.error < 0.01 for c in quantized.changes)
    assert isinstance(quantized.model.bert.embeddings.word, nn.Embedding)
    assert type(quantized.model.classifier.dense) is nn.Linear


@pytest.mark.parametrize("per_channel", [True, False])
def test_fake_quantization_is_that_of_torch_and_so_is_its_gradient(per_channel):
    x = uneven().requires_grad_()
    upstream = torch.randn_like(x)
    ours = symmetric_quantizer(
        x.detach() / 2, per_channel=per_channel
    )  # so that large numbers are clipped
    zeros = torch.zeros_like(ours.scale, dtype=torch.int32)
    if per_channel:
        theirs = torch.fake_quantize_per_channel_affine(x, ours.scale, zeros, 0, *INT8)
    else:
        theirs = torch.fake_quantize_per_tensor_affine(x, ours.scale, zeros, *INT8)
    (wanted,) = torch.autograd.grad(theirs, x, upstream)
    found = ours.fake_quantize(x)
    (gradient,) = torch.autograd.grad(found, x, upstream)
    assert torch.equal(found, theirs)
    assert torch.equal(gradient, wanted)
    clipped = gradient == 0
    assert clipped.any() and torch.equal(gradient[~clipped], upstream[~clipped])


def test_the_gradient_ends_where_clipping_begins():
    x = torch.tensor([-1.0, -0.4, 0.0, 1.0, 3.0, 3.4, 4.0], requires_grad=True)
    AffineQuantizer(torch.tensor(1.0), torch.tensor(0.0), (0, 3)).fake_quantize(x).sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 1, 1, 1, 0]


def test_activations_fake_quantized_are_those_of_torch():
    x = (torch.randn(5, 8) + 1).requires_grad_()
    ours = affine_quantizer(x.detach() * 0.7, UINT7)
    theirs = torch.fake_quantize_per_tensor_affine(x, ours.scale, ours.zero_point.int(), *UINT7)
    assert torch.equal(ours.fake_quantize(x), theirs)
    wanted = torch.autograd.grad(theirs.sum(), x)
    assert torch.equal(torch.autograd.grad(ours.fake_quantize(x).sum(), x)[0], wanted[0])


def test_no_warning_is_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize_dynamic(classifier()).model(**batch())


def test_what_cannot_be_quantized_is_refused():
    model = classifier()
    with pytest.raises(CourseError, match="quantized already"):
        quantize_dynamic(quantize_dynamic(model).model)
    with pytest.raises(CourseError, match="quantized already"):
        factorize(quantize_dynamic(model).model, rank=2)
    with pytest.raises(CourseError, match="make_permanent"):
        quantize_dynamic(prune_weights(model, 0.5).model)
    with pytest.raises(CourseError, match="No Linear"):
        quantize_dynamic(model, where="bert.embeddings.*")
    with pytest.raises(CourseError, match=r"score is tied to word\.weight"):
        quantize_dynamic(Tied())
    quantize_dynamic(Tied(), where="between").model(torch.arange(3))
