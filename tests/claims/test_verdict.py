"""The rule by which a claim is judged, on scores that are made up."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from lmcourse.errors import CourseError
from lmcourse.findings.verdict import difference, explained, judged


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(0.3, 0.2, 5)
    found = difference(values.tolist())
    interval = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.mean == pytest.approx(values.mean())
    assert found.spread == pytest.approx(values.std(ddof=1))


@pytest.mark.parametrize(
    ("values", "claimed", "verdict"),
    [
        ([0.30, 0.31, 0.29], "better", "supported"),
        ([-0.30, -0.31, -0.29], "better", "contradicted"),
        ([0.01, -0.01, 0.00], "better", "no effect found"),
        ([0.50, -0.50, 0.10], "better", "inconclusive"),
        ([0.30, 0.31, 0.29], "no worse", "supported"),
        ([-0.05, -0.04, -0.05], "no worse", "supported"),
        ([-0.30, -0.31, -0.29], "no worse", "contradicted"),
        ([0.50, -0.50, 0.10], "no worse", "inconclusive"),
        ([0.01, -0.01, 0.00], "equal", "supported"),
        ([0.30, 0.31, 0.29], "equal", "contradicted"),
        ([-0.30, -0.31, -0.29], "equal", "contradicted"),
        ([0.09, 0.10, 0.11], "equal", "inconclusive"),
    ],
)
def test_each_verdict_is_given_where_it_belongs(values, claimed, verdict):
    assert judged(difference(values), 0.1, claimed) == verdict


@pytest.mark.parametrize("claimed", ["better", "no worse", "equal"])
def test_of_one_seed_nothing_can_be_told(claimed):
    found = difference([5.0])
    assert judged(found, 0.1, claimed) == "inconclusive" and math.isnan(found.spread)
    assert "One seed" in explained(found, "inconclusive", 0.1, claimed)
    assert str(found) == "+5.000 (one seed)"


def test_what_is_not_seen_says_what_size_would_have_been():
    found = difference([0.01, -0.01, 0.00])
    assert f"A difference of {found.reach:.3f} or more" in explained(
        found, "no effect found", 0.1, "better"
    )


def test_what_cannot_be_told_says_how_wide_the_interval_is():
    found = difference([0.50, -0.50, 0.10])
    told = explained(found, "inconclusive", 0.1, "better")
    assert f"± {found.reach:.3f}" in told and "0.1 is of interest" in told


@pytest.mark.parametrize("values", [[], [0.1, float("nan")], [0.1, float("inf")]])
def test_what_is_no_number_is_refused(values):
    with pytest.raises(CourseError, match="differences over seeds"):
        difference(values)


def test_in_the_long_run_equal_sides_are_told_apart_in_five_of_a_hundred():
    draw = np.random.default_rng(1)
    told = [judged(difference(draw.normal(0, 1, 4).tolist()), 0.1) for _ in range(2000)]
    share = sum(it in ("supported", "contradicted") for it in told) / len(told)
    assert 0.035 < share < 0.065
