"""ELECTRA's discriminator at its own task: how well replaced tokens are told, by hand."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from research.pretrain.electra import _nats, judged, told_apart
from research.pretrain.recipes import RECIPES

AREA = "replaced or not, area under the ROC curve"


def test_what_is_told_apart_is_told_by_hand():
    first = np.array([2.0, -1.0, -3.0]), np.array([1.0, 0.0, 0.0])
    second = np.array([0.5, -2.0]), np.array([0.0, 1.0])
    found = {name: score.value for name, score in told_apart([first, second]).items()}
    assert found["share of tokens that are replaced"] == pytest.approx(2 / 5)
    assert found["replaced or not, accuracy"] == pytest.approx(3 / 5)
    assert found['replaced or not, accuracy of the answer "original"'] == pytest.approx(3 / 5)
    # Of 2 · 3 pairs, those in which the replaced token has the higher score: 3, and 1 of the other.
    assert found[AREA] == pytest.approx(4 / 6)


def test_the_loss_is_the_one_it_learns_by():
    chance = np.random.default_rng(0)
    scores, replaced = chance.normal(0, 4, 50), chance.integers(0, 2, 50).astype(float)
    expected = functional.binary_cross_entropy_with_logits(
        torch.tensor(scores), torch.tensor(replaced), reduction="none"
    )
    assert _nats(scores, replaced) == pytest.approx(expected.numpy())


@pytest.mark.parametrize(("sign", "area"), [(1, 1.0), (-1, 0.0), (0, 0.5)])
def test_who_knows_all_has_the_whole_area(sign, area):
    chance = np.random.default_rng(1)
    texts = [(chance.random(60) < 0.2).astype(float) for _ in range(8)]
    found = told_apart([(sign * (2 * it - 1), it) for it in texts])
    assert found[AREA].value == pytest.approx(area)


def test_it_reads_what_the_generator_filled_in(world):
    torch.manual_seed(0)
    pair = RECIPES["bookworld-electra"].network(world).eval()
    reviews = world.split("test", 12)
    found = judged(pair, reviews)
    assert [len(scores) for scores, _ in found] == [len(review.tokens) for review in reviews]
    share = np.concatenate([replaced for _, replaced in found]).mean()
    assert share == pytest.approx(0.15, abs=0.01)  # an untrained generator guesses none rightly
