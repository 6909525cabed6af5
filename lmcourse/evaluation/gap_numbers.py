"""The numbers of a gap table: sums by phenomenon, review and model, and means with their errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lmcourse.errors import CourseError
from lmcourse.evaluation.exact import Kind
from lmcourse.evaluation.phenomena import ALL
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio

_CHANCE = 1e-6  # significance level of the test for leaked targets
_ROUNDING = 1e-6  # nats


@dataclass(frozen=True)
class Sums:
    """One model's sums over the tokens of each phenomenon in each review, in nats."""

    loss: Float[np.ndarray, "phenomenon review"]
    gap: Float[np.ndarray, "phenomenon review"]


@dataclass(frozen=True, repr=False)
class GapNumbers:
    """Models next to the floor, by phenomenon.

    The numbers are means over tokens in nats, with standard errors over reviews: ``nan`` where
    fewer than two reviews have such a token, or where the mean is infinite. Rows of agreement are
    of the verb's number alone (`lmcourse.evaluation.agreement`).

    Attributes:
        kind: ``"causal"``: each token given all before it; ``"masked"``: given all tokens that are
            not masked, where 15 % of a review's tokens are masked at once.
        key: identifies world and reviews.
        phenomena: the rows; those without a token in the reviews are left out.
        tokens: the number of predictions of each row in each review.
        floors: the sums of −log p(token) in nats.
        models: each model's sums, by its name.
    """

    kind: Kind
    key: str
    phenomena: tuple[str, ...]
    tokens: Int[np.ndarray, "phenomenon review"]
    floors: Float[np.ndarray, "phenomenon review"]
    models: Mapping[str, Sums]

    def count(self, phenomenon: str = ALL) -> int:
        """Return the number of predictions of a row."""
        return int(self.tokens[self._row(phenomenon)].sum())

    def floor(self, phenomenon: str = ALL) -> Score:
        """Return the mean of −log p(token), the loss of the best possible model."""
        return self._mean(self.floors, phenomenon)

    def loss(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """Return the mean of −log q(token)."""
        return self._mean(self._model(model).loss, phenomenon)

    def gap(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """Return the mean of KL(p ‖ q) at the positions of such tokens; never below zero."""
        return self._mean(self._model(model).gap, phenomenon)

    def difference(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """Return loss − floor. Over all tokens it estimates the gap; over some of them it does not
        (see `lmcourse.evaluation.gaps`)."""
        return self._mean(self._model(model).loss - self.floors, phenomenon)

    def compare(self, first: str, second: str, phenomenon: str = ALL) -> Score:
        """Return the gap of the first model minus that of the second.

        Both read the same reviews, so the error is that of the differences by review.
        """
        gaps = [self._model(name).gap for name in (first, second)]
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is not a number
            return self._mean(gaps[0] - gaps[1], phenomenon)

    def saw_targets(self, model: str | None = None) -> bool:
        """Return whether a model had access to its targets: its loss is too low for its own gap.

        Over all tokens, loss − floor − gap has mean zero for any model without this access. If it
        is far below zero (a t-test over reviews at the level 1e-6), the targets have leaked, as
        they do where a bidirectional network is used as a left-to-right one.
        """
        from scipy.stats import t

        sums, row = self._model(model), self._row(ALL)
        excess = (sums.loss - self.floors)[row]
        if np.isfinite(sums.gap[row]).all():
            excess = excess - sums.gap[row]
        if not np.isfinite(excess).all():
            return False  # an infinite loss is not too low
        mean, error, *_ = mean_of_ratio(excess, self.tokens[row])
        if not (mean < -_ROUNDING and error > 0):  # (nan is neither)
            return False
        return bool(t.cdf(mean / error, self.tokens.shape[1] - 1) < _CHANCE)

    def _row(self, phenomenon: str) -> int:
        if phenomenon not in self.phenomena:
            raise CourseError(
                f"The table has no row {phenomenon!r}.", f"Choose one of: {_list(self.phenomena)}."
            )
        return self.phenomena.index(phenomenon)

    def _model(self, name: str | None) -> Sums:
        if name is None and len(self.models) == 1:
            return next(iter(self.models.values()))
        if name is None or name not in self.models:
            raise CourseError(
                f"The table has no model {name!r}." if name else "The table has several models.",
                f"Name one of: {_list(self.models)}.",
            )
        return self.models[name]

    def _mean(self, sums: np.ndarray, phenomenon: str) -> Score:
        """The ratio of sums over reviews, since the tokens of one review are not independent."""
        row = self._row(phenomenon)
        found = mean_of_ratio(sums[row], self.tokens[row])
        if (self.tokens[row] > 0).sum() > 1:
            return found
        # With one such review among many without such a token, the formula's error is meaningless.
        return Score(found.value, np.nan, np.nan, np.nan)


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
