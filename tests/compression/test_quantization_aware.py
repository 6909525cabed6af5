"""Training with rounding: its numbers, ranges and gradients by hand, and what it becomes."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from lmcourse.compression.affine import (
    UINT8,
    AffineQuantizer,
    affine_quantizer,
    symmetric_quantizer,
)
from lmcourse.compression.dynamic_quantization import activation_range, quantize_dynamic
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.quantization_aware import convert, prepare
from lmcourse.compression.size import bytes_on_disk
from lmcourse.errors import CourseError
from tests.compression.small import Tied, batch, classifier, untouched


def averaged(
    extremes: list[tuple[float, float]], c: float, whole: tuple[int, int] = UINT8
) -> AffineQuantizer:
    """The map of a moving average of ranges."""
    low, high = extremes[0]
    for least, most in extremes[1:]:
        low, high = low + c * (least - low), high + c * (most - high)
    return affine_quantizer(torch.tensor([low, high]), whole)


@pytest.mark.parametrize("c", [0.01, 0.3, 0.9])
def test_a_layer_rounds_as_the_equations_say(c):
    layer = nn.Linear(10, 6)
    prepared = prepare(layer, averaging_constant=c).train()
    reads, writes = [], []
    for scale in (1.0, 2.0, 0.5, 3.0):
        x = torch.randn(4, 10) * scale
        reads.append((x.min().item(), x.max().item()))
        rounded = averaged(reads, c, activation_range()).fake_quantize(x)
        weight = layer.weight.detach().clone().requires_grad_()
        whole = functional.linear(
            rounded, symmetric_quantizer(weight.detach()).fake_quantize(weight), layer.bias
        )
        writes.append((whole.min().item(), whole.max().item()))
        wanted = averaged(writes, c).fake_quantize(whole)
        found = prepared(x)
        step = averaged(writes, c).scale.item()
        assert (found - wanted).abs().max() <= 1.01 * step  # a half may round the other way
        assert (found - wanted).abs().median() < 1e-5
        prepared.zero_grad()
        found.sum().backward()
        wanted.sum().backward()
        torch.testing.assert_close(
            prepared.module.weight.grad, weight.grad, rtol=1e-4, atol=0.05 * scale
        )
        assert prepared.module.weight.grad.abs().max() > 0


def test_evaluation_changes_nothing():
    prepared = prepare(classifier()).train()
    prepared(**batch())
    prepared.eval()
    given = batch()
    first = prepared(**given).logits
    for _ in range(3):
        other = batch()
        other["input_ids"] = torch.randint(1, 40, (3, 7))
        prepared(**other)
    assert torch.equal(prepared(**given).logits, first)


def test_the_mode_stays():
    for mode in (True, False):
        prepared = prepare(classifier().train(mode))
        assert all(module.training == mode for module in prepared.modules())


def test_the_weights_range_follows_the_weights():
    prepared = prepare(nn.Linear(4, 3)).train()
    prepared(torch.randn(5, 4))
    with torch.no_grad():
        prepared.module.weight.mul_(0.01)
    prepared(torch.randn(5, 4))
    wanted = symmetric_quantizer(prepared.module.weight.detach()).scale
    torch.testing.assert_close(prepared.module.weight_fake_quant.scale, wanted)


def trained(steps: int = 15):
    model = classifier()
    with untouched(model):
        prepared = prepare(model).train()
    optimizer = torch.optim.Adam(prepared.parameters(), lr=1e-2)
    given, losses = batch(8), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = prepared(**given).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return prepared.eval(), given, losses


def test_it_learns_and_every_weight_does():
    prepared, given, losses = trained()
    assert losses[-1] < 0.8 * losses[0]
    prepared.zero_grad()
    prepared(**given).loss.backward()
    for name, parameter in prepared.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


def test_converted_layers_are_within_a_step_of_what_was_trained():
    prepared, given, _ = trained()
    with untouched(prepared):
        converted = convert(prepared).model
    met = {}
    for name, module in prepared.named_modules():
        if hasattr(module, "quant"):
            module.register_forward_hook(
                lambda _, x, y, name=name: met.update({name: (x[0].detach(), y.detach())})
            )
    full = prepared(**given).logits
    assert len(met) == 26
    for name, (x, y) in met.items():
        layer = converted.get_submodule(name)
        steps = (layer(x) - y).abs() / layer.module.scale
        assert steps.max() < 1.01, name
        assert steps.mean() < 0.05, name
    assert (converted(**given).logits - full).abs().max() < 0.2 * full.abs().max()


def test_it_says_what_it_did():
    prepared, given, _ = trained(2)
    converted = convert(prepared)
    linear = [n for n, m in classifier().named_modules() if isinstance(m, nn.Linear)]
    assert [c.layer for c in converted.changes] == linear
    assert all(c.bits == 8 and 0 < c.error < 0.01 for c in converted.changes)
    again = copy.deepcopy(converted.model)
    assert torch.equal(again(**given).logits, converted.model(**given).logits)


def test_what_is_masked_stays_zero():
    model = classifier()
    pruned = prune_weights(model, 0.7).model
    zero = {n: m.weight == 0 for n, m in make_permanent(pruned).named_modules() if has_matrix(m)}
    with untouched(pruned):
        prepared = prepare(pruned).train()
    optimizer = torch.optim.Adam(prepared.parameters(), lr=1e-2)
    given, losses = batch(8), []
    for _ in range(8):
        optimizer.zero_grad()
        loss = prepared(**given).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    with untouched(prepared):
        converted = convert(prepared)
    kept = {c.layer: c.kept for c in converted.changes}
    assert len(kept) == 26
    for name, pattern in zero.items():
        layer = converted.model.get_submodule(name)
        if isinstance(layer, nn.Embedding):  # its mask is off
            assert (layer.weight[pattern] == 0).all() and layer.weight.count_nonzero() > 0
            continue
        whole = layer.module.weight().int_repr()
        assert (whole[pattern] == 0).all(), name
        assert kept[name] == whole.count_nonzero() > 0, name
    full = prepared.eval()(**given).logits
    assert (converted.model(**given).logits - full).abs().max() < 0.2 * full.abs().max()
    sizes = [bytes_on_disk(converted.model, form) for form in ("dense", "sparse")]
    assert sizes[1] < sizes[0]


def has_matrix(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear | nn.Embedding)


def test_what_is_converted_has_no_gradients():
    prepared, given, _ = trained(1)
    for small in (convert(prepared).model, quantize_dynamic(classifier()).model):
        assert not any(parameter.requires_grad for parameter in small.parameters())
        with pytest.raises(RuntimeError, match="does not require grad"):
            small(**given).loss.backward()


def test_no_warning_is_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared, given, _ = trained(1)
        convert(prepared).model(**given)


def test_what_makes_no_sense_is_refused():
    model = classifier()
    with pytest.raises(CourseError, match="prepare"):
        convert(model)
    with pytest.raises(CourseError, match="ranges are unknown"):
        convert(prepare(model))
    evaluated = prepare(model).eval()
    evaluated(**batch())
    with pytest.raises(CourseError, match="ranges are unknown"):
        convert(evaluated)
    prepared, _, _ = trained(1)
    for again in (prepared, convert(prepared).model, quantize_dynamic(model).model):
        with pytest.raises(CourseError, match="quantized already"):
            prepare(again)
    for tied in (Tied(), prune_weights(Tied(), 0.5).model):
        with pytest.raises(CourseError, match="tied to word"):
            prepare(tied)
    other = classifier()
    parametrizations.orthogonal(other.bert.pooler.dense)
    with pytest.raises(CourseError, match="another parametrization"):
        prepare(other)
    for c in (0.0, 1.0, 1.5):
        with pytest.raises(CourseError, match="averaging_constant"):
            prepare(model, averaging_constant=c)
