"""How sure a score is, and whether one system is better than another.

A score is measured on a sample of examples; another sample would give another score. Two ways to
say by how much, and both take the *examples* for the independent units (or, where several come from
one text, the texts: ``groups``):

- of a mean there is a formula: its standard error is s / √n, with s the examples' own spread;
- of any other score (an F1, a correlation) there is the bootstrap: draw n of the n examples *with*
  replacement, score them, and do so many times. The scores' spread is the standard error (Efron
  and Tibshirani 1993, "An introduction to the bootstrap", chapter 6).

Two systems that were asked the same examples are compared *example by example*: that some examples
are hard is hard on both, and cancels in the difference.

None of this knows what another seed of the training would have changed. For that, train several
times: the runs are then the units.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import column, finite, numbered, same_length, truth_values

Metric = Callable[[Any, Any], float]
"""A score of labels and predictions, in this order."""

LEVEL = 0.95  # of the intervals: so many of 100 such intervals hold the true score
RESAMPLES = 1000


class Score(NamedTuple):
    """A score with its standard error, and the interval that holds the true one at 95 %.

    ``nan`` stands for what cannot be told, such as the error of one example alone.
    """

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


class Comparison(NamedTuple):
    """How much better the first of two systems is than the second.

    Attributes:
        difference: of their scores; above zero the first is better.
        error: its standard error.
        low, high: the 95 % interval of the difference.
        p: how probable a difference at least as large (on either side) would be by chance alone,
            were the two equally good.
    """

    difference: float
    error: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        if not np.isfinite(self.difference):
            return "?" if np.isnan(self.difference) else f"{self.difference:+}".replace("inf", "∞")
        error = f"{self.error:.3f}" if np.isfinite(self.error) else "?"
        p = f"{self.p:.2g}" if np.isfinite(self.p) else "?"
        return f"{self.difference:+.3f} ± {error} (p = {p})".replace("-", "−")


# ------------------------------------------------------------------------------------- formulas


def mean_score(values: Any, groups: Any = None) -> Score:
    """The mean over examples, such as of their F1, with s / √n and Student's t interval.

    Args:
        values: one number an example.
        groups: of each example, which text it is from; examples of one text are no independent
            units. None: each stands for itself.

    Returns:
        A `Score`: ``.value`` is the mean, ``.error`` its standard error, ``.low`` and ``.high`` the
        interval; printed, it reads "mean ± error".

    Raises:
        CourseError: there is no number, or one is not finite; the lengths differ.
    """
    return mean_of_ratio(*_by_group(finite("values", values), groups))


def mean_of_ratio(sums: Any, counts: Any) -> Score:
    """The mean over all that the groups hold, when of each group the sum and the number are known.

    Such as nats a token over documents, which have different numbers of tokens: what is drawn at
    random is documents, so the error is that of a ratio of two means (`ratio`, the delta method).

    Args:
        sums: of each group, over what it holds.
        counts: how many that are.

    Raises:
        CourseError: there are not as many sums as counts.
    """
    from scipy.stats import t

    from lmcourse.corpus.bookworld.floors import ratio

    above, below = np.asarray(sums, float), np.asarray(counts, float)
    same_length(sums=above, counts=below)
    if not np.isfinite(above).all():  # a probability of 0 costs infinitely much
        return Score(float(above.sum() / below.sum()), np.nan, np.nan, np.nan)
    mean, error = ratio(above, below)
    reach = float(t.ppf((1 + LEVEL) / 2, len(above) - 1)) * error if len(above) > 1 else np.nan
    return Score(mean, error, mean - reach, mean + reach)


def proportion(right: Any) -> Score:
    """A share of examples, such as an accuracy, with its interval after Wilson.

    The error is that of any mean, √(p (1 − p) / (n − 1)). It is 0 where all answers are right, be
    they three or three thousand; Wilson's interval (1927, "Probable inference, the law of
    succession, and statistical inference") tells these apart, and never leaves 0 … 1.

    Args:
        right: of each example, whether the answer is right.

    Raises:
        CourseError: there is no example, or something else than truth values.
    """
    from scipy.stats import binomtest

    truth = truth_values("right", right)
    value, error, *_ = mean_score(truth.astype(float))
    interval = binomtest(int(truth.sum()), len(truth)).proportion_ci(LEVEL, method="wilson")
    return Score(value, error, float(interval.low), float(interval.high))


def mcnemar(first_right: Any, second_right: Any) -> Comparison:
    """Compare two accuracies by the examples that exactly one system gets right.

    What both know, or neither, says nothing about which is better. Were they equally good, each of
    the other examples would be a fair coin's throw: p is the exact binomial one of McNemar's test
    (1947, "Note on the sampling error of the difference between correlated proportions").

    Args:
        first_right, second_right: of each example, whether the system's answer is right.

    Raises:
        CourseError: there is no example; the lengths differ; these are no truth values.
    """
    from scipy.stats import binomtest

    first, second = (
        truth_values("first_right", first_right),
        truth_values("second_right", second_right),
    )
    same_length(first_right=first, second_right=second)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    apart = only_first + only_second
    p = float(binomtest(only_first, apart).pvalue) if apart else 1.0
    return Comparison(*mean_score(first.astype(float) - second.astype(float)), p)


# ------------------------------------------------------------------------------------ bootstrap


def bootstrap(
    metric: Metric,
    labels: Any,
    predictions: Any,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    groups: Any = None,
) -> Score:
    """Any score with its standard error: ``bootstrap(matthews, labels, predictions)``.

    The interval is that of the percentiles (Efron and Tibshirani 1993, section 13.3). Resamples on
    which the score is not defined (a correlation with what happens to be constant) are left out.
    One example alone, or one group, is the same in each resample: that says nothing of chance, and
    error and interval are ``nan``. A thousand resamples of an F1 take two seconds.

    Args:
        metric: what is measured, a function of labels and predictions.
        labels, predictions: one an example.
        resamples: how often examples are drawn.
        seed: what they are drawn with.
        groups: as in `mean_score`; whole groups are drawn.

    Raises:
        CourseError: what the metric raises; the lengths differ; there are fewer than 2 resamples.
    """
    columns = same_length(
        labels=column("labels", labels), predictions=column("predictions", predictions)
    )
    value = float(metric(*columns))
    draws = [
        _scored(metric, *(each[rows] for each in columns))
        for rows in _resampled(len(columns[0]), groups, resamples, seed)
    ]
    return Score(value, *_spread(value, np.array(draws)))


def paired_bootstrap(
    metric: Metric,
    labels: Any,
    first: Any,
    second: Any,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    groups: Any = None,
) -> Comparison:
    """Compare two systems by any score, on the same resamples of the examples.

    p is the share of resamples in which the difference is as far from the one that was measured as
    that is from zero (Berg-Kirkpatrick et al. 2012, "An empirical investigation of statistical
    significance in NLP", section 2, on both sides). With R resamples it is no less than 1 / (R+1);
    ``nan``, as the error, where there is but one example or one group.

    Args:
        metric, labels, resamples, seed, groups: as in `bootstrap`.
        first, second: the predictions of both systems.

    Raises:
        CourseError: as in `bootstrap`.
    """
    columns = same_length(
        labels=column("labels", labels),
        first=column("first", first),
        second=column("second", second),
    )

    def difference(y: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> float:
        return _scored(metric, y, a) - _scored(metric, y, b)

    found = float(metric(*columns[:2])) - float(metric(columns[0], columns[2]))
    draws = np.array(
        [
            difference(*(each[rows] for each in columns))
            for rows in _resampled(len(columns[0]), groups, resamples, seed)
        ]
    )
    draws = draws[~np.isnan(draws)]
    as_far = np.abs(draws - found) >= abs(found) - 1e-12  # (differences of floats miss a tie)
    known = np.isfinite(found) and len(draws) > 1
    p = (1 + int(as_far.sum())) / (1 + len(draws)) if known else np.nan
    return Comparison(found, *_spread(found, draws), p)


def _scored(metric: Metric, labels: NDArray[Any], predictions: NDArray[Any]) -> float:
    """The score of one resample; NaN where it has none, such as nothing of a class that is rare."""
    try:
        return float(metric(labels, predictions))
    except CourseError:
        return np.nan


def _resampled(
    n: int, groups: Any, resamples: int, seed: int
) -> Iterator[Int[np.ndarray, " drawn"]]:
    """Which examples each resample consists of; no resample, where all would be the same one."""
    if resamples < 2:
        raise CourseError(f"resamples={resamples} have no spread.", "Give 2 or more, such as 1000.")
    generator = np.random.default_rng(seed)
    number = np.arange(n) if groups is None else numbered(groups, n)
    if number.max() == 0:
        return
    if groups is None:
        for _ in range(resamples):
            yield generator.integers(n, size=n)
        return
    members = [np.flatnonzero(number == group) for group in range(number.max() + 1)]
    for _ in range(resamples):
        drawn = generator.integers(len(members), size=len(members))
        yield np.concatenate([members[group] for group in drawn])


def _spread(value: float, draws: Float[np.ndarray, " draw"]) -> tuple[float, float, float]:
    """Standard error and interval, of the resamples that have a score."""
    draws = draws[~np.isnan(draws)]
    if len(draws) < 2 or np.isnan(value):
        return np.nan, np.nan, np.nan
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(draws.std(ddof=1)), float(low), float(high)


def _by_group(values: Float[np.ndarray, " example"], groups: Any) -> tuple[Any, Any]:
    if groups is None:
        return values, np.ones(len(values))
    number = numbered(groups, len(values))
    return np.bincount(number, values), np.bincount(number)
