"""Sizes: by hand, and of files that are there."""

import gzip

import pytest
import torch
from torch import nn

from lmcourse.compression import saving
from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.sharing import share_layers
from lmcourse.compression.size import Size, bytes_on_disk, size_of
from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from tests.compression.small import Tied, classifier


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
    for sparse, form in ((False, "dense"), (True, "sparse")):
        saving.save(model, tmp_path / form, sparse=sparse)
        assert bytes_on_disk(model, form) == (tmp_path / form).stat().st_size
    packed = bytes_on_disk(model, "gzip")
    content = (tmp_path / "dense").read_bytes()
    assert packed == pytest.approx(len(gzip.compress(content)), abs=30)
    assert packed < bytes_on_disk(model, "sparse") < bytes_on_disk(model, "dense")
    assert bytes_on_disk(model) - size_of(model).bytes < 12_000  # names and shapes


@pytest.mark.bad_input
def test_another_form_is_refused():
    with pytest.raises(CourseError, match="form is 'zip'"):
        bytes_on_disk(Tied(), "zip")
    with pytest.raises(CourseError, match="make_permanent"):
        bytes_on_disk(prune_weights(Tied(), 0.5).model)
