"""Graph: forward and backward pass of a typed expression, step by step."""

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets import graph_alt
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import Fixed, plain, shown, within
from lmcourse.widgets.expression import is_name, parse
from lmcourse.widgets.graph_words import LEXICON, SAID

DEFAULTS = (0.5, 2.0, -1.0, 1.0, 0.5, -2.0, 3.0, -0.5)  # of variables without values, in order
MOST = 1e6  # of a value, in size


class Graph(Widget):
    """The computation graph of a typed expression: each node's value and gradient, step by step.

    Variables get values, then each node is computed from those before it, then ∂L/∂L = 1 goes back
    over each edge, times its local derivative; a node that is used twice adds. Beside each
    variable's gradient stands its finite difference. Settings are traits that a kernel can read
    and set, the reader's own expression included.

    Expressions have numbers (``0.001`` or ``1e-3``), names, ``+ - * / **`` (or ``^``), parentheses,
    tanh, sigmoid, relu, exp, log, sin, cos, sqrt and max(a, b). Parts between semicolons have names
    that later parts use: ``"h = tanh(w*x); (h - y)**2"``. At most 200 characters, 40 nodes and 8
    variables. Nothing that is typed is run as code.

    Args:
        expression: its last part is the output, L if it has no name.
        values: of the variables; those not given get one by their order. Names that do not occur
            may stand there: a reader's earlier expressions leave some. The trait is read-only; to
            move a: ``loss.values = {**loss.values, "a": 5}``.
        step: 0 has only the variables' values, None everything: forward, then backward.
        overwrite: let a gradient replace what is there, the classical mistake.
        learning_rate: η of a step downhill, above 0.
        pinned: the name of a box, a variable's or a part's, whose paths to the output are shown;
            one that no box has (after the expression changed, say) marks nothing.
        variables: values, too: ``Graph("a*b", a=2, b=-3)``.

    Raises:
        CourseError: the expression cannot be read (the message says where, and what is needed), a
            value is no finite number up to a million, or one of ``variables`` does not occur.
    """

    _esm = module("graph")
    title: ClassVar[str] = "Computation graph"

    expression = traitlets.Unicode("tanh(a*b)").tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(None, allow_none=True).tag(sync=True)
    overwrite = traitlets.Bool(False).tag(sync=True)
    learning_rate = traitlets.Float(0.1).tag(sync=True)
    pinned = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    lexicon = traitlets.Dict(LEXICON).tag(
        sync=True, data=True
    )  # what the page says, and its grammar

    def __init__(
        self,
        expression: str,
        values: Mapping[str, float] | None = None,
        *,
        step: int | None = None,
        overwrite: bool = False,
        learning_rate: float = 0.1,
        pinned: str | None = None,
        **variables: float,
    ) -> None:
        if not isinstance(expression, str):
            raise CourseError(
                f"The expression is of type {type(expression).__name__}, not a string.",
                'Pass text such as "tanh(w*x + b)".',
            )
        if not isinstance(values, Mapping | None):
            raise CourseError(
                f"values is of type {type(values).__name__}, not a dictionary.",
                'Pass {"a": 0.5}, or a=0.5.',
            )
        names = [node.name for node in parse(expression) if node.op == "variable"]
        for name in variables:  # in `values` are those of a reader's earlier expressions, too
            if name not in names:
                raise CourseError(
                    f"{name} is no variable of {expression!r}.",
                    f"It has {', '.join(names)}; what is defined has its value already.",
                )
        super().__init__(
            **self.hold({"defaults": np.array(DEFAULTS)}),
            expression=expression,
            values=dict(values or {}) | variables,
            step=step,
            overwrite=overwrite,
            learning_rate=learning_rate,
            pinned=pinned,
        )

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        nodes = parse(self.expression)
        names = [it.name for it in nodes if it.op == "variable"]
        given = {
            name: float(self.values.get(name, start))
            for name, start in zip(names, DEFAULTS, strict=False)
        }
        output = nodes[-1].name
        said = [
            f"Computation graph of {self.expression} with {len(nodes)} nodes.",
            *graph_alt.passes(nodes, given, self.overwrite, self.step),
        ]
        if self.overwrite:
            said.append("Gradients overwrite what is there instead of adding to it, a mistake.")
        if self.pinned in [it.name for it in nodes]:
            said.append(f"The paths from {self.pinned} to {output} are marked.")
        elif self.pinned is not None:
            said.append(SAID["nobox"].format(self.pinned))
        if self.learning_rate != type(self).learning_rate.default_value:
            said.append(f"A step downhill has the learning rate {self.learning_rate:g}.")
        return " ".join(said)

    @traitlets.validate("expression")
    def _expression_can_be_read(self, proposal: Any) -> str:
        parse(proposal["value"])
        return str(proposal["value"])

    @traitlets.validate("values")
    def _values_are_numbers(self, proposal: Any) -> dict[str, float]:
        given = proposal["value"]
        return Fixed({_named(name): _number(name, value) for name, value in given.items()})

    @traitlets.validate("step")
    def _step_exists(self, proposal: Any) -> int | None:
        value = proposal["value"]
        if value is not None and (isinstance(value, bool) or not 0 <= value <= 2**53):
            raise CourseError(f"step is {shown(value)}.", "Pass 0 or more, or None for everything.")
        return None if value is None else int(value)

    @traitlets.validate("learning_rate")
    def _rate_is_positive(self, proposal: Any) -> float:
        return within("learning_rate", proposal["value"], math.ulp(0.0), MOST)


def _named(name: Any) -> str:
    if not isinstance(name, str) or not is_name(name):
        raise CourseError(
            f"{name!r} cannot be a variable's name.",
            "Pass letters, digits and _, 12 at most, a letter first, and no function's name.",
        )
    return name


def _number(name: str, value: Any) -> float:
    """A variable's value: a number, or an array or tensor of one."""
    given = plain(value)
    while hasattr(value, "tolist") and isinstance(given, list) and len(given) == 1:
        given = given[0]
    try:
        if not isinstance(given, numbers.Real):  # nor what float() makes of a string
            raise TypeError
        number = float(given)
    except (TypeError, OverflowError):
        raise CourseError(
            f"The value of {name} is {shown(value)}, not a number.",
            f"Pass a number from {-MOST:g} to {MOST:g}.",
        ) from None
    return within(f"The value of {name}", number, -MOST, MOST)
