"""Compressed models come back from their files as they were; others refuse them."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lmcourse.compression import saving
from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.head_pruning import prune_heads
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.quantization_aware import convert, prepare
from lmcourse.compression.sharing import share_layers
from lmcourse.compression.size import size_of
from lmcourse.errors import CourseError
from lmcourse.models.bert_tasks import BertForSequenceClassification
from tests.compression.small import ATTENTION, CONFIG, Tied, batch, classifier, untouched

HEADS = {ATTENTION.format(i): [1] for i in range(4)}
BOTH = (nn.Linear, nn.Embedding)


def after_training(model):
    prepared = prepare(model, where="*.feed_forward.*").train()
    prepared(**batch())
    return convert(prepared).model


COMPRESSED = {
    "as it was": lambda model: model,
    "without heads": lambda m: prune_heads(m, {ATTENTION.format(2): [0, 2]}).model,
    "layers that are one": lambda m: share_layers(m).model,
    "parts that are one": lambda m: (
        share_layers(m, parts=("attention.query", "feed_forward")).model
    ),
    "two factors": lambda m: factorize(m, rank=2, kinds=BOTH).model,
    "zeros": lambda m: make_permanent(prune_weights(m, 0.8).model),
    "eight bits": lambda m: quantize_dynamic(m).model,
    "eight bits, one scale": lambda m: quantize_dynamic(m, per_channel=False).model,
    "eight bits after training": after_training,
    "all": lambda m: (
        quantize_dynamic(
            factorize(share_layers(prune_heads(m, HEADS).model).model, rank=2, kinds=BOTH).model
        ).model
    ),
}
CHANGED = [name for name in COMPRESSED if name not in ("as it was", "zeros")]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", COMPRESSED)
def test_what_is_saved_comes_back(name, sparse, tmp_path):
    model = COMPRESSED[name](classifier())
    path, fresh = tmp_path / "small.safetensors", BertForSequenceClassification(CONFIG)
    with untouched(fresh):
        saving.save(model, path, sparse=sparse)
        again = saving.load(path, fresh)
    given = batch()
    ours, theirs = (m.eval()(**given, output_attentions=True) for m in (again, model))
    assert torch.equal(ours.logits, theirs.logits)
    assert all(torch.equal(a, b) for a, b in zip(ours.attentions, theirs.attentions, strict=True))
    assert size_of(again) == size_of(model)
    assert [type(m) for m in again.modules()] == [type(m) for m in model.modules()]


@pytest.mark.parametrize("name", [name for name in CHANGED if "that are one" not in name])
def test_the_models_own_ways_refuse_what_they_would_not_give_back(name, tmp_path):
    model = COMPRESSED[name](classifier())
    for way in (lambda: model.save(tmp_path / "model.safetensors"), model.to_transformers):
        with pytest.raises(CourseError, match="no longer what its configuration makes"):
            way()
    assert not list(tmp_path.iterdir())


def test_the_models_own_ways_give_back_layers_apart(tmp_path):
    model = share_layers(classifier()).model
    model.save(tmp_path / "model.safetensors")
    again = BertForSequenceClassification.load(tmp_path / "model.safetensors")
    reference = BertForSequenceClassification.from_transformers(model.to_transformers()).eval()
    given = batch()
    for other in (again, reference):
        assert torch.equal(other(**given).logits, model(**given).logits)
        assert size_of(other).parameters == size_of(classifier()).parameters


def test_saving_draws_nothing(tmp_path):
    model, state = classifier(), torch.get_rng_state()
    model.save(tmp_path / "model.safetensors")
    assert torch.equal(torch.get_rng_state(), state)


def test_what_is_shared_is_written_once(tmp_path):
    shared, alone = share_layers(classifier()).model, classifier()
    one = sum(p.numel() for p in alone.bert.encoder.layers[0].parameters())
    tensors = [sum(t.numel() for t in saving.contents(m)[0].values()) for m in (shared, alone)]
    assert tensors[1] - tensors[0] == 3 * one
    tied = Tied()
    assert sorted(saving.contents(tied)[0]) == sorted(n for n, _ in tied.named_parameters())
    saving.save(tied, tmp_path / "tied.safetensors")
    again = saving.load(tmp_path / "tied.safetensors", Tied())
    assert again.score.weight is again.word.weight
    assert torch.equal(again.word.weight, tied.word.weight)


def test_a_sparse_form_is_the_same_matrix():
    matrix = torch.randn(20, 30) * (torch.rand(20, 30) < 0.2)
    matrix[3] = 0
    given = {"weight": matrix, "whole": torch.randn(4, 5), "bias": torch.zeros(20)}
    written, shapes = saving._sparse(given)
    assert list(shapes) == ["weight"] and "weight" not in written
    again = saving._dense(written, shapes)
    assert sorted(again) == sorted(given)
    assert all(torch.equal(again[name], given[name]) for name in given)


def test_zeros_shrink_the_sparse_form_only():
    model = nn.Linear(300, 100)
    sizes = {
        sparsity: [
            len(saving.as_bytes(make_permanent(prune_weights(model, sparsity).model), sparse=s))
            for s in (False, True)
        ]
        for sparsity in (0.0, 0.5, 0.9)
    }
    assert sizes[0.0][0] == sizes[0.5][0] == sizes[0.9][0]
    assert sizes[0.0][1] == pytest.approx(sizes[0.0][0], abs=20)
    assert sizes[0.5][1] < 0.8 * sizes[0.5][0] and sizes[0.9][1] < 0.2 * sizes[0.9][0]


def test_what_does_not_fit_is_refused(tmp_path):
    model, path = classifier(), tmp_path / "small.safetensors"
    for unfinished in (prune_weights(model, 0.5).model, prepare(model)):
        with pytest.raises(CourseError, match="under a mask, or rounds in training"):
            saving.save(unfinished, path)
    model.save(path)
    with pytest.raises(CourseError, match=r"no compressed model.*BertForSequenceClass"):
        saving.load(path, model)
    for name in CHANGED:
        saving.save(COMPRESSED[name](model), path)
        with pytest.raises(CourseError, match="a compressed BertForSequenceClassification"):
            saving.load(path, Tied())
        with pytest.raises(CourseError, match="no model of the course"):
            BertForSequenceClassification.load(path)
        for change in ({"num_hidden_layers": 2}, {"intermediate_size": 24}, {"vocab_size": 50}):
            other = BertForSequenceClassification(replace(CONFIG, **change))
            with untouched(other), pytest.raises(CourseError):
                saving.load(path, other)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(CourseError, match="damaged"):
        saving.load(path, model)
    with pytest.raises(CourseError, match="is not there"):
        saving.load(tmp_path / "other", model)
    with pytest.raises(CourseError, match="folder is needed"):
        saving.save(model, path / "below")
