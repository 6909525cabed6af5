"""Compressed models come back from their files as they were; others refuse them."""

import json
import re
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file
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
from lmcourse.models.bert import Bert
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.checkpoint import config_as_json
from lmcourse.models.distilbert import DistilBert
from lmcourse.models.weights import read_tensors
from tests.compression.small import ATTENTION, CONFIG, Tied, batch, classifier, untouched

HEADS = {ATTENTION.format(i): [1] for i in range(4)}
BOTH = (nn.Linear, nn.Embedding)


def trained_in_eight_bits(model, where="*"):
    prepared = prepare(model, where=where).train()
    prepared(**batch())
    return convert(prepared).model


def after_training(model):
    return trained_in_eight_bits(model, "*.feed_forward.*")


COMPRESSED = {
    "as it was": lambda model: model,
    "without heads": lambda m: prune_heads(m, {ATTENTION.format(2): [0, 2]}).model,
    "layers that are one": lambda m: share_layers(m).model,
    "parts that are one": lambda m: (
        share_layers(m, parts=("attention.query", "feed_forward")).model
    ),
    "two factors": lambda m: factorize(m, rank=2, types=BOTH).model,
    "zeros": lambda m: make_permanent(prune_weights(m, 0.8).model),
    "eight bits": lambda m: quantize_dynamic(m).model,
    "eight bits, one scale": lambda m: quantize_dynamic(m, per_channel=False).model,
    "eight bits after training": after_training,
    "zeros in eight bits": lambda m: trained_in_eight_bits(prune_weights(m, 0.8).model),
    "all": lambda m: (
        quantize_dynamic(
            factorize(share_layers(prune_heads(m, HEADS).model).model, rank=2, types=BOTH).model
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
    learns = [p.requires_grad for p in model.parameters()]
    assert [p.requires_grad for p in again.parameters()] == learns


@pytest.mark.parametrize("name", ["as it was", "layers that are one", "zeros in eight bits", "all"])
def test_the_file_alone_is_enough(name, tmp_path):
    model, path = COMPRESSED[name](classifier()), tmp_path / "small.safetensors"
    saving.save(model, path)
    with torch.device("meta"):
        nowhere = BertForSequenceClassification(CONFIG)
    given = batch()
    for target in (BertForSequenceClassification, nowhere, model):
        again = saving.load(path, target)
        assert torch.equal(again(**given).logits, model.eval()(**given).logits)
        assert again.config == CONFIG and not again.training
    assert all(p.is_meta for p in nowhere.parameters())


def test_another_module_comes_back_into_one_of_its_form(tmp_path):
    path, model = tmp_path / "small", nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 5))
    small = factorize(model, rank=2).model
    saving.save(small, path)
    with untouched(model):
        again = saving.load(path, model)
    x = torch.randn(3, 8)
    assert torch.equal(again(x), small(x))
    with torch.device("meta"):
        nowhere = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 5))
    with pytest.raises(CourseError, match="cannot be built from its file alone"):
        saving.load(path, nowhere)
    for other in (small, nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.Tanh(), nn.Tanh())):
        with pytest.raises(CourseError, match="another structure than this Sequential"):
            saving.load(path, other)


def rewritten(path, structure=None, **tensors):
    """The file, with another structure or other tensors."""
    metadata, held = read_tensors(path)
    (key,) = metadata.keys() - {"format"}
    metadata[key] = json.dumps(json.loads(metadata[key]) | (structure or {}))
    save_file(held | tensors, path, metadata)


def test_a_structure_takes_no_memory_before_it_is_compared(tmp_path):
    """No memory holds these: only the meta device has such a model."""
    path, model = tmp_path / "small", make_permanent(prune_weights(classifier(), 0.8).model)
    saving.save(model, path, sparse=True)
    _, held = read_tensors(path)
    name = next(name for name in held if name.endswith(":lengths"))
    matrix = name.removesuffix(":lengths")
    for shape in ([10**12, 4], [4, 10**12]):
        saving.save(model, path, sparse=True)
        rewritten(path, {"shapes": {matrix: shape}})
        with pytest.raises(
            CourseError, match=f"another structure .*{re.escape(matrix)} has the sh"
        ):
            saving.load(path, BertForSequenceClassification)
    saving.save(model, path, sparse=True)
    rewritten(path, **{name: torch.full_like(held[name], 2**30)})
    with pytest.raises(CourseError, match="another structure"):
        saving.load(path, BertForSequenceClassification)
    saving.save(model, path)
    rewritten(path, {"config": config_as_json(replace(CONFIG, vocab_size=10**12))})
    with pytest.raises(CourseError, match=r"there and \(1000000000000, "):
        saving.load(path, BertForSequenceClassification)


@pytest.mark.parametrize("name", [name for name in CHANGED if "that are one" not in name])
def test_the_models_own_ways_refuse_what_they_would_not_give_back(name, tmp_path):
    model = COMPRESSED[name](classifier())
    for way, remedy in (
        (lambda: model.save(tmp_path / "model.safetensors"), "compression.saving"),
        (model.to_transformers, "compression.saving"),
        (lambda: BertForTokenClassification.on_top_of(model), "on the original model"),
        (lambda: DistilBert.from_teacher(model), "on the original model"),
    ):
        with pytest.raises(CourseError, match=f"no longer matches its configuration.*{remedy}"):
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
    again = saving._dense(written, shapes, given)
    assert sorted(again) == sorted(given)
    assert all(torch.equal(again[name], given[name]) for name in given)


def test_a_sparse_form_of_many_columns():
    matrix = torch.zeros(2, 70_000)
    matrix[0, 5], matrix[1, 40_000], matrix[1, 69_999] = 1, 2, 3
    again = saving._dense(*saving._sparse({"weight": matrix}), {"weight": matrix})
    assert torch.equal(again["weight"], matrix)


@pytest.mark.parametrize("dtype, edge", [(torch.float32, 1 / 3), (torch.half, 1 / 2),
                                         (torch.int8, 2 / 3)])  # fmt: skip
def test_from_which_sparsity_on_a_file_is_smaller(dtype, edge):
    for sparsity in (edge - 0.02, edge + 0.02):
        matrix = torch.ones(100, 1000, dtype=dtype)
        matrix[:, : round(1000 * sparsity)] = 0
        _, shapes = saving._sparse({"weight": matrix})
        assert bool(shapes) == (sparsity > edge)


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
        with pytest.raises(CourseError, match=r"make_permanent or .*\.convert first"):
            unfinished.save(path)
        with pytest.raises(CourseError, match="on the original model"):
            BertForTokenClassification.on_top_of(unfinished)
        with pytest.raises(CourseError, match="has a mask, or fake quantization"):
            saving.save(unfinished, path)
    model.save(path)
    with pytest.raises(CourseError, match=r"no compressed model.*BertForSequenceClass"):
        saving.load(path, model)
    for name in CHANGED:
        saving.save(COMPRESSED[name](model), path)
        with pytest.raises(CourseError, match="a compressed BertForSequenceClassification"):
            saving.load(path, Tied())
        with pytest.raises(CourseError, match=r"saving\.load\(path, BertForSequenceClass"):
            BertForSequenceClassification.load(path)
        with pytest.raises(CourseError, match="a compressed BertForSequenceClassification"):
            saving.load(path, Bert)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(CourseError, match="damaged"):
        saving.load(path, model)
    saving.save(Tied(), path)
    with pytest.raises(CourseError, match="cannot be built from its file alone"):
        saving.load(path, Tied)
    with pytest.raises(CourseError, match="is not there"):
        saving.load(tmp_path / "other", model)
    with pytest.raises(CourseError, match="folder is needed"):
        saving.save(model, path / "below")
