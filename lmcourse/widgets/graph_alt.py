"""What the Graph widget's picture says, in words for paper."""

import math
import re
from collections.abc import Iterator, Mapping

from lmcourse.widgets import chain_rule
from lmcourse.widgets.expression import Node
from lmcourse.widgets.graph_words import ODD, OPERATIONS, SAID


def passes(
    nodes: list[Node], given: Mapping[str, float], overwrite: bool, step: int | None
) -> Iterator[str]:
    """What is known after so many steps: values, then gradients, then what is odd about them.

    Args:
        nodes: of the expression.
        given: the variables' values.
        overwrite: gradients replace what is there.
        step: None for everything.
    """
    inner = [i for i, it in enumerate(nodes) if it.args]
    turns = chain_rule.turns(nodes)
    last = len(inner) + len(turns) + 2
    at = last if step is None else min(step, last)
    handed = max(at - len(inner) - 1, 0)
    values, slopes = chain_rule.gradients(nodes, given, overwrite, handed)
    known = [i for i, it in enumerate(nodes) if not it.args or i in inner[:at]]
    result = f"{nodes[-1].name} = {_written(values[-1])}"
    if at == last:
        each = [f"{_value(nodes, values, i)} with {_slope(nodes, slopes, i)}" for i in known]
        variables = [it for i, it in zip(known, each, strict=True) if nodes[i].op == "variable"]
        yield f"{result}; {', '.join(variables)}."
    elif at > len(inner):
        reached = {len(nodes) - 1}.union(*(nodes[i].args for i in turns[:handed]))
        moved = [i for i in sorted(reached) if i in turns or nodes[i].op == "variable"]
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
    """As the page writes it: "v₁ = log(x)"."""
    node = nodes[i]
    names = [nodes[it].name for it in node.args] + [f"{node.number:g}"]
    written = re.sub("[AB]", lambda it: names["AB".index(it[0])], OPERATIONS[node.op][0])
    return f"{node.name} = {written}"


def _written(x: float) -> str:
    if math.isnan(x):
        return "no value"
    return f"{x:.3g}" if math.isfinite(x) else "∞" if x > 0 else "−∞"
