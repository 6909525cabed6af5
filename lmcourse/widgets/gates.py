"""Gates: what an LSTM or a GRU keeps, writes and shows, unit by unit, while it reads a text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, whole_below
from lmcourse.widgets.gate_arrays import checked, correlation, left, saturation
from lmcourse.widgets.packing import Array, as_array
from lmcourse.widgets.tokens import as_tokens, visible

STILL = ("keep", "variance")  # orders that no setting changes, beside series and scores
MOVING = ("number", "memory")
SHOWN = ("maps", "saturation")
MOST_SERIES = 6


class Gates(Widget):
    """The gates and states of one recurrent layer over a text.

    Heat maps show all units at every token; curves and the arithmetic of one step, one unit or
    two. "Kept" is what the product of the forget gates (a GRU's update gates) leaves of the state
    at a pinned token. ``order`` holds the units in the order that is shown. Saturation is counted
    as in Karpathy et al. (2015, "Visualizing and understanding recurrent networks", section 4.2).
    `lmcourse.evaluation.gates.gates` computes the arrays. Settings are traits.

    Args:
        tokens: what the layer read, one string a step.
        arrays: f, i, o, g, c, h of an LSTM, or r, z, n, h of a GRU, each (time, unit). They must
            obey c_t = f·c_{t−1} + i·g and h_t = o·tanh(c_t), or h_t = (1 − z)·n + z·h_{t−1}.
        before: the state c (a GRU's h) before the first token, (unit); None: 0.
        cell_clip: the largest modulus that c may have, where the layer clips; None: any.
        backward: the same arrays, as a dict and in the same order of tokens, of a layer that reads
            from the end; with ``before`` and ``cell_clip`` if need be.
        series: up to 6 series to look for in the units, name → (time), such as 1 inside a
            quotation and 0 outside.
        scores: numbers to sort the units by, name → (unit), such as the norm of a gradient.
        unit: which unit is shown, from 0; None: the first in the order.
        compare: another unit beside it; None: none.
        sort: ``"number"``; ``"keep"``, the mean of the forget gate; ``"variance"``, of the state;
            ``"memory"``, how many steps' worth of the pinned state is kept; the name of a series,
            by the modulus of its correlation with the state; or the name of a score.
        show: ``"maps"``, or ``"saturation"`` for how often each gate is nearly open or shut.
        direction: ``"forward"`` or, if there is one, ``"backward"``.
        step: the place of the token whose arithmetic is shown, from 0; None: the last.
        pin: the place of the token from which on keeping is measured; None: none.

    Raises:
        CourseError: arrays do not fit each other, the tokens or the equations; a name is not known
            or a setting out of range; there are too many data for a page.
    """

    _esm = module("gates")
    title: ClassVar[str] = "Gates"
    lighter: ClassVar[str] = (
        "Pass a part of the text, or fewer units: the same columns of every array, as f[:, :64]."
    )

    kind = traitlets.Unicode().tag(sync=True, data=True)
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    series = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    orders = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    unit = traitlets.Int(None, allow_none=True).tag(sync=True)
    compare = traitlets.Int(None, allow_none=True).tag(sync=True)
    sort = traitlets.Unicode("number").tag(sync=True)
    show = traitlets.Unicode("maps").tag(sync=True)
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
        show: str = "maps",
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
                    f"Forward is one {self._kind.name}, backward one {kind.name}.",
                    "Pass the arrays of two layers of one kind.",
                )
        self._series = _named("series", series, time, MOST_SERIES)
        self._scores = _named("scores", scores, units, 50)
        twice = [it for it in self._scores if it in self._series]
        if twice:
            raise CourseError(
                f"The name {twice[0]!r} stands among the series and among the scores.",
                "Give one of them another name: one sorts by it.",
            )
        super().__init__(
            **self.hold(self._packed()),
            kind=self._kind.name,
            tokens=texts,
            series=[*self._series],
            orders=[*STILL, *self._series, *self._scores],
            unit=unit,
            compare=compare,
            sort=sort,
            show=show,
            direction=direction,
            step=time - 1 if step is None else step,
            pin=pin,
        )

    def _packed(self) -> dict[str, Array]:
        """What a browser gets: each run's arrays, and what it sorts by."""
        packed: dict[str, Array] = {}
        for name, run in self._runs.items():
            packed[name] = np.stack([run[key] for key in self._kind.arrays])
            packed[f"{name} before"] = run["before"]
            packed[f"{name} ends"] = run["ends"]
            gates = [saturation(run[gate]) for gate in self._kind.gates]
            packed[f"{name} saturation"] = np.stack(gates, 1)
            packed[f"{name} orders"] = np.stack([*self._still(name).values()])
            if self._series:
                packed[f"{name} follows"] = self._correlations(name)
        if self._series:
            packed["series"] = np.stack([*self._series.values()])
        return packed

    def _still(self, direction: str) -> dict[str, Array]:
        """The numbers of the orders that no setting changes, the largest first."""
        run, kind = self._runs[direction], self._kind
        numbers = {
            "keep": run[kind.keep].mean(0, dtype=np.float64),
            "variance": run[kind.state].var(0, dtype=np.float64),
            **dict(zip(self._series, np.abs(self._correlations(direction)), strict=True)),
            **self._scores,
        }
        return {name: it.astype(np.float32) for name, it in numbers.items()}

    def _correlations(self, direction: str) -> Array:
        """Of each series with each unit's state, (series, unit)."""
        state = self._runs[direction][self._kind.state]
        return np.array([correlation(state, row) for row in self._series.values()])

    @property
    def order(self) -> list[int]:
        """The units in the order that is shown."""
        numbers = {"number": -np.arange(self._units), **self._still(self.direction)}
        if self.sort == "memory":
            keep = self._runs[self.direction][self._kind.keep]
            first = 0 if self._by > 0 else len(keep) - 1
            kept = left(keep, first if self.pin is None else self.pin, self._by)
            numbers["memory"] = np.nansum(kept, axis=0)
        return [int(unit) for unit in np.argsort(-numbers[self.sort], kind="stable")]

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        kind, order = self._kind, self.order
        unit = order[0] if self.unit is None else self.unit
        shown = {
            "maps": "Heat maps show every unit at every token.",
            "saturation": "Bars show how often each unit's gates are below 0.1 and above 0.9.",
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
            said += self._about(self.compare, "Beside it, unit")
        return " ".join(said)

    def _about(self, unit: int, called: str) -> list[str]:
        """One unit at the step that is shown, in sentences."""
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
        """Where the next step lies."""
        return 1 if self.direction == "forward" else -1

    def _sorted_by(self) -> str:
        kind = self._kind
        named = {
            "number": "their number",
            "keep": f"the mean of {kind.keep}",
            "variance": f"the variance of {kind.state}",
            "memory": "how long they keep",
        }
        by = "correlation with " if self.sort in self._series else ""
        return named.get(self.sort, f"{by}“{_in_words(self.sort)}”")

    @traitlets.validate("unit", "compare")
    def _unit_exists(self, proposal: Any) -> int | None:
        return whole_below(proposal["trait"].name, proposal["value"], self._units)

    @traitlets.validate("pin", "step")
    def _token_exists(self, proposal: Any) -> int | None:
        time = len(self._runs["forward"][self._kind.state])
        return whole_below(proposal["trait"].name, proposal["value"], time)

    @traitlets.validate("sort")
    def _order_is_known(self, proposal: Any) -> str:
        return one_of("sort", proposal["value"], [*MOVING, *self.orders])

    @traitlets.validate("show")
    def _picture_is_known(self, proposal: Any) -> str:
        return one_of("show", proposal["value"], SHOWN)

    @traitlets.validate("direction")
    def _direction_exists(self, proposal: Any) -> str:
        return one_of("direction", proposal["value"], self._runs)


def _in_words(name: str) -> str:
    """The name of a series or a score: words, whose spaces are no tokens."""
    return visible(name).replace("␣", " ")


def _named(name: str, given: Mapping[str, Any] | None, length: int, most: int) -> dict[str, Array]:
    """Rows of numbers by name, as a browser gets them."""
    if given is not None and not isinstance(given, Mapping):
        raise CourseError(
            f"{name} is of type {type(given).__name__}, not a dict.",
            f'Pass name → numbers, such as {name}={{"plural": numbers}}.',
        )
    rows: dict[str, Array] = {}
    for key, value in (given or {}).items():
        as_tokens(f"the names of {name}", [key])
        if key in (*STILL, *MOVING):
            raise CourseError(
                f"{name} has the name {key!r}, which means another order.",
                "Give it another name.",
            )
        rows[key] = as_array(f"{name}[{key!r}]", value, (length,)).astype(np.float32)
    if len(rows) > most:
        raise CourseError(
            f"{name} has {len(rows)} entries, and {most} can be shown.",
            "Pass the ones that you look for.",
        )
    return rows
