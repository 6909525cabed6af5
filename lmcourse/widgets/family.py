"""Family: models by date, from whom each descends, how large it is, and benchmark results."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, shown, within
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import as_tokens, visible

MOST_MODELS, MOST_RESULTS, MOST_BENCHMARKS, MOST_LETTERS = 200, 400, 12, 1000
SHOWN, AXES, SPLITS = ("family", "scores"), ("parameters", "architecture"), ("all", "test", "dev")
KINDS = ("single", "ensemble", "human")
FACTS = ("organization", "size", "data", "hardware", "source", "note")  # shown as they are
_MONTH = re.compile(r"([12]\d{3})-(0[1-9]|1[0-2])")


class Family(Widget):
    """A timeline of models as a family tree, and their benchmark results by date.

    Rows are mappings, such as those of `csv.DictReader`; empty strings are missing values.

    Args:
        models: a row for each model: its ``name``, ``date`` (``"2018-10"``), ``parents`` (a list of
            names, or one string with semicolons), ``changes`` (how it differs from them),
            ``architecture``, ``parameters`` (published, in millions), ``counted`` (the counted
            number), ``chapter`` (of the course, if it has the model), ``link`` (the chapter's page
            without its ending), and ``organization``, ``size``, ``data``, ``hardware``,
            ``source``, ``note``.
        results: a row for each result: ``benchmark``, ``date``, ``value`` in percent, ``split``
            (test or dev), ``kind`` (single, ensemble, or human for a line), ``model`` (one of the
            names, or nothing), ``system`` (what was scored), ``source`` and ``note``.
        show: ``"family"`` or ``"scores"``.
        axis: the height of a model in the tree: ``"parameters"`` or ``"architecture"``.
        every: whether models without a chapter are shown.
        since: the first year; None: that of the first model.
        selected: the name of the selected model; None: none.
        benchmark: whose results are shown; None: the first.
        split: ``"all"``, ``"test"`` or ``"dev"``.
    """

    _esm = module("family")
    title: ClassVar[str] = "Family"
    lighter: ClassVar[str] = "Pass fewer rows."

    models = traitlets.List(traitlets.Dict()).tag(sync=True, data=True)
    results = traitlets.List(traitlets.Dict()).tag(sync=True, data=True)
    show = traitlets.Unicode("family").tag(sync=True)
    axis = traitlets.Unicode("parameters").tag(sync=True)
    every = traitlets.Bool(False).tag(sync=True)
    since = traitlets.Int().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    benchmark = traitlets.Unicode("").tag(sync=True)
    split = traitlets.Unicode("all").tag(sync=True)

    def __init__(
        self,
        models: Iterable[Mapping[str, Any]],
        results: Iterable[Mapping[str, Any]] = (),
        *,
        show: str = "family",
        axis: str = "parameters",
        every: bool = False,
        since: int | None = None,
        selected: str | None = None,
        benchmark: str | None = None,
        split: str = "all",
    ) -> None:
        rows = _rows("models", models, MOST_MODELS)
        scores = _rows("results", results, MOST_RESULTS)
        if not rows:
            raise CourseError("There are no models.", "Pass a row for each model.")
        self._names = as_tokens("models", [_text(row, "name") for row in rows])
        self._months = [_month(row) for row in rows]
        family = [self._model(row) for row in rows]
        self._check(family)
        self._results = [self._result(row) for row in scores]
        self._benchmarks = list(dict.fromkeys(it["benchmark"] for it in self._results))
        if len(self._benchmarks) > MOST_BENCHMARKS:
            most = f"results has {len(self._benchmarks)} benchmarks."
            raise CourseError(most, f"Pass {MOST_BENCHMARKS} at most.")
        dates = [_month(row) for row in scores]
        held: dict[str, Array] = {
            "months": np.array(self._months, np.uint16),
            "result_months": np.array(dates, np.uint16),
        }
        years = [month // 12 for month in self._months]
        self._years = min(years), max(years)
        super().__init__(
            **self.hold(held),
            models=family,
            results=self._results,
            show=show,
            axis=axis,
            every=every,
            since=self._years[0] if since is None else since,
            selected="" if selected is None else selected,
            benchmark=next(iter(self._benchmarks), "") if benchmark is None else benchmark,
            split=split,
        )

    def _model(self, row: Mapping[str, Any]) -> dict[str, Any]:
        parents = row.get("parents") or []
        parents = parents.split(";") if isinstance(parents, str) else list(parents)
        counted = _number(row, "counted")
        published = _number(row, "parameters")
        return {
            "name": _text(row, "name"),
            "parents": [self._at(str(it).strip(), "parents") for it in parents if str(it).strip()],
            "changes": _text(row, "changes"),
            "architecture": _text(row, "architecture") or "other",
            "published": published and published * 1e6,
            "counted": counted,
            "chapter": _text(row, "chapter"),
            "link": _link(row),
            "facts": [[it, _text(row, it)] for it in FACTS if _text(row, it)],
        }

    def _result(self, row: Mapping[str, Any]) -> dict[str, Any]:
        model, value = _text(row, "model"), _number(row, "value")
        if model:
            self._at(model, "results")
        if value is None or value > 100 or not _text(row, "benchmark"):
            raise CourseError(
                f"A row of results has the benchmark {shown(_text(row, 'benchmark'))} and the "
                f"value {shown(value)}.",
                "Name the benchmark, and pass a value from 0 to 100.",
            )
        return {
            "benchmark": _text(row, "benchmark"),
            "model": model,
            "system": _text(row, "system"),
            "value": value,
            "split": one_of("split of a result", _text(row, "split"), SPLITS[1:]),
            "kind": one_of("kind of a result", _text(row, "kind"), KINDS),
            "facts": [[it, _text(row, it)] for it in ("source", "note") if _text(row, it)],
        }

    def _at(self, name: str, where: str) -> int:
        if name not in self._names:
            raise CourseError(
                f"{where} has the model {shown(name)}, which is no row of models.",
                f"Choose among the names, such as {shown(self._names[0])}.",
            )
        return self._names.index(name)

    def _check(self, family: list[dict[str, Any]]) -> None:
        """Refuse repeated names, parents younger than their children, and circles."""
        for at, name in enumerate(self._names):
            if not name or self._names.index(name) != at:
                what = f"The name {shown(name)} occurs twice." if name else "A model has no name."
                raise CourseError(what, "Give each model a name of its own.")
            for parent in family[at]["parents"]:
                if self._months[parent] > self._months[at]:
                    raise CourseError(
                        f"{shown(self._names[parent])} is a parent of {shown(name)} and younger.",
                        "Check both dates.",
                    )
        left = set(range(len(family)))
        while roots := {it for it in left if not left & set(family[it]["parents"])}:
            left -= roots
        if left:
            name = shown(self._names[min(left)])
            raise CourseError(f"{name} is an ancestor of itself.", "Check the column parents.")

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        if self.show == "scores" and self._results:
            found = [it for it in self._results if it["benchmark"] == self.benchmark]
            people = [f"{it['value']:g}" for it in found if it["kind"] == "human"]
            chosen = [it for it in found if it["kind"] != "human"]
            chosen = [it for it in chosen if self.split in ("all", it["split"])]
            best = max((it["value"] for it in chosen), default=None)
            return (
                f"{len(chosen)} results on {_plain(self.benchmark)} by date; human: "
                f"{', '.join(people) or 'not measured'}; the best result is "
                f"{'missing' if best is None else f'{best:g}'}."
            )
        some = [it for it in self.models if self.every or it["chapter"]] or self.models
        first, last = self._years
        text = (
            f"A family tree of {len(some)} models from {first} to {last}, by {self.axis}: "
            f"{', '.join(_plain(it['name']) for it in some[:8])}{' …' * (len(some) > 8)}."
        )
        if not self.selected:
            return text
        one = self.models[self._names.index(self.selected)]
        parents = ", ".join(_plain(self._names[it]) for it in one["parents"]) or "no model here"
        return f"{text} Selected: {_plain(self.selected)}, from {parents}: {_plain(one['changes'])}"

    @traitlets.validate("show", "axis", "split")
    def _choice_is_known(self, proposal: Any) -> str:
        name = proposal["trait"].name
        choices = {"show": SHOWN, "axis": AXES, "split": SPLITS}[name]
        return one_of(name, proposal["value"], choices)

    @traitlets.validate("since")
    def _year_is_among_them(self, proposal: Any) -> int:
        return int(within("since", proposal["value"], *self._years))

    @traitlets.validate("selected", "benchmark")
    def _name_is_known(self, proposal: Any) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        if value == "" and (name == "selected" or not self._benchmarks):
            return ""
        return one_of(name, value, self._names if name == "selected" else self._benchmarks)


def _rows(name: str, value: Any, most: int) -> list[Mapping[str, Any]]:
    rows = list(value) if isinstance(value, Iterable) and not isinstance(value, str | dict) else []
    if not all(isinstance(it, Mapping) for it in rows) or (not rows and value not in ([], ())):
        raise CourseError(
            f"{name} is not a list of rows.", "Pass mappings, such as list(csv.DictReader(file))."
        )
    if len(rows) > most:
        raise CourseError(f"{name} has {len(rows):,} rows.", f"Pass {most} at most.")
    return rows


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    text = "" if value is None else str(value)
    if len(text) > MOST_LETTERS:
        raise CourseError(
            f"{column} has {len(text):,} characters: {shown(text)}.",
            f"Shorten it to {MOST_LETTERS:,}.",
        )
    return as_tokens(column, [text])[0]


def _number(row: Mapping[str, Any], column: str) -> float | None:
    """Return a positive number, or None where there is none."""
    text = _text(row, column).strip()
    try:
        number = float(text) if text else None
    except ValueError:
        number = -1.0
    if number is not None and not 0 < number < 1e15:
        raise CourseError(f"{column} is {shown(text)}.", "Pass a positive number, or nothing.")
    return number


def _month(row: Mapping[str, Any]) -> int:
    """Return the months since year 0."""
    found = _MONTH.fullmatch(_text(row, "date"))
    if not found:
        raise CourseError(
            f"The date {shown(_text(row, 'date'))} is not a month.", 'Write it as "2018-10".'
        )
    return 12 * int(found[1]) + int(found[2]) - 1


def _link(row: Mapping[str, Any]) -> str:
    link = _text(row, "link")
    if link and not re.fullmatch(r"(\.\./)*\w[\w./-]*", link):
        raise CourseError(
            f"The link {shown(link)} is not the path of a page.",
            'Pass a relative path without its ending, such as "../chapters/10-bert".',
        )
    return link


def _plain(text: str) -> str:
    return visible(text).replace("␣", " ") if text else ""
