"""Standard errors and comparisons: formulas, SciPy's bootstrap, and chance as it is."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats

from lmcourse.errors import CourseError
from lmcourse.evaluation.metrics import accuracy, f1, matthews, pearson
from lmcourse.evaluation.uncertainty import (
    Score,
    bootstrap,
    mcnemar,
    mean_of_ratio,
    mean_score,
    paired_bootstrap,
    proportion,
)


def drawn(seed, n=200, right=0.8):
    """Labels, and predictions that are right so often."""
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
    values = np.repeat(rng.normal(size=40), 25)  # 25 examples of a text, which all say the same
    groups = np.repeat([f"text {i}" for i in range(40)], 25)
    assert mean_score(values, groups).error == pytest.approx(stats.sem(values[::25]))
    assert mean_score(values).error < mean_score(values, groups).error / 4


def test_a_mean_of_unequal_documents_is_that_of_what_they_hold():
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
    reach = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert score.value == p and score.error == pytest.approx(math.sqrt(p * (1 - p) / (n - 1)))
    assert (score.low, score.high) == pytest.approx((middle - reach, middle + reach))


def test_one_example_has_no_error():
    score = proportion([True])
    assert score.value == 1 and math.isnan(score.error) and 0 < score.low < score.high
    assert str(score) == "1.000 ± ?"
    assert str(Score(-0.00001, 0.01, -1, 1)) == "0.000 ± 0.010"
    assert str(Score(-np.inf, np.nan, np.nan, np.nan)) == "−∞"
    assert str(mean_score([-1, 0, 1])) == "0.000 ± 0.577"
    assert str(mean_score([-1.0, -2.0])) == "−1.500 ± 0.500"


@pytest.mark.parametrize("metric", [accuracy, pearson])
def test_the_bootstrap_is_scipys(metric):
    y, found = drawn(3)
    ours = bootstrap(metric, y, found, resamples=1000)
    settings = {"paired": True, "vectorized": False, "n_resamples": 1000, "rng": 0}
    reference = stats.bootstrap((y, found), metric, method="percentile", **settings)
    assert ours.value == metric(y, found)
    assert ours.error == pytest.approx(reference.standard_error, rel=0.12)
    interval = reference.confidence_interval
    assert (ours.low, ours.high) == pytest.approx(tuple(interval), abs=0.02)
    assert bootstrap(metric, y, found, resamples=50) == bootstrap(metric, y, found, resamples=50)
    assert bootstrap(metric, y, found, resamples=50, seed=1).error != ours.error


def test_the_bootstrap_of_a_mean_finds_the_formula_with_groups_and_without():
    rng = np.random.default_rng(5)
    groups = rng.integers(60, size=500)  # texts of different lengths
    right = rng.random(500) < rng.uniform(0.2, 1, 60)[groups]
    y = np.ones(500, int)
    for given in (None, groups):
        ours = bootstrap(accuracy, y, right.astype(int), resamples=500, groups=given)
        assert ours.error == pytest.approx(mean_score(right.astype(float), given).error, rel=0.15)


def test_resamples_without_a_score_are_left_out():
    y, found = [0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.9]
    score = bootstrap(pearson, y, found, resamples=200)  # a third of them are constant
    assert np.isfinite(score).all()
    nothing = bootstrap(pearson, y, [1.0] * 4, resamples=20)
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("seed", range(5))
def test_mcnemar_is_the_binomial_test_of_those_that_differ(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 80)) < [[0.8], [0.7]]
    n10, n01 = int((first & ~second).sum()), int((~first & second).sum())
    found = mcnemar(first, second)
    tail = sum(math.comb(n10 + n01, k) for k in range(min(n10, n01) + 1)) / 2 ** (n10 + n01)
    assert found.p == pytest.approx(min(1, 2 * tail))
    assert found.difference == pytest.approx(first.mean() - second.mean())
    assert found.error == pytest.approx(stats.sem(first.astype(float) - second))
    other = mcnemar(second, first)
    assert (other.difference, other.p) == pytest.approx((-found.difference, found.p))


def test_two_systems_that_answer_alike_do_not_differ():
    y, found = drawn(0)
    right = y == found
    assert mcnemar(right, right) == (0, 0, 0, 0, 1)
    assert paired_bootstrap(matthews, y, found, found, resamples=50) == (0, 0, 0, 0, 1)


def test_pairs_see_what_single_errors_hide():
    y, second = drawn(1, 1000)
    first = second.copy()
    wrong = np.flatnonzero(y != second)[:12]
    first[wrong] = y[wrong]  # the first knows 12 more, and all that the second knows
    compared = mcnemar(y == first, y == second)
    assert compared.difference == pytest.approx(0.012) and compared.p < 0.001
    assert compared.error < proportion(y == first).error / 3
    boot = paired_bootstrap(accuracy, y, first, second, resamples=400)
    assert boot.difference == pytest.approx(0.012) and boot.p < 0.02 and boot.low > 0
    assert boot.error == pytest.approx(compared.error, rel=0.15)
    assert str(compared).startswith("+0.012 ± 0.003 (p = 0.00049)")


def test_p_is_right_as_often_as_it_says():
    """Of 300 pairs of equally good systems, 1 in 10 has p < 0.1 (and fewer by the exact test)."""
    small, exact = 0, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = np.ones(60, int)
        first, second = (rng.random((2, 60)) < 0.7).astype(int)
        small += paired_bootstrap(_mean, y, first, second, resamples=99, seed=seed).p < 0.1
        exact += mcnemar(first, second).p < 0.1
    assert 12 <= small <= 48 and exact <= 42


def _mean(labels, predictions):
    return predictions.mean()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mean_score([]), "values is empty"),
        (lambda: mean_score([1.0, math.nan]), r"values\[1\] is nan"),
        (lambda: mean_score([1.0, math.inf]), r"values\[1\] is inf"),
        (lambda: mean_score(["a"]), "no numbers"),
        (lambda: mean_score([[1.0, 2.0]]), "shape"),
        (lambda: mean_score([1.0, 2.0], [1]), "2 examples, 1 groups"),
        (lambda: proportion([0.5, 1]), "other values than True and False"),
        (lambda: mcnemar([True], [True, False]), "1 first_right, 2 second_right"),
        (lambda: bootstrap(accuracy, [1, 0], [1, 0], resamples=1), "no spread"),
        (lambda: bootstrap(accuracy, [1, 0], [1]), "2 labels, 1 predictions"),
        (lambda: bootstrap(accuracy, [1, 0], [1, 0], groups=["a"]), "2 examples, 1 groups"),
        (lambda: paired_bootstrap(accuracy, [1, 0], [1, 0], [1]), "1 second"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()


def test_one_unit_tells_nothing_of_chance():
    y, first, second = np.ones(100, int), np.ones(100, int), np.zeros(100, int)
    one = paired_bootstrap(accuracy, [1], [1], [0], resamples=50)
    group = paired_bootstrap(accuracy, y, first, second, resamples=50, groups=["a"] * 100)
    for found in (one, group):
        assert found.difference == 1 and np.isnan(found[1:]).all()
        assert str(found) == "+1.000 ± ? (p = ?)"
    for found in (
        bootstrap(accuracy, [1], [1], resamples=50),
        bootstrap(accuracy, y, first, resamples=50, groups=["a"] * 100),
    ):
        assert found.value == 1 and np.isnan(found[1:]).all()


def test_a_resample_that_is_as_far_counts_for_p_though_floats_miss_it():
    """Held against counts of right answers, in whole numbers."""
    labels, rows = np.arange(60), []
    rng = np.random.default_rng(0)
    first, second = (np.where(rng.random(60) < share, labels, -1) for share in (0.75, 0.65))

    def noted(y, found):
        rows.append(int((y == found).sum()))
        return accuracy(y, found)

    p = paired_bootstrap(noted, labels, first, second, resamples=400).p
    found, *draws = np.array(rows[::2]) - np.array(rows[1::2])
    assert p == (1 + sum(abs(it - found) >= abs(found) for it in draws)) / 401


def test_where_no_resample_has_a_score_there_is_no_p():
    """A correlation of two examples, one of which is drawn twice, or which are one and the same."""
    first, second = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]

    def only_whole(labels, predictions):
        return pearson(labels, predictions) if len(set(predictions)) == 3 else np.nan

    found = paired_bootstrap(only_whole, [0.0, 1.0, 2.0], first, second, resamples=60)
    # Left are the permutations, in which the difference is what it was: none is as far from it.
    assert found.difference == pytest.approx(2) and found.error < 1e-9 and found.p > 2 / 61

    def once(labels, predictions):
        return 1.0 if list(predictions) in (first, second) else np.nan

    nothing = paired_bootstrap(once, [0.0, 1.0, 2.0], first, second, resamples=2)
    assert nothing.difference == 0 and np.isnan(nothing[1:]).all()


def test_resamples_without_the_class_that_is_sought_are_left_out():
    y = ["x"] + ["y", "z"] * 10
    found = ["x"] + ["y", "y"] * 10
    measure = partial(f1, average="macro", classes=["x"])
    score = bootstrap(measure, y, found, resamples=60)
    assert score.value == 1 and score.error == 0  # wherever there is an x, it is found
    compared = paired_bootstrap(measure, y, found, ["y"] * 21, resamples=60)
    assert compared.difference == 1 and np.isfinite(compared).all()
    with pytest.raises(CourseError, match="none of the classes"):  # of all examples
        bootstrap(partial(f1, average="macro", classes=["w"]), y, found)


@pytest.mark.bad_input
def test_sums_and_counts_belong_together():
    with pytest.raises(CourseError, match="2 sums, 3 counts"):
        mean_of_ratio([1.0, 2.0], [1, 2, 3])
    with pytest.raises(CourseError, match=r"groups\[1\] is nan"):
        mean_score([1.0, 2.0], [1.0, math.nan])
