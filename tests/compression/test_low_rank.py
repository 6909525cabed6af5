"""Two thin matrices for one: what is lost, how many numbers are left, and a model of them."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from lmcourse.compression.low_rank import (
    LowRankEmbedding,
    LowRankLinear,
    factorize,
    factors,
    pays,
    rank_of_energy,
    second_moments,
)
from lmcourse.compression.magnitude_pruning import prune_weights
from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.parity.comparing import shaken
from tests.compression.small import CONFIG, Tied, batch, classifier, untouched

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
        assert pays(torch.randn(shape), rank) == (numbers < m * n) == (rank < m * n / (m + n))


def dense(model: nn.Module, factorized: nn.Module) -> nn.Module:
    """The model as it was, with the products of the factors for its matrices."""
    model = copy.deepcopy(model)
    for name, module in factorized.named_modules():
        if isinstance(module, LowRankLinear | LowRankEmbedding):
            model.get_submodule(name).weight = nn.Parameter(module.weight.detach())
    return model


@pytest.mark.parametrize("settings", [{"rank": 3}, {"energy": 0.6}, {"budget": 0.5}])
def test_a_model_computes_with_the_products(settings):
    model = classifier(torch.float64)
    with untouched(model):
        factorized = factorize(model, **settings, kinds=BOTH)
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
        if "budget" in settings:
            more = (module.rank + 1) * sum(weight.shape)
            assert change.kept <= max(0.5 * weight.numel(), sum(weight.shape))
            assert more > 0.5 * weight.numel()


def test_embeddings_that_are_the_outputs_weights_stay_so():
    model = shaken(BertForMaskedLM(CONFIG).double())
    factorized = factorize(model, rank=4, kinds=(nn.Embedding,), where="*.word").model
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


def uneven(seed: int) -> torch.Tensor:
    """Inputs that lie mostly along some directions."""
    generator = torch.Generator().manual_seed(seed)
    turn, _ = torch.linalg.qr(torch.randn(10, 10, generator=generator, dtype=torch.float64))
    return (
        torch.randn(400, 10, generator=generator, dtype=torch.float64)
        * 3 ** -torch.arange(10.0)
        @ turn
    )


def test_with_moments_it_is_the_products_that_are_nearest():
    weight, x = torch.randn(10, 10, dtype=torch.float64), uneven(0)
    moment = x.T @ x / len(x)
    for rank in (1, 3, 5):
        plain, aware = (torch.matmul(*factors(weight, rank, m)) for m in (None, moment))
        lost = [((weight - w) @ x.T).norm() for w in (plain, aware)]
        # the least there is: what the singular values of W Xᵀ leave out
        least = torch.linalg.svdvals(weight @ x.T)[rank:].norm()
        torch.testing.assert_close(lost[1], least, rtol=1e-6, atol=1e-9)
        assert lost[1] < 0.9 * lost[0]
        assert (weight - plain).norm() < (weight - aware).norm()


def test_directions_that_never_come_cost_nothing():
    weight, x = torch.randn(6, 10, dtype=torch.float64), uneven(1)
    x[:, 4:] = 0
    left, right = factors(weight, 4, x.T @ x / len(x))
    torch.testing.assert_close(x @ (left @ right).T, x @ weight.T, rtol=1e-8, atol=1e-10)
    assert left.isfinite().all() and right.isfinite().all()


def test_moments_are_those_of_what_goes_in():
    model = classifier(torch.float64).train()
    batches = [batch(2), batch(5)]
    with untouched(model):
        moments = second_moments(model, batches)
    model.eval()
    states = [model.bert(b["input_ids"], b["attention_mask"], output_hidden_states=True)
              for b in batches]  # fmt: skip
    x = torch.cat([s.hidden_states[2].flatten(0, 1) for s in states])
    # and as many more as there are dimensions, one along each axis, of the mean size
    size = (x**2).sum(1).mean().sqrt()
    x = torch.cat([x, size * torch.eye(12, dtype=x.dtype)])
    wanted = x.T @ x / len(x)
    torch.testing.assert_close(moments["bert.encoder.layers.2.attention.query"], wanted)
    aware, plain = (factorize(model, rank=3, moments=m).model for m in (moments, None))
    full = [model(**b).logits for b in batches]
    lost = [
        sum((m(**b).logits - f).norm().item() for b, f in zip(batches, full, strict=True))
        for m in (aware, plain)
    ]
    assert lost[0] < lost[1]


def test_what_makes_no_sense_is_refused():
    model = classifier()
    for settings in ({}, {"rank": 2, "energy": 0.5}):
        with pytest.raises(CourseError, match="Give one of"):
            factorize(model, **settings)
    for settings, cause in (
        ({"rank": 0}, "rank is 0"),
        ({"rank": 13}, r"No matrix.*rank of 1 to 7"),
        ({"energy": 0.0}, "energy"),
        ({"energy": 1.1}, "energy"),
        ({"budget": 1.0}, "budget"),
        ({"budget": 0.0}, "budget"),
    ):
        with pytest.raises(CourseError, match=cause):
            factorize(model, **settings)
    for rank in (0, 6):
        with pytest.raises(CourseError, match="no factors of rank"):
            factors(torch.randn(5, 8), rank)
    with pytest.raises(CourseError, match="also word"):
        factorize(Tied(), rank=1)
    with pytest.raises(CourseError, match="make_permanent"):
        factorize(prune_weights(model, 0.5).model, rank=2)
    with pytest.raises(CourseError, match="one batch at least"):
        second_moments(model, [])
    with pytest.raises(CourseError, match="No Linear"):
        factorize(factorize(Bert(CONFIG), rank=2, where="*.query").model, rank=2, where="*.query")


def test_energy_is_that_of_the_products():
    weight, x = torch.randn(10, 10, dtype=torch.float64), uneven(0)
    moment = x.T @ x / len(x)
    squares = torch.linalg.svdvals(weight @ x.T) ** 2
    for energy in (0.5, 0.9, 0.99):
        rank = rank_of_energy(weight, energy, moment)
        assert squares[:rank].sum() >= energy * squares.sum() > squares[: rank - 1].sum()
    assert rank_of_energy(weight, 0.9, moment) < rank_of_energy(weight, 0.9)
    model = classifier()
    moments = second_moments(model, [batch(8)])
    ranks = {c.layer: c.kept // 24 for c in factorize(model, energy=0.5, where="*.query",
                                                     moments=moments).changes}  # fmt: skip
    assert ranks == {
        name: rank_of_energy(model.get_submodule(name).weight, 0.5, moments[name]) for name in ranks
    }
    plain = factorize(model, energy=0.5, where="*.query").changes
    assert sum(ranks.values()) < sum(c.kept // 24 for c in plain)


def test_few_places_do_not_cost_the_directions_that_they_lack():
    layer = nn.Sequential(nn.Linear(40, 30))
    few, many = torch.randn(2, 40), torch.randn(500, 40)
    whole = layer(many)
    lost = {}
    for name, moments in (("none", None), ("few", moments_of(layer, few))):
        lost[name] = (factorize(layer, rank=16, moments=moments).model(many) - whole).norm()
    assert lost["few"] < 1.1 * lost["none"]
    # of many, little is made up
    moment = moments_of(layer, torch.randn(20_000, 40))["0"]
    torch.testing.assert_close(moment, torch.eye(40, dtype=moment.dtype), atol=0.06, rtol=0)


def moments_of(layer: nn.Module, x: torch.Tensor) -> dict[str, torch.Tensor]:
    return second_moments(layer, [{"input": x}])


def test_what_is_no_number_is_refused():
    model = classifier()
    moments = second_moments(model, [batch()])
    del moments["bert.encoder.layers.1.attention.key"]
    for settings in ({"rank": 3}, {"energy": 0.5}):
        with pytest.raises(CourseError, match=r"no moment for .*1\.attention\.key"):
            factorize(model, **settings, moments=moments)
    with pytest.raises(CourseError, match="factorize embeddings without"):
        factorize(model, rank=3, kinds=nn.Embedding, moments=moments)
    with torch.device("meta"):
        nowhere = Bert(CONFIG)
    for settings in ({"rank": 3}, {"energy": 0.5}):
        with pytest.raises(CourseError, match="meta device"):
            factorize(nowhere, **settings)
    with torch.no_grad():
        model.bert.encoder.layers[0].feed_forward.output.weight[0, 0] = torch.nan
    for settings in ({"rank": 3}, {"energy": 0.5}):
        with pytest.raises(CourseError, match=r"0\.feed_forward\.output holds .* NaN"):
            factorize(model, **settings)
    with pytest.raises(CourseError, match=r"What goes into .* is infinite or NaN"):
        second_moments(model, [batch()])


@pytest.mark.bad_input
def test_what_is_of_another_type_is_refused():
    for rank in (3.0, "3", True):
        with pytest.raises(CourseError, match="rank is"):
            factorize(classifier(), rank=rank)
    wanted = factorize(classifier(), rank=3).changes
    torch.manual_seed(0)
    assert [c.kept for c in factorize(classifier(), rank=np.int64(3)).changes] == [
        c.kept for c in wanted
    ]


@pytest.mark.bad_input
def test_moments_of_another_layer_are_refused():
    with pytest.raises(CourseError, match="second_moments"):
        factors(torch.randn(5, 8), 2, torch.eye(5))
