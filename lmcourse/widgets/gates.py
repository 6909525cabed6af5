"""Gates: the gates and states of an LSTM or a GRU, unit by unit, over a text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of
from lmcourse.widgets.gate_arrays import checked, correlation, left, saturation
from lmcourse.widgets.packing import Array, as_array
from lmcourse.widgets.tokens import as_tokens, visible

FIXED = ("keep", "variance")  # orders independent of settings, besides series and scores
VARIABLE = ("number", "memory")
SHOWN = ("unit", "maps", "saturation")
MOST_SERIES = 6


class Gates(Widget):
    """The gates and states of one recurrent layer over a text.

    Heat maps show all units at every token; curves and the computation of one step show one or two
    units. "Kept" is the product of the forget gates (a GRU's update gates) from a pinned token on.
    ``order`` holds the units in the shown order. Saturation is defined as in Karpathy et al. (2015,
    "Visualizing and understanding recurrent networks", section 4.2).
    `lmcourse.evaluation.gates.gates` computes the arrays. Settings are traits.

    Args:
        tokens: the text, one string per step.
        arrays: f, i, o, g, c, h of an LSTM, or r, z, n, h of a GRU, each (time, unit). They must
            satisfy c_t = f·c_{t−1} + i·g and h_t = o·tanh(c_t), or h_t = (1 − z)·n + z·h_{t−1}.
        before: the initial state c (a GRU's h), (unit); None: 0.
        cell_clip: the limit of |c| if the layer clips it; None: no limit.
        backward: a dict of the same arrays, in the same order of tokens, for a backward layer;
            optionally with ``before`` and ``cell_clip``.
        series: up to 6 series to compare with the units, name → (time), such as 1 inside a
            quotation and 0 outside.
        scores: numbers to sort the units by, name → (unit), such as the norm of a gradient.
        unit: the shown unit, from 0; None: the first in the order.
        compare: a second unit; None: none.
        sort: ``"number"``; ``"keep"``, the mean of the forget gate; ``"variance"``, of the state;
            ``"memory"``, the sum of the kept fractions of the pinned state; the name of a series,
            by the absolute value of its correlation with the state; or the name of a score.
        show: ``"unit"``, ``"maps"`` of all units, or ``"saturation"``, how often gates saturate.
        direction: ``"forward"`` or, if it is given, ``"backward"``.
        step: the position of the token whose computation is shown, from 0; None: the last.
        pin: the position from which on the kept fraction is measured; None: none.
    """

    _esm = module("gates")
    title: ClassVar[str] = "Gates"
    lighter: ClassVar[str] = (
        "Pass a part of the text, or fewer units: the same columns of all arrays, as f[:, :64]."
    )

    kind = traitlets.Unicode().tag(sync=True, data=True)
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    series = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    orders = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    unit = traitlets.Int(None, allow_none=True).tag(sync=True)
    compare = traitlets.Int(None, allow_none=True).tag(sync=True)
    sort = traitlets.Unicode("number").tag(sync=True)
    show = traitlets.Unicode("unit").tag(sync=True)
    direction = traitlets.Unicode("forward").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    pin = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        *,
        before: Any = None,
        cell_clip: float | None = None,
        backward: Mapping[str, Any] | None = None,
        series: Mapping[str, Any] | None = None,
        scores: Mapping[str, Any] | None = None,
        unit: int | None = None,
        compare: int | None = None,
        sort: str = "number",
        show: str = "unit",
        direction: str = "forward",
        step: int | None = None,
        pin: int | None = None,
        **arrays: Any,
    ) -> None:
        given = {**arrays, "before": before, "cell_clip": cell_clip}
        self._kind, forward = checked(given, "")
        time, units = forward[self._kind.state].shape
        texts = as_tokens("tokens", tokens, time)
        self._runs = {"forward": forward}
        if backward is not None:
            kind, self._runs["backward"] = checked(backward, "backward: ", (time, units))
            if kind is not self._kind:
                raise CourseError(
                    f"The layers differ: forward is {self._kind.name}, backward {kind.name}.",
                    "Pass the arrays of two layers of the same kind.",
                )
        self._series = _named("series", series, time, MOST_SERIES)
        self._scores = _named("scores", scores, units, 50)
        twice = [it for it in self._scores if it in self._series]
        if twice:
            raise CourseError(
                f"{twice[0]!r} names a series and a score.",
                "Rename one of them: units are sorted by name.",
            )
        super().__init__(
            **self.hold(self._packed()),
            kind=self._kind.name,
            tokens=texts,
            series=[*self._series],
            orders=[*FIXED, *self._series, *self._scores],
            unit=unit,
            compare=compare,
            sort=sort,
            show=show,
            direction=direction,
            step=time - 1 if step is None else step,
            pin=pin,
        )

    def _packed(self) -> dict[str, Array]:
        """Return the arrays for the page: those of each direction, and the numbers to sort by."""
        packed: dict[str, Array] = {}
        for name, run in self._runs.items():
            packed[name] = np.stack([run[key] for key in self._kind.arrays])
            packed[f"{name} before"] = run["before"]
            packed[f"{name} ends"] = run["ends"]
            gates = [saturation(run[gate]) for gate in self._kind.gates]
            packed[f"{name} saturation"] = np.stack(gates, 1)
            packed[f"{name} orders"] = np.stack([*self._fixed(name).values()])
            if self._series:
                packed[f"{name} follows"] = self._correlations(name)
        if self._series:
            packed["series"] = np.stack([*self._series.values()])
        return packed

    def _fixed(self, direction: str) -> dict[str, Array]:
        """Return the numbers of the orders that do not depend on settings, to sort descending."""
        run, kind = self._runs[direction], self._kind
        numbers = {
            "keep": run[kind.keep].mean(0, dtype=np.float64),
            "variance": run[kind.state].var(0, dtype=np.float64),
            **dict(zip(self._series, np.abs(self._correlations(direction)), strict=True)),
            **self._scores,
        }
        return {name: it.astype(np.float32) for name, it in numbers.items()}

    def _correlations(self, direction: str) -> Array:
        """Return the correlation of each series with each unit's state, (series, unit)."""
        state = self._runs[direction][self._kind.state]
        return np.array([correlation(state, row) for row in self._series.values()])

    @property
    def order(self) -> list[int]:
        """The units in the shown order."""
        numbers = {"number": -np.arange(self._units), **self._fixed(self.direction)}
        if self.sort == "memory":
            keep = self._runs[self.direction][self._kind.keep]
            first = 0 if self._by > 0 else len(keep) - 1
            kept = left(keep, first if self.pin is None else self.pin, self._by)
            numbers["memory"] = np.nansum(kept, axis=0)
        return [int(unit) for unit in np.argsort(-numbers[self.sort], kind="stable")]

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        kind, order = self._kind, self.order
        unit = order[0] if self.unit is None else self.unit
        shown = {
            "unit": "Curves show one unit.",
            "maps": "Heat maps show every unit at every token.",
            "saturation": "Bars show the fractions of each gate below 0.1 and above 0.9.",
        }[self.show]
        said = [
            f"Gates of one {kind.name} with {self._units} units, {self.direction}, over "
            f"{len(self.tokens)} tokens. {shown}",
            f"Units are sorted by {self._sorted_by()}: first {', '.join(map(str, order[:3]))}.",
            *self._about(unit, "Unit"),
        ]
        for name, row in zip(self._series, self._correlations(self.direction), strict=True):
            said.append(f"Its {kind.state} correlates with “{_in_words(name)}” by {row[unit]:.3f}.")
        if self.compare is not None:
            said += self._about(self.compare, "Compared: unit")
        return " ".join(said)

    def _about(self, unit: int, called: str) -> list[str]:
        """Return the description of one unit at the shown step."""
        kind, run = self._kind, self._runs[self.direction]
        here = f"“{visible(self.tokens[self.step])}” (token {self.step + 1} of {len(self.tokens)})"
        numbers = ", ".join(f"{it} {run[it][self.step, unit]:.3f}" for it in kind.arrays)
        said = [f"{called} {unit} at {here}: {numbers}."]
        if self.show == "saturation":
            for gate in kind.gates:
                low, high = saturation(run[gate])[:, unit]
                said.append(f"{gate} is below 0.1 at {low:.1%}, above 0.9 at {high:.1%}.")
        if self.pin is not None:
            share = left(run[kind.keep], self.pin, self._by)[self.step, unit]
            of = f"{kind.state} at “{visible(self.tokens[self.pin])}”"
            kept = "is measured from there on" if np.isnan(share) else f"{share:.1%} is left"
            said.append(f"Of {of} {kept}.")
        return said

    @property
    def _units(self) -> int:
        return int(self._runs["forward"][self._kind.state].shape[1])

    @property
    def _by(self) -> int:
        """The direction of the next step."""
        return 1 if self.direction == "forward" else -1

    def _sorted_by(self) -> str:
        kind = self._kind
        named = {
            "number": "their number",
            "keep": f"the mean of {kind.keep}",
            "variance": f"the variance of {kind.state}",
            "memory": "retention",
        }
        by = "correlation with " if self.sort in self._series else ""
        return named.get(self.sort, f"{by}“{_in_words(self.sort)}”")

    @traitlets.validate("unit", "compare")
    def _unit_exists(self, proposal: Any) -> int | None:
        return index_below(proposal["trait"].name, proposal["value"], self._units)

    @traitlets.validate("pin", "step")
    def _token_exists(self, proposal: Any) -> int | None:
        time = len(self._runs["forward"][self._kind.state])
        return index_below(proposal["trait"].name, proposal["value"], time)

    @traitlets.validate("sort")
    def _order_is_known(self, proposal: Any) -> str:
        return one_of("sort", proposal["value"], [*VARIABLE, *self.orders])

    @traitlets.validate("show")
    def _picture_is_known(self, proposal: Any) -> str:
        return one_of("show", proposal["value"], SHOWN)

    @traitlets.validate("direction")
    def _direction_exists(self, proposal: Any) -> str:
        return one_of("direction", proposal["value"], self._runs)


def _in_words(name: str) -> str:
    """Return the name of a series or a score, with its spaces."""
    return visible(name).replace("␣", " ")


def _named(name: str, given: Mapping[str, Any] | None, length: int, most: int) -> dict[str, Array]:
    """Return rows of numbers by name, as float32."""
    if given is not None and not isinstance(given, Mapping):
        raise CourseError(
            f"{name} is of type {type(given).__name__}, not a dict.",
            f'Pass name → numbers, such as {name}={{"plural": numbers}}.',
        )
    rows: dict[str, Array] = {}
    for key, value in (given or {}).items():
        as_tokens(f"the names of {name}", [key])
        if key in (*FIXED, *VARIABLE):
            raise CourseError(
                f"{name} has the name {key!r}, which is one of the orders.", "Choose another name."
            )
        rows[key] = as_array(f"{name}[{key!r}]", value, (length,)).astype(np.float32)
    if len(rows) > most:
        raise CourseError(
            f"{name} has {len(rows)} entries; at most {most} can be shown.", "Pass fewer."
        )
    return rows
