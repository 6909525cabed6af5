"""SiFT: its divergence, its step, and that the words' scale does not matter."""

import math
from dataclasses import replace

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.deberta import DebertaForSequenceClassification, DebertaForTokenClassification
from lmcourse.models.sift import (
    normalized,
    perturbation,
    sift,
    squared_error,
    symmetric_kl,
)
from tests.models.test_deberta import SMALL
from tests.parity.comparing import shaken


def classifier():
    model = shaken(DebertaForSequenceClassification(SMALL).double())
    return model, lambda x: model(inputs_embeds=x).logits


def words(model):
    return model.bert.embeddings.word(torch.randint(1, 23, (2, 5)))


def test_the_divergence_by_hand():
    one, other = torch.tensor([[0.75, 0.25]]).log(), torch.tensor([[0.5, 0.5]]).log()
    there = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    back = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert symmetric_kl(one, other).item() == pytest.approx(there + back)
    assert symmetric_kl(other, one).item() == pytest.approx(there + back)
    assert symmetric_kl(one, one + 3).item() == pytest.approx(0, abs=1e-7)
    two = symmetric_kl(torch.cat([one, one]), torch.cat([other, one]))
    assert two.tolist() == pytest.approx([there + back, 0], abs=1e-7)


def test_the_squared_error_by_hand():
    one, other = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([[1.0, 4.0], [0.0, 4.0]])
    assert squared_error(one, other).tolist() == [2.0, 5.0]


def test_a_number_that_is_predicted_is_held_still_too():
    model = shaken(DebertaForSequenceClassification(replace(SMALL, num_labels=1)).double())
    predict, own = (lambda x: model(inputs_embeds=x).logits), words(model)
    found = sift(predict, own, spread=0.1, distance=squared_error)
    assert found.loss > 0
    found.loss.backward()
    assert model.classifier.dense.weight.grad.any()


def test_a_texts_step_is_the_same_alone_and_in_a_batch():
    model, predict = classifier()
    x = normalized(model.bert.embeddings.word(torch.randint(1, 23, (64, 5)))).detach()
    start = 0.01 * torch.randn_like(x)
    alone = perturbation(predict, x[:1], predict(x[:1]), start[:1])
    for texts in (8, 64):
        given = x[:texts], predict(x[:texts]), start[:texts]
        found = perturbation(predict, *given)[:1]
        torch.testing.assert_close(found - start[:1], alone - start[:1], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("padding", [1, 3])
def test_what_padding_predicts_counts_for_nothing(padding):
    model = shaken(DebertaForTokenClassification(SMALL).double())
    own, start = words(model), 0.1 * torch.randn(2, 5, 12, dtype=torch.float64)
    start[:, 5 - padding :] *= 30
    mask = torch.ones(2, 5, dtype=torch.long)
    mask[1, 5 - padding :] = 0

    def predict(x):
        return model(inputs_embeds=x, attention_mask=mask[: len(x), : x.shape[1]]).logits

    found = sift(predict, own, start=start, step=0.01, counted=mask)
    full = mask[1].bool()
    rows = [sift(predict, own[:1], start=start[:1], step=0.01).loss]
    cut = own[1:, full], start[1:, full]
    mask = torch.ones(1, 5 - padding, dtype=torch.long)
    rows.append(sift(predict, cut[0], start=cut[1], step=0.01).loss)
    expected = (5 * rows[0] + (5 - padding) * rows[1]) / (10 - padding)
    torch.testing.assert_close(found.loss, expected)


def test_where_nothing_counts_the_loss_is_0():
    model, _ = classifier()
    predict = lambda x: x  # noqa: E731
    found = sift(predict, words(model), counted=torch.zeros(2, 5, dtype=torch.bool))
    assert found.loss == 0


def test_dropout_is_measured_too():
    model, predict = classifier()
    x = normalized(words(model))
    assert symmetric_kl(predict(x), predict(x)).abs().max() < 1e-12
    model.train()
    assert symmetric_kl(predict(x), predict(x)).min() > 1e-6


def test_three_passes_forward_and_three_backward_of_which_one_forms_no_weights_gradient():
    model, predict = classifier()
    calls, slopes = [], []
    model.bert.encoder.layers[0].register_forward_hook(lambda *_: calls.append(1))
    model.classifier.dense.weight.register_hook(lambda _: slopes.append(1))
    found = sift(predict, words(model))
    assert len(calls) == 3 and not slopes
    (found.loss + found.logits.sum()).backward()
    assert model.classifier.dense.weight.grad.any()


def test_under_autocast_the_step_is_kept():
    model = shaken(DebertaForSequenceClassification(SMALL).float())
    own, start = words(model), 0.1 * torch.randn(2, 5, 12)

    def rounded(x):
        with torch.autocast("cpu", torch.bfloat16):
            return model(inputs_embeds=x).logits

    exact = sift(lambda x: model(inputs_embeds=x).logits, own, start=start, step=0.1).loss
    loss = sift(rounded, own, start=start, step=0.1).loss
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(exact.item(), rel=0.2)


def test_words_have_mean_0_and_variance_1():
    x = normalized(5 + 3 * torch.randn(2, 4, 50))
    torch.testing.assert_close(x.mean(-1), torch.zeros(2, 4), atol=1e-5, rtol=0)
    torch.testing.assert_close(x.var(-1, unbiased=False), torch.ones(2, 4))


def test_the_words_scale_changes_nothing():
    """With a step in the words themselves it would: what is small for one is much for another."""
    model, predict = classifier()
    own, start = words(model), 0.01 * torch.randn(2, 5, 12, dtype=torch.float64)
    scales = torch.rand(2, 5, 1, dtype=torch.float64) * 50 + 10
    one, other = (sift(predict, x, start=start, step=0.01) for x in (10 * own, own * scales))
    torch.testing.assert_close(one.logits, other.logits, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(one.loss, other.loss, rtol=1e-3, atol=0)


def test_the_step_goes_where_the_prediction_changes_and_no_token_beyond_its_length():
    model, predict = classifier()
    x, start = normalized(words(model)).detach(), 0.01 * torch.randn(2, 5, 12).double()
    target = predict(x)
    delta = perturbation(predict, x, target, start, step=0.001)
    farthest = (delta - start).abs().amax(-1)
    torch.testing.assert_close(farthest, torch.full_like(farthest, 0.001), rtol=0.1, atol=0)
    before, after = (symmetric_kl(predict(x + d), target) for d in (start, delta))
    assert (after > before).all()
    back = symmetric_kl(predict(x + 2 * start - delta), target)
    assert (back < before).all()


def test_the_search_leaves_no_gradient_behind_and_the_loss_reaches_every_weight():
    model, predict = classifier()
    x = normalized(words(model))
    delta = perturbation(predict, x, predict(x), torch.full_like(x, 0.01))
    assert not delta.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
    sift(predict, words(model), spread=0.1).loss.backward()
    dead = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert dead == ["classifier.dense.bias"] or not dead


def test_the_start_is_drawn_and_cut_off_at_two_standard_deviations():
    seen = []

    def predict(x):
        seen.append(x)
        return x.sum(1)

    own = torch.randn(4, 50, 40, dtype=torch.float64)
    sift(predict, own, spread=0.1, step=1e-9)
    start = seen[1] - seen[0]
    assert start.abs().max() <= 0.2 + 1e-12
    assert start.std().item() == pytest.approx(0.096, rel=0.05)
    assert torch.equal(seen[0], normalized(own))


def test_padding_does_not_matter():
    model = shaken(DebertaForSequenceClassification(SMALL).double())
    own = words(model)
    mask = torch.ones(2, 5, dtype=torch.long)
    start = 0.1 * torch.randn(2, 5, 12, dtype=torch.float64)

    def loss(x, mask, start):
        predict = lambda x: model(inputs_embeds=x, attention_mask=mask).logits  # noqa: E731
        return sift(predict, x, start=start, step=0.01).loss

    more = torch.randn(2, 3, 12, dtype=torch.float64)
    wider = torch.cat([mask, torch.zeros(2, 3, dtype=torch.long)], 1)
    one = loss(own, mask, start)
    other = loss(torch.cat([own, more], 1), wider, torch.cat([start, more], 1))
    torch.testing.assert_close(one, other)


def test_it_works_where_no_gradient_is_wanted():
    model, predict = classifier()
    with torch.no_grad():
        result = sift(predict, words(model))
    assert result.loss > 0 and not result.loss.requires_grad


def test_a_prediction_that_does_not_read_the_words_is_named():
    fixed = torch.randn(2, 3)
    model = DebertaForSequenceClassification(replace(SMALL, num_labels=2))
    given = torch.randint(1, 23, (2, 5))
    for predict in (lambda x: fixed, lambda x: model(given).logits):
        with pytest.raises(CourseError, match="does not depend on the words"):
            sift(predict, torch.randn(2, 5, 12))


WORDS = torch.randn(2, 5, 12)
