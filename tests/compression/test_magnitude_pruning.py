"""Magnitude pruning beside `torch.nn.utils.prune`, beside sorting, and in training."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.magnitude_pruning import (
    make_permanent,
    prune_weights,
)
from lmcourse.compression.quantization_aware import prepare
from lmcourse.errors import CourseError
from tests.compression.small import ATTENTION, Tied, batch, classifier, untouched

LAYERS = (nn.Linear, nn.Embedding)


def layers(model: nn.Module) -> dict[str, nn.Module]:
    return {n: m for n, m in model.named_modules() if isinstance(m, LAYERS)}


@pytest.mark.parametrize("scope", ["global", "layer"])
@pytest.mark.parametrize("sparsity", [0.0, 0.1, 0.5, 0.93])
def test_masks_are_those_of_torch(scope, sparsity):
    model = classifier()
    reference = copy.deepcopy(model)
    theirs = [(layer, "weight") for layer in layers(reference).values()]
    if scope == "global":
        prune.global_unstructured(theirs, prune.L1Unstructured, amount=sparsity)
    else:
        for layer, name in theirs:
            prune.l1_unstructured(layer, name, sparsity)
    with untouched(model):
        pruned = prune_weights(model, sparsity, scope=scope)
    for name, layer in layers(reference).items():
        assert torch.equal(pruned.model.get_submodule(name).weight, layer.weight), name
    given = batch()
    assert torch.equal(pruned.model(**given).logits, reference(**given).logits)


def test_the_largest_weights_stay():
    model = classifier()
    pruned = prune_weights(model, 0.7).model
    before = torch.cat([layer.weight.flatten() for layer in layers(model).values()]).abs()
    after = torch.cat([layer.weight.flatten() for layer in layers(pruned).values()])
    assert (after == 0).sum() == round(0.7 * len(before))
    assert before[after == 0].max() <= before[after != 0].min()
    own = prune_weights(model, 0.7, scope="layer")
    for change in own.changes:
        assert change.kept == change.weights - round(0.7 * change.weights)


def test_it_says_what_it_did():
    model = classifier()
    pruned = prune_weights(model, 0.6, where=("*.query", "*.key"))
    names = [n for n in layers(model) if n.endswith(("query", "key"))]
    assert [c.layer for c in pruned.changes] == names
    for change in pruned.changes:
        weight = model.get_submodule(change.layer).weight
        left = pruned.model.get_submodule(change.layer).weight
        assert (change.weights, change.kept) == (144, int(left.count_nonzero()))
        assert change.error == pytest.approx(((weight - left).norm() / weight.norm()).item())
    assert str(pruned).count("\n") == len(names)
    assert torch.equal(pruned.model.classifier.dense.weight, model.classifier.dense.weight)


def test_what_is_pruned_stays_so_in_training():
    model = prune_weights(classifier().train(), 0.5).model
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    zero = {n: layer.weight == 0 for n, layer in layers(model).items()}
    before = {n: layer.weight.clone() for n, layer in layers(model).items()}
    for _ in range(8):
        optimizer.zero_grad()
        model(**batch()).loss.backward()
        optimizer.step()
    for name, layer in layers(model).items():
        assert torch.equal(layer.weight == 0, zero[name]), name
    moved = [(layer.weight != before[n]).any() for n, layer in layers(model).items()]
    assert all(moved)


def test_gradients_are_those_of_what_is_left():
    model = classifier()
    pruned = prune_weights(model, 0.5).model
    plain = make_permanent(pruned)
    given = batch()
    pruned(**given).loss.backward()
    plain(**given).loss.backward()
    for name, layer in layers(plain).items():
        masked = pruned.get_submodule(name)
        gradient = masked.parametrizations["weight"].original.grad
        assert torch.equal(gradient, layer.weight.grad * (masked.weight != 0)), name


def test_permanent_is_a_plain_model(tmp_path):
    model = classifier()
    pruned = prune_weights(model, 0.5).model
    with untouched(pruned):
        plain = make_permanent(pruned)
    assert {n: t.shape for n, t in plain.state_dict().items()} == {
        n: t.shape for n, t in model.state_dict().items()
    }
    given = batch()
    assert torch.equal(plain(**given).logits, pruned(**given).logits)
    plain.save(tmp_path / "model.safetensors")
    again = type(model).load(tmp_path / "model.safetensors")
    assert torch.equal(plain(**given).logits, again(**given).logits)
    with pytest.raises(CourseError, match=r"lmcourse\.compression"):
        pruned.save(tmp_path / "masked.safetensors")


def test_a_copy_keeps_its_masks_when_anothers_are_taken_off():
    pruned = prune_weights(classifier(), 0.5).model
    further = prune_weights(pruned, 0.6).model
    name = "bert.pooler.dense"
    parametrize.remove_parametrizations(pruned.get_submodule(name), "weight")
    assert parametrize.is_parametrized(further.get_submodule(name))
    further(**batch())


def test_a_matrix_of_two_layers_is_pruned_once():
    model = Tied()
    both = prune_weights(model, 0.5).model
    zeros = [int((layer.weight == 0).sum()) for layer in (both.word, both.between)]
    assert sum(zeros) == round(0.5 * (40 + 16))  # and not of 40 + 16 + 40
    assert torch.equal(both.score.weight, both.word.weight)
    assert len(list(both.parameters())) == len(list(model.parameters()))
    only = prune_weights(model, 0.5, types=(nn.Embedding,)).model
    assert torch.equal(only.score.weight, only.word.weight)
    optimizer = torch.optim.SGD(only.parameters(), 0.5)
    only(torch.arange(10)).pow(2).sum().backward()
    optimizer.step()
    assert torch.equal(only.score.weight, only.word.weight) and (only.word.weight == 0).sum() == 20
    plain = make_permanent(only)
    assert plain.score.weight is plain.word.weight


def test_pruning_goes_on_where_it_stopped():
    once = prune_weights(classifier(), 0.3).model
    twice = prune_weights(once, 0.6).model
    for name, layer in layers(once).items():
        assert (twice.get_submodule(name).weight[layer.weight == 0] == 0).all()
    zeros = sum(int((layer.weight == 0).sum()) for layer in layers(twice).values())
    assert zeros == round(0.6 * sum(layer.weight.numel() for layer in layers(twice).values()))
    with pytest.raises(CourseError, match="pruned already"):
        prune_weights(twice, 0.5)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_pruned_does_not_change_places_with_zeros(first):
    layer = nn.Linear(10, 10)
    rising = torch.arange(1.0, 101).view(10, 10)
    layer.weight.data = rising if first else rising.flip(0, 1)
    layer = prune_weights(layer, 0.4).model
    parts = layer.parametrizations["weight"]
    pruned = parts[0].mask == 0
    parts.original.data[3:7] = 0  # some are pruned, some are not
    parts.original.data[0 if not first else 9] = 0
    again = prune_weights(layer, 0.41).model
    assert (again.parametrizations["weight"][0].mask[pruned] == 0).all()


@pytest.mark.parametrize("amount", [0.05, 0.3, 0.65, 0.95])
def test_among_equal_weights_the_sparsity_is_exact(amount):
    layer = nn.Linear(10, 10)
    layer.weight.data = torch.randint(-3, 4, (10, 10)).float()
    before = layer.weight.detach().abs()
    layer = prune_weights(layer, amount).model
    gone = layer.parametrizations["weight"][0].mask == 0
    assert gone.sum() == round(100 * amount)
    assert before[gone].max() <= before[~gone].min()


def test_what_is_quantized_is_refused():
    model = classifier()
    small = quantize_dynamic(model).model
    for other in (small, prepare(model)):
        with pytest.raises(CourseError, match="quantized already"):
            prune_weights(other, 0.5)


@pytest.mark.parametrize("sparsity", [1.0, 1.5, -0.1, float("nan")])
def test_a_share_that_is_none_is_refused(sparsity):
    with pytest.raises(CourseError, match="sparsity is"):
        prune_weights(classifier(), sparsity)


@pytest.mark.bad_input
def test_what_makes_no_sense_is_refused():
    model = classifier()
    with pytest.raises(CourseError, match=r"No Linear or Embedding.*word"):
        prune_weights(model, 0.5, where="*.attn.*")
    with pytest.raises(CourseError, match="It has none"):
        prune_weights(nn.LayerNorm(3), 0.5)
    assert prune_weights(model, np.float32(0.5)).changes == prune_weights(model, 0.5).changes
    other = classifier()
    parametrizations.orthogonal(other.get_submodule(ATTENTION.format(0)).query)
    with pytest.raises(CourseError, match="another parametrization"):
        prune_weights(other, 0.5)
