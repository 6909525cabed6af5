"""The numbers of a gap table: sums by phenomenon, review and model, and means with their errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lmcourse import show
from lmcourse.errors import CourseError
from lmcourse.evaluation.exact import Kind
from lmcourse.evaluation.phenomena import ALL
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio

_CHANCE = 1e-6  # that an honest model is taken for one that saw its targets
_ROUNDING = 1e-6  # nats that no model is suspected for


@dataclass(frozen=True)
class Sums:
    """One model's sums over the tokens of each phenomenon in each review, in nats."""

    loss: Float[np.ndarray, "phenomenon review"]
    gap: Float[np.ndarray, "phenomenon review"]


@dataclass(frozen=True, repr=False)
class GapTable:
    """Models beside the floor, by phenomenon. In a notebook it shows itself.

    Its numbers are means over tokens in nats, with standard errors for which reviews are the units:
    ``nan`` where fewer than two reviews have such a token, or where the mean is infinite. Rows of
    agreement are of the verb's number alone (`lmcourse.evaluation.agreement`).

    Attributes:
        kind: ``"causal"``: each token given all before it; ``"masked"``: given all that are not
            hidden, where 15 % of a review's tokens are hidden at once.
        key: of which world and reviews it is.
        phenomena: the rows, without those of which the reviews have no token.
        tokens: how many predictions each row has in each review.
        floors: the sums of −log p(token) in nats.
        models: each model's sums, by its name.
    """

    kind: Kind
    key: str
    phenomena: tuple[str, ...]
    tokens: Int[np.ndarray, "phenomenon review"]
    floors: Float[np.ndarray, "phenomenon review"]
    models: Mapping[str, Sums]

    # ------------------------------------------------------------------------------ numbers

    def count(self, phenomenon: str = ALL) -> int:
        """How many predictions a row has."""
        return int(self.tokens[self._row(phenomenon)].sum())

    def floor(self, phenomenon: str = ALL) -> Score:
        """The mean of −log p(token): what the model loses that knows all there is to know."""
        return self._mean(self.floors, phenomenon)

    def loss(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """The mean of −log q(token)."""
        return self._mean(self._model(model).loss, phenomenon)

    def gap(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """The mean of KL(p ‖ q) at the places where such a token stands; never below zero."""
        return self._mean(self._model(model).gap, phenomenon)

    def difference(self, phenomenon: str = ALL, model: str | None = None) -> Score:
        """Loss − floor. Over all tokens it is the gap but for chance; of some of them it is not
        (`lmcourse.evaluation.gaps` says why)."""
        return self._mean(self._model(model).loss - self.floors, phenomenon)

    def compare(self, first: str, second: str, phenomenon: str = ALL) -> Score:
        """How much larger the gap of the first model is than that of the second.

        Both read the same reviews, so the error is that of the differences, review by review.
        """
        gaps = [self._model(name).gap for name in (first, second)]
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is not a number
            return self._mean(gaps[0] - gaps[1], phenomenon)

    def saw_targets(self, model: str | None = None) -> bool:
        """Whether a model knew what it was asked for: its loss is too low for its own gap.

        Over all tokens, loss − floor − gap has the mean zero, whatever an honest model says. Far
        below zero (a t-test over the reviews, at 1 in a million), the targets have leaked, as they
        do where a bidirectional network is taken for a left-to-right one.
        """
        from scipy.stats import t

        sums, row = self._model(model), self._row(ALL)
        excess = (sums.loss - self.floors)[row]
        if np.isfinite(sums.gap[row]).all():
            excess = excess - sums.gap[row]
        if not np.isfinite(excess).all():
            return False  # a loss that is infinite is not too low
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
        """A ratio of sums over reviews, which are drawn; the tokens of one are not independent."""
        row = self._row(phenomenon)
        found = mean_of_ratio(sums[row], self.tokens[row])
        if (self.tokens[row] > 0).sum() > 1:
            return found
        # The formula gives a number for one review among many without such a token; it means none.
        return Score(found.value, np.nan, np.nan, np.nan)

    # -------------------------------------------------------------------------------- forms

    def __or__(self, other: "GapTable") -> "GapTable":
        """The models of two tables side by side; of a name in both, the second's."""
        if not isinstance(other, GapTable):
            return NotImplemented
        if (self.kind, self.key) != (other.kind, other.key):
            raise CourseError(
                f"The tables are of different kinds ({self.kind}, {other.kind}) or of different "
                f"reviews ({self.tokens.shape[1]} and {other.tokens.shape[1]} of them).",
                "Make both with the same world, kind, reviews and seed.",
            )
        models = {**self.models, **other.models}
        return GapTable(self.kind, self.key, self.phenomena, self.tokens, self.floors, models)

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as lists and dictionaries that JSON can hold but for inf and nan."""
        return {
            "kind": self.kind,
            "reviews": int(self.tokens.shape[1]),
            "rows": [
                {
                    "phenomenon": name,
                    "tokens": self.count(name),
                    "floor": self.floor(name)._asdict(),
                    "models": {
                        model: {
                            what: getattr(self, what)(name, model)._asdict()
                            for what in ("loss", "difference", "gap")
                        }
                        for model in self.models
                    },
                }
                for name in self.phenomena
            ],
        }

    def figure(self) -> None:
        """Show the gaps as a picture, with words for those who cannot see it."""
        from lmcourse.evaluation import gap_figure

        show.figure(gap_figure.drawn(self), gap_figure.alt(self))

    def markdown(self) -> str:
        """The table in Markdown."""
        from lmcourse.evaluation import gap_forms

        return gap_forms.markdown(self)

    def __repr__(self) -> str:
        from lmcourse.evaluation import gap_forms

        return gap_forms.text(self)

    def _repr_html_(self) -> str:
        from lmcourse.evaluation import gap_forms

        return gap_forms.html(self)


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
