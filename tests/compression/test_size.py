"""Sizes: by hand, and of files that are there."""

import pytest
import torch
from torch import nn

from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.head_pruning import prune_heads
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.quantization_aware import convert, prepare
from lmcourse.compression.sharing import share_layers
from lmcourse.compression.size import Size, bytes_on_disk, contents, size_of, sparse_form
from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.distilbert import DistilBert
from tests.compression.small import ATTENTION, Tied, batch, classifier


def test_by_hand():
    layer = nn.Linear(100, 30)  # 3000 weights, 30 biases
    assert size_of(layer) == Size(3030, 3030, 4 * 3030)
    assert size_of(layer.double()).bytes == 8 * 3030
    layer.float()
    masked = prune_weights(layer, 0.9).model
    assert size_of(masked) == Size(3030, 330, 4 * 3030 + 4 * 3000)  # with a mask as large
    assert size_of(make_permanent(masked)) == Size(3030, 330, 4 * 3030)
    eight = size_of(quantize_dynamic(layer).model)
    assert (eight.parameters, eight.bytes) == (3030, 3000 + 4 * 30 + 4 * 30)
    two = factorize(layer, rank=5).model
    assert size_of(two) == Size(5 * 130 + 30, 5 * 130 + 30, 4 * (5 * 130 + 30))
    assert size_of(nn.BatchNorm1d(3)).parameters == 6  # and no running means


def test_what_is_shared_counts_once():
    assert size_of(Tied()).parameters == 40 + 16 + 4 + 10
    model = classifier()
    shared = share_layers(model).model
    one = sum(p.numel() for p in model.bert.encoder.layers[0].parameters())
    assert size_of(model).parameters - size_of(shared).parameters == 3 * one


def test_a_model_without_numbers_has_a_size():
    with torch.device("meta"):
        base = Bert(BertConfig.base())
    assert size_of(base) == Size(109_482_240, None, 4 * 109_482_240)


def test_bytes_on_disk_are_those_of_a_file(tmp_path):
    model = make_permanent(prune_weights(classifier(), 0.9).model)
    model.save(tmp_path / "model")
    assert bytes_on_disk(model) == pytest.approx((tmp_path / "model").stat().st_size, abs=1000)
    assert bytes_on_disk(model, "gzip") < bytes_on_disk(model, "sparse") < bytes_on_disk(model)
    assert bytes_on_disk(model) - size_of(model).bytes < 12_000  # names and shapes


@pytest.mark.bad_input
def test_what_is_not_finished_has_no_file():
    for unfinished in (prune_weights(Tied(), 0.5).model, prepare(classifier())):
        with pytest.raises(CourseError, match="make_permanent"):
            bytes_on_disk(unfinished)


def trained_in_eight_bits(model):
    prepared = prepare(model, where="*.feed_forward.*").train()
    prepared(**batch())
    return convert(prepared).model


COMPRESSED = {
    "without heads": lambda m: prune_heads(m, {ATTENTION.format(2): [0, 2]}).model,
    "two factors": lambda m: factorize(m, rank=2, types=(nn.Linear, nn.Embedding)).model,
    "eight bits": lambda m: quantize_dynamic(m).model,
    "eight bits after training": trained_in_eight_bits,
    "all": lambda m: quantize_dynamic(factorize(share_layers(m).model, rank=2).model).model,
}


@pytest.mark.parametrize("name", COMPRESSED)
def test_the_models_own_ways_refuse_what_they_would_not_give_back(name, tmp_path):
    model = COMPRESSED[name](classifier())
    assert bytes_on_disk(model) < bytes_on_disk(classifier())
    for way, remedy in (
        (lambda: model.save(tmp_path / "model.safetensors"), "compress it again"),
        (model.to_transformers, "compress it again"),
        (lambda: BertForTokenClassification.on_top_of(model), "on the original model"),
        (lambda: DistilBert.from_teacher(model), "on the original model"),
    ):
        with pytest.raises(CourseError, match=f"no longer matches its configuration.*{remedy}"):
            way()
    assert not list(tmp_path.iterdir())


def test_the_models_own_ways_refuse_what_is_not_finished(tmp_path):
    for unfinished in (prune_weights(classifier(), 0.5).model, prepare(classifier())):
        with pytest.raises(CourseError, match=r"make_permanent or .*\.convert first"):
            unfinished.save(tmp_path / "model.safetensors")
        with pytest.raises(CourseError, match="on the original model"):
            BertForTokenClassification.on_top_of(unfinished)


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


def test_what_is_shared_is_written_once():
    shared, alone = share_layers(classifier()).model, classifier()
    one = sum(p.numel() for p in alone.bert.encoder.layers[0].parameters())
    tensors = [sum(t.numel() for t in contents(m)[0].values()) for m in (shared, alone)]
    assert tensors[1] - tensors[0] == 3 * one
    tied = Tied()
    assert sorted(contents(tied)[0]) == sorted(n for n, _ in tied.named_parameters())
    small = quantize_dynamic(share_layers(classifier()).model).model
    assert sum(name.endswith("scale") for name in contents(small)[0]) == len(contents(small)[1])


def dense(written, name, shape):
    """The matrix of a sparse form."""
    parts = (written[f"{name}:{part}"] for part in ("lengths", "columns", "values"))
    lengths, columns, values = parts
    matrix = torch.zeros(shape, dtype=values.dtype)
    matrix[torch.arange(shape[0]).repeat_interleave(lengths), columns.long()] = values
    return matrix


def test_a_sparse_form_is_the_same_matrix():
    matrix = torch.randn(20, 30) * (torch.rand(20, 30) < 0.2)
    matrix[3] = 0
    given = {"weight": matrix, "whole": torch.randn(4, 5), "bias": torch.zeros(20)}
    written = sparse_form(given)
    assert torch.equal(dense(written, "weight", matrix.shape), matrix)
    assert all(written[name] is given[name] for name in ("whole", "bias"))
    assert len(written) == 5


def test_a_sparse_form_of_many_columns():
    matrix = torch.zeros(2, 70_000)
    matrix[0, 5], matrix[1, 40_000], matrix[1, 69_999] = 1, 2, 3
    assert torch.equal(dense(sparse_form({"w": matrix}), "w", matrix.shape), matrix)


@pytest.mark.parametrize("dtype, edge", [(torch.float32, 1 / 3), (torch.half, 1 / 2),
                                         (torch.int8, 2 / 3)])  # fmt: skip
def test_from_which_sparsity_on_a_file_is_smaller(dtype, edge):
    for sparsity in (edge - 0.02, edge + 0.02):
        matrix = torch.ones(100, 1000, dtype=dtype)
        matrix[:, : round(1000 * sparsity)] = 0
        assert ("weight" not in sparse_form({"weight": matrix})) == (sparsity > edge)


def test_zeros_shrink_the_sparse_form_only():
    model = nn.Linear(300, 100)
    sizes = {
        sparsity: [
            bytes_on_disk(make_permanent(prune_weights(model, sparsity).model), form)
            for form in ("dense", "sparse")
        ]
        for sparsity in (0.0, 0.5, 0.9)
    }
    assert sizes[0.0][0] == sizes[0.5][0] == sizes[0.9][0]
    assert sizes[0.0][1] == pytest.approx(sizes[0.0][0], abs=20)
    assert sizes[0.5][1] < 0.8 * sizes[0.5][0] and sizes[0.9][1] < 0.2 * sizes[0.9][0]
