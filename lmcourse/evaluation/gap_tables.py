"""A gap table: sums by phenomenon, review and model, means with their errors, and their display."""

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from lmcourse import table_forms
from lmcourse.errors import CourseError
from lmcourse.evaluation.exact import Kind
from lmcourse.evaluation.phenomena import AGREEMENT, ALL, CLASSES
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio

_CHANCE = 1e-6  # significance level of the test for leaked targets
_ROUNDING = 1e-6  # nats

GAP = "Gap: KL(exact ‖ model) at the positions of such tokens. ±: standard error (reviews)."
BESIDE = (
    "Loss − floor estimates it over all tokens; over some of them it also depends on how often the "
    "model expects such a token."
)
NUMBER = (
    "Agreement: of the verb's number alone (singular or plural, given an agreeing verb; a model "
    "that ignores number has a gap of log 2 = 0.693)."
)


@dataclass(frozen=True)
class Sums:
    """One model's sums over the tokens of each phenomenon in each review, in nats."""

    loss: Float[np.ndarray, "phenomenon review"]
    gap: Float[np.ndarray, "phenomenon review"]


@dataclass(frozen=True, repr=False)
class GapTable:
    """Models next to the floor, by phenomenon; displayed as a table in a notebook.

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

    def __or__(self, other: "GapTable") -> "GapTable":
        """Join the models of two tables; the second replaces those of the same name."""
        if (self.kind, self.key) != (other.kind, other.key):
            raise CourseError(
                f"The tables are of different kinds ({self.kind}, {other.kind}) or of different "
                f"reviews ({self.tokens.shape[1]} and {other.tokens.shape[1]} of them).",
                "Compute both with the same world, kind, reviews and seed.",
            )
        return replace(self, models={**self.models, **other.models})

    def __repr__(self) -> str:
        return "\n".join([caption(self), table_forms.text(header(self), lines(self)), *notes(self)])

    def _repr_html_(self) -> str:
        rows = table_forms.html(caption(self), header(self), lines(self))
        return rows + "".join(f"<p>{html.escape(it)}</p>" for it in notes(self))

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


def caption(table: GapTable) -> str:
    """Return the table's caption."""
    reviews = table.tokens.shape[1]
    return (
        f"Nats a token above BookWorld's floor ({table.kind}, {reviews:,} "
        f"review{'s' * (reviews != 1)})."
    )


def notes(table: GapTable) -> list[str]:
    """Return the notes that explain the table's numbers."""
    found = [GAP] if len(table.models) > 1 else [GAP, BESIDE]
    if not {*AGREEMENT}.isdisjoint(table.phenomena):
        found.append(NUMBER)
    for name in table.models:
        if table.saw_targets(name):
            found.append(
                f"{name} had access to its targets: its loss is too low for its own gap, and its "
                "numbers are meaningless."
            )
    return found


def group(phenomenon: str) -> str:
    """Return the title of a row's group; that of all tokens has none."""
    if phenomenon == ALL:
        return ""
    return "every token is one of" if phenomenon in CLASSES else "and may also be one of"


def header(table: GapTable) -> list[str]:
    """Return the columns: all numbers of a single model, or the gaps of several."""
    if len(table.models) == 1:
        return ["", "tokens", "floor", "loss", "loss − floor", "gap"]
    return ["", "tokens", "floor", *(f"gap: {name}" for name in table.models)]


def lines(table: GapTable) -> Iterator[list[str]]:
    """Yield the rows as text, with the title of each group before its first row."""
    last = ""
    for name in table.phenomena:
        if (part := group(name)) != last:
            yield [f"{part} …"]
        last = part
        cells = [name, f"{table.count(name):,}", str(table.floor(name))]
        if len(table.models) == 1:
            numbers = [table.loss(name), table.difference(name), table.gap(name)]
        else:
            numbers = [table.gap(name, model) for model in table.models]
        yield [*cells, *map(str, numbers)]


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
