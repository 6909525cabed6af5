"""Graph: forward and backward pass of a typed expression, step by step."""

import math
import numbers
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets import chain_rule
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import Fixed, plain, shown, within
from lmcourse.widgets.expression import Node, is_name, parse
from lmcourse.widgets.graph_words import LEXICON, ODD, OPERATIONS, SAID

DEFAULTS = (0.5, 2.0, -1.0, 1.0, 0.5, -2.0, 3.0, -0.5)  # of variables without values, in order
MOST = 1e6  # of a value, in size


class Graph(Widget):
    """The computation graph of a typed expression: each node's value and gradient, step by step.

    The forward pass computes each node from earlier ones; the backward pass starts with ∂L/∂L = 1
    and multiplies by the local derivative of each edge. Gradients of a node that is used twice add
    up. Each variable's gradient is next to its finite difference. Settings are traits that a kernel
    can read and set, including the reader's expression.

    Expressions have numbers (``0.001`` or ``1e-3``), names, ``+ - * / **`` (or ``^``), parentheses,
    tanh, sigmoid, relu, exp, log, sin, cos, sqrt and max(a, b). Parts between semicolons have names
    that later parts use: ``"h = tanh(w*x); (h - y)**2"``. The limits are 200 characters, 40 nodes
    and 8 variables. Expressions are parsed, never executed.

    Args:
        expression: its last part is the output, L if it has no name.
        values: the values of the variables, with defaults by their order. Names of a reader's
            earlier expressions may occur. The trait is read-only; to change a:
            ``loss.values = {**loss.values, "a": 5}``.
        step: the number of steps, forward, then backward; None: all.
        overwrite: whether gradients replace earlier ones, a common mistake.
        learning_rate: η of a step of gradient descent, above 0.
        pinned: the name of the variable or part whose paths to the output are shown; unknown names
            are ignored.
        variables: further values: ``Graph("a*b", a=2, b=-3)``.
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
    )  # the texts and the grammar of the page

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
        for name in variables:  # `values` may have others, from a reader's earlier expressions
            if name not in names:
                raise CourseError(
                    f"{name} is not a variable of {expression!r}.",
                    f"Its variables are {', '.join(names)}.",
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
        """A description of the figure at the present settings."""
        nodes = parse(self.expression)
        names = [it.name for it in nodes if it.op == "variable"]
        given = {
            name: float(self.values.get(name, start))
            for name, start in zip(names, DEFAULTS, strict=False)
        }
        output = nodes[-1].name
        said = [
            f"Computation graph of {self.expression} with {len(nodes)} nodes.",
            *_passes(nodes, given, self.overwrite, self.step),
        ]
        if self.overwrite:
            said.append("Gradients overwrite earlier ones instead of adding up, a mistake.")
        if self.pinned in [it.name for it in nodes]:
            said.append(f"The paths from {self.pinned} to {output} are marked.")
        elif self.pinned is not None:
            said.append(SAID["nobox"].format(self.pinned))
        if self.learning_rate != type(self).learning_rate.default_value:
            said.append(f"The learning rate is {self.learning_rate:g}.")
        return " ".join(said)

    @traitlets.validate("expression")
    def _expression_is_valid(self, proposal: Any) -> str:
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
    """Return a variable's value: a number, or an array or tensor with one element."""
    given = plain(value)
    while hasattr(value, "tolist") and isinstance(given, list) and len(given) == 1:
        given = given[0]
    try:
        if not isinstance(given, numbers.Real):  # not strings, which float() accepts
            raise TypeError
        number = float(given)
    except (TypeError, OverflowError):
        raise CourseError(
            f"The value of {name} is {shown(value)}, not a number.",
            f"Pass a number from {-MOST:g} to {MOST:g}.",
        ) from None
    return within(f"The value of {name}", number, -MOST, MOST)


def _passes(
    nodes: list[Node], given: Mapping[str, float], overwrite: bool, step: int | None
) -> Iterator[str]:
    """Return sentences on the values and gradients after these steps, and on irregularities.

    Args:
        nodes: the nodes of the expression.
        given: the variables' values.
        overwrite: whether gradients replace earlier ones.
        step: the number of steps; None: all.
    """
    inner = [i for i, it in enumerate(nodes) if it.args]
    order = chain_rule.backward_order(nodes)
    last = len(inner) + len(order) + 2
    at = last if step is None else min(step, last)
    done = max(at - len(inner) - 1, 0)
    values, slopes = chain_rule.gradients(nodes, given, overwrite, done)
    known = [i for i, it in enumerate(nodes) if not it.args or i in inner[:at]]
    result = f"{nodes[-1].name} = {_written(values[-1])}"
    if at == last:
        each = [f"{_value(nodes, values, i)} with {_slope(nodes, slopes, i)}" for i in known]
        variables = [it for i, it in zip(known, each, strict=True) if nodes[i].op == "variable"]
        yield f"{result}; {', '.join(variables)}."
    elif at > len(inner):
        reached = {len(nodes) - 1}.union(*(nodes[i].args for i in order[:done]))
        moved = [i for i in sorted(reached) if i in order or nodes[i].op == "variable"]
        so_far = ", ".join(_slope(nodes, slopes, i) for i in moved)
        yield f"Step {at} of {last}, backward: {result}; gradients so far: {so_far}."
    else:
        so_far = ", ".join(_value(nodes, values, i) for i in known if nodes[i].op != "number")
        yield f"Step {at} of {last}, forward: values so far: {so_far}."
    for i in known:
        if odd := chain_rule.oddity(nodes, values, i):
            yield SAID["odd"].format(_definition(nodes, i), ODD[odd]).strip()


def _value(nodes: list[Node], values: list[float], i: int) -> str:
    return f"{nodes[i].name} = {_written(values[i])}"


def _slope(nodes: list[Node], slopes: list[float], i: int) -> str:
    return f"∂{nodes[-1].name}/∂{nodes[i].name} = {_written(slopes[i])}"


def _definition(nodes: list[Node], i: int) -> str:
    """Return the definition as the page writes it: "v₁ = log(x)"."""
    node = nodes[i]
    names = [nodes[it].name for it in node.args] + [f"{node.number:g}"]
    written = re.sub("[AB]", lambda it: names["AB".index(it[0])], OPERATIONS[node.op][0])
    return f"{node.name} = {written}"


def _written(x: float) -> str:
    if math.isnan(x):
        return "no value"
    return f"{x:.3g}" if math.isfinite(x) else "∞" if x > 0 else "−∞"
