"""Accuracies, and differences of two taggers with what they vary over: texts, and seeds."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from research.tagging.entries import Record, Result
from research.tagging.text import ALL

RESAMPLES = 10_000


class Contrast(NamedTuple):
    """The accuracy of one tagger less that of another.

    Attributes:
        difference: of the means over seeds.
        low, high: its 95 % interval over texts, by a bootstrap of whole texts.
        least, most: between any seed of one and any seed of the other.
    """

    difference: float
    low: float
    high: float
    least: float
    most: float

    @property
    def separated(self) -> bool:
        """Whether texts and seeds all agree on the sign."""
        return min(self.low, self.least) > 0 or max(self.high, self.most) < 0


def accuracies(
    results: Sequence[Result],
    record: Record,
    kind: str = ALL,
    genres: Collection[str] | None = None,
) -> list[float]:
    """The accuracy of each run on the test.

    Args:
        results: runs of one task.
        record: which they are in.
        kind: of the tokens.
        genres: which texts count; None: all.
    """
    return [
        float(it)
        for it in _right(results, record, kind, genres).sum(1)
        / _tokens(results, record, kind, genres).sum()
    ]


def contrast(
    one: Sequence[Result],
    other: Sequence[Result],
    record: Record,
    kind: str = ALL,
    genres: Collection[str] | None = None,
) -> Contrast:
    """Compare the seeds of two taggers on the same tokens; arguments as in `accuracies`."""
    right = [_right(each, record, kind, genres) for each in (one, other)]
    tokens = _tokens(one, record, kind, genres)
    difference = right[0].mean(0) - right[1].mean(0)
    drawn: Any = stats.bootstrap(
        (difference, tokens),
        lambda *sums, axis: sums[0].sum(axis) / sums[1].sum(axis),
        paired=True,
        method="percentile",
        n_resamples=RESAMPLES,
        rng=0,
    )
    first, second = (accuracies(each, record, kind, genres) for each in (one, other))
    spread = min(first) - max(second), max(first) - min(second)
    low, high = map(float, drawn.confidence_interval)
    return Contrast(float(difference.sum() / tokens.sum()), low, high, *spread)


def _right(
    results: Sequence[Result], record: Record, kind: str, genres: Collection[str] | None
) -> NDArray[np.int64]:
    """How many tags are right, by runs and texts."""
    return np.array([result.right[kind] for result in results])[:, _texts(record, genres)]


def _tokens(
    results: Sequence[Result], record: Record, kind: str, genres: Collection[str] | None
) -> NDArray[np.int64]:
    """How many tokens there are, by texts."""
    return np.array(record.tokens[results[0].task][kind])[_texts(record, genres)]


def _texts(record: Record, genres: Collection[str] | None) -> list[bool]:
    return [genres is None or genre in genres for genre in record.genres.values()]
