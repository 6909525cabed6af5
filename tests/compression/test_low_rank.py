"""Two thin matrices for one: what is lost, how many numbers are left, and a model of them."""

import copy

import pytest
import torch
from torch import nn

from lmcourse.compression.low_rank import (
    LowRankEmbedding,
    LowRankLinear,
    factorize,
    factors,
    is_smaller,
    rank_of_energy,
)
from lmcourse.compression.magnitude_pruning import prune_weights
from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import BertForMaskedLM
from tests.compression.small import CONFIG, Tied, batch, classifier, untouched
from tests.parity.comparing import shaken

SHAPES = [(8, 5), (5, 8), (6, 6)]
BOTH = (nn.Linear, nn.Embedding)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_lost_is_what_was_left_out(shape):
    weight = torch.randn(shape, dtype=torch.float64)
    values = torch.linalg.svdvals(weight)
    for rank in range(1, min(shape) + 1):
        left, right = factors(weight, rank)
        assert left.shape == (shape[0], rank) and right.shape == (rank, shape[1])
        lost = (weight - left @ right).norm()
        torch.testing.assert_close(lost, values[rank:].norm(), atol=1e-12, rtol=1e-10)
        torch.testing.assert_close(left.norm(), right.norm())  # both learn at the same pace
        for _ in range(20):  # no other matrix of this rank is nearer
            other = (left + 0.1 * torch.randn_like(left)) @ right
            assert (weight - other).norm() >= lost


def test_rank_of_energy_is_the_least():
    weight = torch.diag(torch.tensor([3.0, 2.0, 1.0, 0.0]))  # squares 9, 4, 1 of 14
    for energy, rank in ((0.5, 1), (9 / 14 - 1e-9, 1), (0.65, 2), (0.93, 3), (1.0, 3)):
        assert rank_of_energy(weight, energy) == rank, energy


@pytest.mark.parametrize("shape", SHAPES)
def test_break_even(shape):
    m, n = shape
    for rank in range(1, min(shape)):
        numbers = sum(part.numel() for part in factors(torch.randn(shape), rank))
        assert is_smaller(torch.randn(shape), rank) == (numbers < m * n) == (rank < m * n / (m + n))


def dense(model: nn.Module, factorized: nn.Module) -> nn.Module:
    """The model as it was, with the products of the factors for its matrices."""
    model = copy.deepcopy(model)
    for name, module in factorized.named_modules():
        if isinstance(module, LowRankLinear | LowRankEmbedding):
            model.get_submodule(name).weight = nn.Parameter(module.weight.detach())
    return model


@pytest.mark.parametrize("settings", [{"rank": 3}, {"energy": 0.6}])
def test_a_model_computes_with_the_products(settings):
    model = classifier(torch.float64)
    with untouched(model):
        factorized = factorize(model, **settings, types=BOTH)
    given = batch()
    ours, theirs = factorized.model(**given), dense(model, factorized.model)(**given)
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-10, atol=1e-11)
    ours.loss.backward()
    assert all(p.grad is not None for p in factorized.model.parameters())
    counts = [sum(p.numel() for p in m.parameters()) for m in (model, factorized.model)]
    assert counts[0] - counts[1] == sum(c.weights - c.kept for c in factorized.changes) > 0
    for change in factorized.changes:
        weight = model.get_submodule(change.layer).weight.detach()
        module = factorized.model.get_submodule(change.layer)
        values = torch.linalg.svdvals(weight)
        wanted = (values[module.rank :].norm() / values.norm()).item()
        assert change.error == pytest.approx(wanted)
        if "energy" in settings:
            assert (
                1 - wanted**2 >= 0.6 > 1 - (values[module.rank - 1 :].norm() / values.norm()) ** 2
            )


def test_embeddings_that_are_the_outputs_weights_stay_so():
    model = shaken(BertForMaskedLM(CONFIG).double())
    factorized = factorize(model, rank=4, types=(nn.Embedding,), where="*.word").model
    given = batch()
    given["labels"] = given["input_ids"]
    ours, theirs = factorized(**given), dense(model, factorized)(**given)
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-10, atol=1e-11)
    ours.loss.backward()
    word = factorized.bert.embeddings.word
    assert word.reduce.weight.grad.abs().sum() > 0 and word.expand.grad.abs().sum() > 0
    assert word.reduce.weight.shape == (40, 4) and word.expand.shape == (4, 12)


def test_small_matrices_stay_as_they_are():
    model = classifier()
    factorized = factorize(model, rank=4)
    assert type(factorized.model.classifier.dense) is nn.Linear  # 3 × 12
    assert "classifier.dense" not in [c.layer for c in factorized.changes]


def test_what_makes_no_sense_is_refused():
    model = classifier()
    for settings in ({}, {"rank": 2, "energy": 0.5}):
        with pytest.raises(CourseError, match="Pass either"):
            factorize(model, **settings)
    for settings, cause in (
        ({"rank": 13}, r"No matrix.*rank of 1 to 7"),
        ({"energy": 0.0}, "energy"),
        ({"energy": 1.1}, "energy"),
    ):
        with pytest.raises(CourseError, match=cause):
            factorize(model, **settings)
    for rank in (0, 6):
        with pytest.raises(CourseError, match="no factors of rank"):
            factors(torch.randn(5, 8), rank)
    with pytest.raises(CourseError, match="tied to word"):
        factorize(Tied(), rank=1)
    with pytest.raises(CourseError, match="make_permanent"):
        factorize(prune_weights(model, 0.5).model, rank=2)
    with pytest.raises(CourseError, match="No Linear"):
        factorize(factorize(Bert(CONFIG), rank=2, where="*.query").model, rank=2, where="*.query")
