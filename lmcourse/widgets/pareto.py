"""Pareto: models by what they cost and what they score, and those that no other one dominates."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of, shown
from lmcourse.widgets.packing import Array, as_array, single
from lmcourse.widgets.tokens import as_tokens, visible

MOST_POINTS, MOST_FAMILIES, MOST_GROUPS = 500, 8, 2
KEYS = ("name", "family", "group", "score", "values")


def front(costs: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Return the indices of the points that no other point dominates, the cheapest first.

    A point dominates another one if it costs no more and scores no less, and differs in one of the
    two. Of equal points, all or none are on the front.
    """
    order = sorted(range(len(costs)), key=lambda i: (costs[i], -scores[i]))
    kept: list[int] = []
    for i in order:
        best = kept[-1] if kept else None
        same = best is not None and (costs[i], scores[i]) == (costs[best], scores[best])
        if best is None or same or scores[i] > scores[best]:
            kept.append(i)
    return kept


class Pareto(Widget):
    """A chart of models by cost (logarithmic) and score, with the Pareto front of what is shown.

    The front is computed from means over seeds; error bars are the standard deviation of a score,
    and the range of a cost where one is given.

    Args:
        points: a mapping for each model and kind of score: ``name``, ``family`` (at most eight,
            marked by shape), ``group`` (at most two: filled and hollow marks), ``score`` (its kind,
            a key of ``scores``), ``values`` (one per seed), and the cost on each axis by its key: a
            positive number, or (low, middle, high).
        axes: the labels of the costs, by keys.
        scores: the labels of the kinds of scores, by keys.
        references: by keys of ``scores``, the label and the score of what is no model of the chart,
            such as ``{"accuracy": ("chance", 0.5)}``; a line is drawn.
        title: of the chart.
        axis, score: the shown cost and score; None: the first.
        families, groups: those that are shown; None: all.
        pinned: the index of a point; what dominates it is reported.
    """

    _esm = module("pareto")
    lighter: ClassVar[str] = "Pass fewer points."

    title = traitlets.Unicode().tag(sync=True, data=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    family_names = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    group_names = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    axis_labels = traitlets.List(traitlets.List()).tag(sync=True, data=True)
    score_labels = traitlets.List(traitlets.List()).tag(sync=True, data=True)
    lines = traitlets.List(traitlets.List()).tag(sync=True, data=True)
    axis = traitlets.Unicode().tag(sync=True)
    score = traitlets.Unicode().tag(sync=True)
    families = traitlets.List(traitlets.Unicode()).tag(sync=True)
    groups = traitlets.List(traitlets.Unicode()).tag(sync=True)
    pinned = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        points: Sequence[Mapping[str, Any]],
        axes: Mapping[str, str],
        scores: Mapping[str, str],
        *,
        references: Mapping[str, tuple[str, float]] | None = None,
        title: str = "Which model is worth its size?",
        axis: str | None = None,
        score: str | None = None,
        families: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        pinned: int | None = None,
    ) -> None:
        _check(points, axes, scores)
        names = as_tokens("the names of points", [it["name"] for it in points])
        self._kinds = [list(scores).index(it["score"]) for it in points]
        each = list(zip(names, self._kinds, strict=True))
        twice = [it for it in each if each.count(it) > 1]
        if twice:
            cause = f"Two points with the same score are called {shown(twice[0][0])}."
            raise CourseError(cause, "Give each a name of its own.")
        known, codes = {}, {}
        for key, most in (("family", MOST_FAMILIES), ("group", MOST_GROUPS)):
            of_points = as_tokens(f"the {key} of points", [it[key] for it in points])
            known[key] = list(dict.fromkeys(of_points))
            if len(known[key]) > most:
                cause = f"The points have {len(known[key])} different values of {key}."
                raise CourseError(cause, f"Use {most} at most.")
            codes[key] = [known[key].index(it) for it in of_points]
        self._codes = codes
        self._costs = np.array([[_cost(it, key) for key in axes] for it in points])
        self._means = np.array([_mean(it) for it in points])
        super().__init__(
            **self.hold(
                {
                    "costs": self._costs,
                    "means": self._means,
                    "families": np.array(codes["family"], np.uint8),
                    "groups": np.array(codes["group"], np.uint8),
                    "kinds": np.array(self._kinds, np.uint8),
                }
            ),
            title=title,
            names=names,
            family_names=known["family"],
            group_names=known["group"],
            axis_labels=[[key, label] for key, label in axes.items()],
            score_labels=[[key, label] for key, label in scores.items()],
            lines=[_line(key, it, scores) for key, it in (references or {}).items()],
            axis=next(iter(axes)) if axis is None else axis,
            score=next(iter(scores)) if score is None else score,
            families=known["family"] if families is None else families,
            groups=known["group"] if groups is None else groups,
            pinned=pinned,
        )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        at, kind = ([key for key, _ in it].index(now) for it, now in self._choices())
        labels = [dict(map(tuple, it))[now] for it, now in self._choices()]
        found = [i for i in range(len(self.names)) if self._is_shown(i, kind)]
        costs, means = self._costs[found, at, 1], self._means[found, 0]
        best = [
            f"“{_plain(self.names[found[i]])}” ({costs[i]:.4g}, {means[i]:.3g})"
            for i in front(costs.tolist(), means.tolist())
        ]
        cost, score = map(_plain, labels)
        return (
            f"A chart of {len(found)} models: {cost}, logarithmic, and {score}. On the Pareto "
            f"front, computed from means: {', '.join(best) or 'none'}."
        )

    def _choices(self) -> list[tuple[list[Any], str]]:
        return [(self.axis_labels, self.axis), (self.score_labels, self.score)]

    def _is_shown(self, i: int, kind: int) -> bool:
        family, group = (self._codes[key][i] for key in ("family", "group"))
        return (
            self._kinds[i] == kind
            and self.family_names[family] in self.families
            and self.group_names[group] in self.groups
        )

    @traitlets.validate("axis", "score")
    def _choice_is_known(self, proposal: Any) -> str:
        name = proposal["trait"].name
        labels = self.axis_labels if name == "axis" else self.score_labels
        return one_of(name, proposal["value"], [key for key, _ in labels])

    @traitlets.validate("families", "groups")
    def _filter_is_known(self, proposal: Any) -> list[str]:
        name, value = proposal["trait"].name, proposal["value"]
        known = self.family_names if name == "families" else self.group_names
        for it in value:
            one_of(name, it, known)
        return [it for it in known if it in value]

    @traitlets.validate("pinned")
    def _point_exists(self, proposal: Any) -> int | None:
        return index_below("pinned", proposal["value"], len(self.names))


def _plain(text: str) -> str:
    return visible(text).replace("␣", " ")


def _check(points: Any, axes: Any, scores: Any) -> None:
    """Check the kinds of the arguments, and that each point has what it needs."""
    for name, labels in (("axes", axes), ("scores", scores)):
        if not isinstance(labels, Mapping) or not labels:
            cause = f"{name} is {shown(labels)}, not a dictionary of labels."
            raise CourseError(cause, f'Pass such as {{"bytes": "bytes of the file"}} for {name}.')
        as_tokens(f"the keys and labels of {name}", [*labels, *labels.values()])
    taken = sorted({*axes} & {*KEYS})
    if taken:
        cause = f"{taken[0]!r} cannot be the key of an axis."
        raise CourseError(cause, f"Points have {', '.join(KEYS)} for other things: rename it.")
    if isinstance(points, str) or not isinstance(points, Sequence) or not len(points):
        raise CourseError(f"points is {shown(points)}.", "Pass a list of dictionaries.")
    if len(points) > MOST_POINTS:
        cause = f"There are {len(points):,} points; {MOST_POINTS} can be shown."
        raise CourseError(cause, Pareto.lighter)
    for i, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise CourseError(f"points[{i}] is {shown(point)}.", "Pass a dictionary instead.")
        missing = [key for key in (*KEYS, *axes) if key not in point]
        if missing:
            cause = f"points[{i}] has no {', '.join(map(shown, missing))}."
            raise CourseError(cause, f"Each point needs {', '.join(map(shown, (*KEYS, *axes)))}.")
        one_of(f"score of points[{i}]", point["score"], scores)


def _cost(point: Mapping[str, Any], key: str) -> list[float]:
    """Return low, middle and high as float32, as the page has them."""
    what = f"{shown(key)} of the point {shown(point['name'])}"
    value = np.atleast_1d(np.asarray(point[key], object))
    array = as_array(what, value.tolist() * (3 if value.size == 1 else 1), (3,))
    low, middle, high = (rounded := single(what, array)).astype(float).tolist()
    if not 0 < low <= middle <= high:
        cause = f"{what} is {shown(point[key])}."
        raise CourseError(
            cause, "A logarithmic axis needs a positive number, or (low, middle, high)."
        )
    return list(map(float, rounded))


def _mean(point: Mapping[str, Any]) -> Array:
    """Return mean, standard deviation and number of a point's values, as float32."""
    what = f"'values' of the point {shown(point['name'])}"
    values = as_array(what, point["values"], (None,)).astype(float)
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return single(what, np.array([values.mean(), spread, len(values)])).astype(float)


def _line(key: str, reference: Any, scores: Mapping[str, str]) -> list[Any]:
    """Return key, label and score of a reference."""
    one_of("key of references", key, scores)
    try:
        label, value = reference
    except (TypeError, ValueError):
        cause = f"The reference {shown(key)} is {shown(reference)}."
        raise CourseError(cause, "Pass a label and a number.") from None
    (label,) = as_tokens("the label of a reference", [label])
    return [key, label, float(as_array("the score of a reference", [value], (1,))[0])]
