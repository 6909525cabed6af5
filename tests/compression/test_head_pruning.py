"""Heads: their importance by another formula, and a model without them beside one they are 0 in."""

from itertools import pairwise

import pytest
import torch
from transformers.pytorch_utils import prune_linear_layer

from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.head_pruning import (
    attentions_of,
    head_importance,
    least_important,
    prune_heads,
)
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.quantization_aware import prepare
from lmcourse.compression.sharing import share_layers
from lmcourse.errors import CourseError
from lmcourse.models.bert_heads import BertForMaskedLM
from tests.compression.small import ATTENTION, CONFIG, batch, classifier, untouched
from tests.parity.comparing import shaken

FIRST, LAST = ATTENTION.format(0), ATTENTION.format(3)


def by_output_columns(model, examples):
    """E_x |Σ W_O ∂L/∂W_O| over each head's columns: how the loss feels the head as a whole."""
    total = {name: torch.zeros(a.heads) for name, a in attentions_of(model).items()}
    for example in examples:
        model.zero_grad()
        model(**example).loss.backward()
        for name, attention in attentions_of(model).items():
            felt = (attention.output.weight * attention.output.weight.grad).sum(0)
            total[name] += felt.unflatten(0, (attention.heads, -1)).sum(-1).abs().float()
    model.zero_grad()
    return {name: t / len(examples) for name, t in total.items()}


def rows(given, start, stop):
    return {name: tensor[start:stop] for name, tensor in given.items()}


@pytest.mark.parametrize("cuts", [(0, 5), (0, 1, 5), (0, 2, 3, 5)])
def test_importance_is_the_gates_gradient(cuts):
    model = classifier(torch.float64).train()
    given = batch(5)
    with untouched(model):
        batches = [rows(given, a, b) for a, b in pairwise(cuts)]
        importance = head_importance(model, batches)
    assert all(parameter.grad is None for parameter in model.parameters())
    wanted = by_output_columns(model.eval(), [rows(given, i, i + 1) for i in range(5)])
    assert list(importance) == list(wanted)
    for name in wanted:
        torch.testing.assert_close(importance[name], wanted[name], rtol=1e-5, atol=1e-9)


def test_where_the_loss_is_a_mean_over_positions_batches_make_no_difference():
    model, given = shaken(BertForMaskedLM(CONFIG).double()), batch(5)
    labels = given["input_ids"].clone()
    for row, labeled in enumerate((1, 7, 2, 3, 0)):
        labels[row, labeled:] = -100
    given["labels"] = labels
    found = [
        head_importance(model, [rows(given, a, b) for a, b in pairwise(cuts)])
        for cuts in ((0, 5), (0, 2, 5), (0, 1, 2, 3, 5))
    ]
    for other in found[1:]:
        for name, wanted in found[0].items():
            torch.testing.assert_close(other[name], wanted)
    # by hand: an example's own loss, as often as it has labeled positions
    each = (
        by_output_columns(model, [rows(given, 0, 1)]),
        by_output_columns(model, [rows(given, 1, 2)]),
    )
    two = head_importance(model, [rows(given, 0, 2)])
    for name in two:
        torch.testing.assert_close(two[name], (1 * each[0][name] + 7 * each[1][name]) / 8)


def test_a_shared_attention_has_one_importance():
    model = share_layers(classifier(torch.float64), parts=("attention",)).model
    given = batch(4)
    wanted = by_output_columns(model, [rows(given, i, i + 1) for i in range(4)])
    importance = head_importance(model, [given])
    assert list(importance) == [FIRST]
    torch.testing.assert_close(importance[FIRST], wanted[FIRST])


def test_another_loss():
    model = classifier()
    by_loss = head_importance(model, [batch()], lambda result: result.logits[:, 0].mean())
    assert all(values.min() > 0 for values in by_loss.values())


def test_without_heads_is_as_with_their_outputs_zero():
    model = classifier(torch.float64)
    gone = {FIRST: [1], ATTENTION.format(1): [0, 2], LAST: [2]}
    with untouched(model):
        pruned = prune_heads(model, gone).model
    zeroed = classifier(torch.float64)
    zeroed.load_state_dict(model.state_dict())
    kept = {}
    for name, attention in attentions_of(zeroed).items():
        kept[name] = [h for h in range(3) if h not in gone.get(name, [])]
        with torch.no_grad():
            for head in gone.get(name, []):
                attention.output.weight[:, 4 * head : 4 * head + 4] = 0
    given = batch()
    ours = pruned(**given, output_attentions=True, output_hidden_states=True)
    theirs = zeroed(**given, output_attentions=True, output_hidden_states=True)
    for one, other in zip(ours.hidden_states, theirs.hidden_states, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-10, atol=1e-12)
    for (_, heads), one, other in zip(
        kept.items(), ours.attentions, theirs.attentions, strict=True
    ):
        assert one.shape[1] == len(heads)
        torch.testing.assert_close(one, other[:, heads])
    fused = pruned(**given).logits
    torch.testing.assert_close(fused, ours.logits, rtol=1e-10, atol=1e-12)
    ours.loss.backward()
    theirs.loss.backward()
    for name, attention in attentions_of(pruned).items():
        other = attentions_of(zeroed)[name]
        index = torch.cat([torch.arange(4 * h, 4 * h + 4) for h in kept[name]])
        for part in ("query", "key", "value"):
            wanted = getattr(other, part).weight.grad[index]
            torch.testing.assert_close(getattr(attention, part).weight.grad, wanted)
        wanted = other.output.weight.grad[:, index]
        torch.testing.assert_close(attention.output.weight.grad, wanted)


def test_matrices_are_those_that_transformers_cuts():
    model = classifier()
    own = attentions_of(model)[FIRST]
    pruned = attentions_of(prune_heads(model, {FIRST: [1]}).model)[FIRST]
    index = torch.tensor([0, 1, 2, 3, 8, 9, 10, 11])
    for part, axis in (("query", 0), ("key", 0), ("value", 0), ("output", 1)):
        theirs = prune_linear_layer(getattr(own, part), index, axis)
        assert torch.equal(getattr(pruned, part).weight, theirs.weight), part
        assert torch.equal(getattr(pruned, part).bias, theirs.bias), part


def test_it_says_what_it_did_and_can_go_on():
    model = classifier()
    once = prune_heads(model, {FIRST: [0]})
    (change,) = once.changes
    assert (change.layer, change.weights, change.kept) == (FIRST, 4 * 156, 3 * 104 + 12 * 8 + 12)
    counts = [sum(p.numel() for p in m.parameters()) for m in (model, once.model)]
    assert counts[0] - counts[1] == change.weights - change.kept
    twice = prune_heads(once.model, {FIRST: [0]}).model  # of those that are left: the middle one
    at_once = prune_heads(model, {FIRST: [0, 1]}).model
    given = batch()
    assert torch.equal(twice(**given).logits, at_once(**given).logits)
    twice.train()(**given).loss.backward()
    assert all(p.grad is not None for p in twice.parameters())


def test_the_least_important_go_first_and_each_layer_keeps_one():
    importance = {"a": torch.tensor([0.1, 0.2, 0.3]), "b": torch.tensor([9.0, 0.15, 7.0])}
    assert least_important(importance, 0) == {}
    assert least_important(importance, 2) == {"a": [0], "b": [1]}
    assert least_important(importance, 4) == {"a": [0, 1], "b": [1, 2]}
    with pytest.raises(CourseError, match="keeps one"):
        least_important(importance, 5)
    with pytest.raises(CourseError, match="-1 heads"):
        least_important(importance, -1)


def test_a_gate_says_what_a_head_is_worth():
    """Removing changes the loss as its gate's gradient foretells, where the head is small."""
    model = classifier(torch.float64)
    given = batch(1)
    attention = attentions_of(model)[LAST]
    with torch.no_grad():
        attention.output.weight[:, :4] *= 1e-5
    foretold = head_importance(model, [given])[LAST][0].item()
    found = (prune_heads(model, {LAST: [0]}).model(**given).loss - model(**given).loss).abs()
    assert found.item() == pytest.approx(foretold, rel=1e-3)


def test_what_makes_no_sense_is_refused():
    model = classifier()
    for heads in ([0, 1, 2], [3], [-1]):
        with pytest.raises(CourseError, match="cannot be removed"):
            prune_heads(model, {FIRST: heads})
    for small in (quantize_dynamic(model).model, prepare(model)):
        with pytest.raises(CourseError, match="quantized already"):
            head_importance(small, [batch()])
    with pytest.raises(KeyError, match="first"):
        prune_heads(model, {"first": [0]})
    with pytest.raises(CourseError, match="no MultiHeadAttention"):
        prune_heads(torch.nn.Linear(2, 2), {})
    with pytest.raises(CourseError, match="make_permanent"):
        prune_heads(prune_weights(model, 0.5).model, {FIRST: [0]})
    prune_heads(make_permanent(prune_weights(model, 0.5).model), {FIRST: [0]})
    with pytest.raises(CourseError, match="heads before"):
        prune_heads(factorize(model, rank=2).model, {FIRST: [0]})
