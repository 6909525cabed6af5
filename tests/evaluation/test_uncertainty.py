"""Standard errors: formulas, SciPy's bootstrap, and simulated data."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.metrics import accuracy_score

from lmcourse.evaluation.uncertainty import (
    Score,
    bootstrap,
    mean_of_ratio,
    mean_score,
    proportion,
)


def pearson(y, predicted):
    return stats.pearsonr(y, predicted).statistic


def drawn(seed, n=200, right=0.8):
    """Labels, and predictions of which so many are right."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return y, np.where(rng.random(n) < right, y, 1 - y)


@pytest.mark.parametrize("n", [2, 7, 300])
def test_a_mean_has_scipys_error_and_interval(n):
    values = np.random.default_rng(n).normal(size=n)
    score = mean_score(torch.tensor(values))
    assert score.value == pytest.approx(values.mean())
    assert score.error == pytest.approx(stats.sem(values))
    wanted = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (score.low, score.high) == pytest.approx(wanted)


def test_a_mean_over_groups_counts_texts_not_examples():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=40), 25)  # 25 equal examples per text
    groups = np.repeat([f"text {i}" for i in range(40)], 25)
    assert mean_score(values, groups).error == pytest.approx(stats.sem(values[::25]))
    assert mean_score(values).error < mean_score(values, groups).error / 4


def test_a_mean_of_unequal_documents_is_that_of_their_tokens():
    rng = np.random.default_rng(1)
    tokens = rng.integers(1, 50, 400)
    nats = tokens * 2 + rng.normal(size=400) * tokens
    score = mean_of_ratio(nats, tokens)
    assert score.value == pytest.approx(nats.sum() / tokens.sum())
    again = [nats[rows].sum() / tokens[rows].sum() for rows in rng.integers(400, size=(2000, 400))]
    assert score.error == pytest.approx(np.std(again), rel=0.1)
    assert mean_of_ratio(np.array([1.0, np.inf]), np.array([1, 1])).value == np.inf


@pytest.mark.parametrize("right, n", [(0, 5), (5, 5), (3, 4), (80, 100)])
def test_a_proportion_has_wilsons_interval(right, n):
    score = proportion([True] * right + [False] * (n - right))
    p, z = right / n, stats.norm.ppf(0.975)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    margin = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert score.value == p and score.error == pytest.approx(math.sqrt(p * (1 - p) / (n - 1)))
    assert (score.low, score.high) == pytest.approx((middle - margin, middle + margin))


def test_one_example_has_no_error():
    score = proportion([True])
    assert score.value == 1 and math.isnan(score.error) and 0 < score.low < score.high
    assert str(score) == "1.000 ± ?"
    assert str(Score(-0.00001, 0.01, -1, 1)) == "0.000 ± 0.010"
    assert str(Score(-np.inf, np.nan, np.nan, np.nan)) == "−∞"
    assert str(mean_score([-1, 0, 1])) == "0.000 ± 0.577"
    assert str(mean_score([-1.0, -2.0])) == "−1.500 ± 0.500"


@pytest.mark.parametrize("metric", [accuracy_score, pearson])
def test_the_bootstrap_is_scipys_of_paired_examples(metric):
    y, predicted = drawn(3)
    score = bootstrap(metric, y, predicted, resamples=300)
    settings = {"paired": True, "vectorized": False, "n_resamples": 300, "rng": 0}
    reference = stats.bootstrap((y, predicted), metric, method="percentile", **settings)
    assert score.value == metric(y, predicted)
    assert score.error == pytest.approx(reference.standard_error)
    assert (score.low, score.high) == pytest.approx(tuple(reference.confidence_interval))
    assert bootstrap(metric, y, predicted, resamples=300, seed=1).error != score.error


def test_the_bootstrap_of_a_mean_has_the_formulas_error_with_groups_and_without():
    rng = np.random.default_rng(5)
    groups = rng.integers(60, size=500)  # texts of different lengths
    right = rng.random(500) < rng.uniform(0.2, 1, 60)[groups]
    for given in (None, groups):
        score = bootstrap(accuracy_score, np.ones(500), right * 1.0, resamples=500, groups=given)
        assert score.error == pytest.approx(mean_score(right, given).error, rel=0.15)


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_resamples_with_an_undefined_score_are_left_out():
    y, predicted = [0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.9]
    score = bootstrap(pearson, y, predicted, resamples=200)  # a third of them are constant
    assert np.isfinite(score).all()
    assert np.isnan(bootstrap(pearson, y, [1.0] * 4, resamples=20)).all()


def test_one_unit_has_no_error():
    y = np.ones(100)
    for score in (
        bootstrap(accuracy_score, [1], [1], resamples=50),
        bootstrap(accuracy_score, y, y, resamples=50, groups=["a"] * 100),
    ):
        assert score.value == 1 and np.isnan(score[1:]).all()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_any_precision_are_columns_gradients_and_all(kind):
    values = torch.tensor([0.5, 1.0, 2.0], dtype=kind, requires_grad=True)
    assert mean_score(values) == mean_score(list(values)) == mean_score([0.5, 1.0, 2.0])
