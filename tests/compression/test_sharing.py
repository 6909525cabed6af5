"""Layers that are one: their weights, their gradients, and what is counted."""

import copy

import pytest
import torch
from torch import nn

from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.head_pruning import prune_heads
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import prune_weights
from lmcourse.compression.sharing import share_layers
from lmcourse.errors import CourseError
from tests.compression.small import ATTENTION, batch, classifier, untouched


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("by", ["mean", "first"])
@pytest.mark.parametrize("groups", [1, 2])
def test_layers_become_their_mean_or_the_first(by, groups):
    model = classifier()
    with untouched(model):
        shared = share_layers(model, by=by, groups=groups)
    stack, own = shared.model.bert.encoder.layers, model.bert.encoder.layers
    size = 4 // groups
    for index, layer in enumerate(stack):
        members = [own[i] for i in range(4) if i // size == index // size]
        assert layer is stack[index // size * size]
        for name, parameter in layer.named_parameters():
            theirs = torch.stack([member.get_parameter(name) for member in members])
            wanted = theirs.mean(0) if by == "mean" else theirs[0]
            torch.testing.assert_close(parameter, wanted, rtol=0, atol=1e-7)
    one = count(own[0])
    assert count(model) - count(shared.model) == (4 - groups) * one
    assert [(c.weights, c.kept) for c in shared.changes] == [(size * one, one)] * groups
    for change, start in zip(shared.changes, range(0, 4, size), strict=True):
        before, after = (
            torch.cat(
                [p.flatten() for layer in m[start : start + size] for p in layer.parameters()]
            )
            for m in (own, list(stack))
        )
        assert change.error == pytest.approx(((before - after).norm() / before.norm()).item())


@pytest.mark.parametrize("parts", [("attention",), ("feed_forward", "feed_forward_residual.norm")])
def test_parts_of_layers_are_shared(parts):
    model = classifier()
    shared = share_layers(model, parts=parts[0] if len(parts) == 1 else parts).model
    layers = shared.bert.encoder.layers
    for name, _ in layers[0].named_modules():
        inside = any(name == part or name.startswith(f"{part}.") for part in parts)
        assert (layers[0].get_submodule(name) is layers[3].get_submodule(name)) == inside, name
    saved = sum(count(layers[0].get_submodule(part)) for part in parts)
    assert count(model) - count(shared) == 3 * saved


def apart(model: nn.Module) -> nn.Module:
    """The same, with layers of their own that hold the same numbers."""
    model = copy.deepcopy(model)
    stack = model.bert.encoder.layers
    for index in range(len(stack)):
        stack[index] = copy.deepcopy(stack[index])
    return model


def test_a_shared_weights_gradient_is_the_sum_over_its_uses():
    shared = share_layers(classifier(torch.float64)).model
    alone = apart(shared)
    given = batch()
    ours, theirs = shared(**given), alone(**given)
    assert torch.equal(ours.logits, theirs.logits)
    ours.loss.backward()
    theirs.loss.backward()
    for name, parameter in shared.bert.encoder.layers[0].named_parameters():
        uses = [layer.get_parameter(name).grad for layer in alone.bert.encoder.layers]
        torch.testing.assert_close(parameter.grad, sum(uses))


def test_they_stay_one_in_training_and_in_other_compressions():
    shared = share_layers(classifier()).model.train()
    optimizer = torch.optim.SGD(shared.parameters(), 0.1)
    shared(**batch()).loss.backward()
    optimizer.step()
    name = ATTENTION.format(0)
    for other in (
        shared,
        prune_weights(shared, 0.5).model,
        prune_heads(shared, {name: [1]}).model,
        factorize(shared, rank=2).model,
        quantize_dynamic(shared).model,
    ):
        stack = other.bert.encoder.layers
        assert all(layer is stack[0] for layer in stack)
        other(**batch())
    assert len(prune_weights(shared, 0.5, where="*.query").changes) == 1
    linear = share_layers(classifier(), parts=("attention.query",)).model
    for other in (factorize(linear, rank=2).model, quantize_dynamic(linear).model):
        stack = other.bert.encoder.layers
        assert stack[3].attention.query is stack[0].attention.query
        assert not isinstance(stack[3].attention.query, nn.Linear)
        other(**batch())


@pytest.mark.bad_input
def test_what_makes_no_sense_is_refused():
    model = classifier()
    with pytest.raises(CourseError, match=r"none is called 'layers'.*bert\.encoder\.layers"):
        share_layers(model, "layers")
    with pytest.raises(CourseError, match="0 lists of layers"):
        share_layers(nn.Linear(2, 2))
    two = nn.ModuleDict({"a": model.bert.encoder, "b": copy.deepcopy(model.bert.encoder)})
    with pytest.raises(CourseError, match="2 lists of layers, and layers= is None"):
        share_layers(two)
    share_layers(two, "b.layers")
    for groups in (0, 3, 4, 5):
        with pytest.raises(CourseError, match="groups"):
            share_layers(model, groups=groups)
    with pytest.raises(AttributeError, match="ffn"):
        share_layers(model, parts=("ffn",))
    with pytest.raises(CourseError, match="quantized already"):
        share_layers(quantize_dynamic(model).model)
