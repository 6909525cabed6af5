"""Standard errors and confidence intervals of scores.

A score is measured on a sample of examples; another sample would give another score. The
independent units are the *examples*, or the texts that they come from (``groups``):

- the standard error of a mean is s / √n, with s the standard deviation over examples;
- other scores (F1, correlations) are bootstrapped: draw n of the n examples *with* replacement,
  score them, and repeat. The standard deviation of these scores is the standard error (Efron and
  Tibshirani 1993, "An introduction to the bootstrap", chapter 6).

To compare two systems on the same examples, pass the *differences* example by example: examples
that are hard for both cancel. None of this covers the variation between training runs; for that,
train with several seeds, and the runs are the units.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from lmcourse.corpus.bookworld.floors import ratio
from lmcourse.errors import check_sizes
from lmcourse.evaluation.columns import column, numbered

Metric = Callable[[Any, Any], float]
"""A score of labels and predictions, in this order."""

LEVEL = 0.95  # confidence level of the intervals
RESAMPLES = 1000


class Score(NamedTuple):
    """A score with its standard error and its 95 % confidence interval; ``nan`` where undefined."""

    value: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isinf(self.value):
            return "∞" if self.value > 0 else "−∞"
        if np.isnan(self.value):
            return "?"
        error = f"{self.error:.3f}" if np.isfinite(self.error) else "?"
        value = round(self.value, 3) + 0.0  # which makes 0 of −0
        return f"{value:.3f} ± {error}".replace("-", "−")


def mean_score(values: Any, groups: Any = None) -> Score:
    """Return the mean over examples, with s / √n and Student's t interval.

    Args:
        values: one number per example. Shape (example).
        groups: the text that each example is from; examples of one text are not independent.
            None: each example is a unit. Shape (example).
    """
    array: Float[np.ndarray, " example"] = column(values, float)
    number = np.arange(len(array)) if groups is None else numbered(groups)
    return mean_of_ratio(np.bincount(number, array), np.bincount(number))


def mean_of_ratio(sums: Any, counts: Any) -> Score:
    """Return the mean over all that the groups contain, from the sum and the count of each group.

    Such as nats per token over documents, which have different numbers of tokens: the documents are
    drawn at random, so the error is that of a ratio of two means (delta method).

    Args:
        sums: of each group. Shape (group).
        counts: how many values each sum is over. Shape (group).
    """
    total, count = np.asarray(sums, float), np.asarray(counts, float)
    if not np.isfinite(total).all():  # −log of a probability of 0
        return Score(float(total.sum() / count.sum()), np.nan, np.nan, np.nan)
    mean, error = ratio(total, count)
    quantile = stats.t.ppf((1 + LEVEL) / 2, len(total) - 1) if len(total) > 1 else np.nan
    margin = float(quantile) * error
    return Score(mean, error, mean - margin, mean + margin)


def proportion(right: Any) -> Score:
    """Return a share of examples, such as an accuracy, with Wilson's interval.

    The error is that of any mean, √(p (1 − p) / (n − 1)). It is 0 if all answers are right, for
    three examples as for three thousand; Wilson's interval (1927, "Probable inference, the law of
    succession, and statistical inference") distinguishes these, and stays within [0, 1].

    Args:
        right: whether each example is right. Shape (example).
    """
    truth = column(right, float)
    value, error, *_ = mean_score(truth)
    test = stats.binomtest(int(truth.sum()), len(truth))
    interval = test.proportion_ci(LEVEL, method="wilson")
    return Score(value, error, float(interval.low), float(interval.high))


def bootstrap(
    metric: Metric,
    labels: Any,
    predictions: Any,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    groups: Any = None,
) -> Score:
    """Return any score with its standard error, such as that of ``matthews_corrcoef``.

    The interval is that of the percentiles (Efron and Tibshirani 1993, section 13.3). Resamples
    with an undefined score (nan: a correlation with a constant) are left out. With a single example
    or group, error and interval are ``nan``.

    Args:
        metric: a function of labels and predictions.
        labels, predictions: one per example. Shape (example).
        resamples: how many resamples are drawn; at least 2.
        seed: of the resampling.
        groups: as in `mean_score`; whole groups are drawn.
    """
    check_sizes(2, resamples=resamples)
    y, predicted = column(labels), column(predictions)
    value = float(metric(y, predicted))
    number = np.arange(len(y)) if groups is None else numbered(groups)
    members = [np.flatnonzero(number == group) for group in range(number.max() + 1)]
    if len(members) < 2 or np.isnan(value):
        return Score(value, np.nan, np.nan, np.nan)

    def statistic(drawn: np.ndarray) -> float:
        rows = np.concatenate([members[group] for group in drawn.astype(int)])
        return float(metric(y[rows], predicted[rows]))

    options: dict[str, Any] = {"vectorized": False, "n_resamples": resamples, "rng": seed}
    with warnings.catch_warnings():  # of an undefined interval where a resample's score is nan
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        drawn = stats.bootstrap(
            (np.arange(len(members)),), statistic, method="percentile", **options
        )
    draws = drawn.bootstrap_distribution
    draws = draws[~np.isnan(draws)]
    if len(draws) < 2:
        return Score(value, np.nan, np.nan, np.nan)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Score(value, float(draws.std(ddof=1)), float(low), float(high))
