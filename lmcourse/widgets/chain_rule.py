"""Values and gradients of a graph, for the description of the Graph widget.

``web/widgets/graph/evaluate.js`` computes the same step by step; both are tested against torch.
"""

from collections.abc import Callable, Mapping

import numpy as np

from lmcourse.widgets.expression import Node
from lmcourse.widgets.graph_words import ODD

_Number = np.float64  # division by zero and overflow give values, as in a browser

_VALUES: dict[str, Callable[..., _Number]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
    "**": np.power,
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "relu": lambda a: np.maximum(a, 0.0),
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "max": np.maximum,
}
# Local derivatives, one per argument, from the arguments and the value.
_SLOPES: dict[str, Callable[..., tuple[float | _Number, ...]]] = {
    "+": lambda a, b, v: (1.0, 1.0),
    "-": lambda a, b, v: (1.0, -1.0),
    "*": lambda a, b, v: (b, a),
    "/": lambda a, b, v: (1 / b, -a / (b * b)),
    "neg": lambda a, v: (-1.0,),
    "**": lambda a, b, v: (
        b * a ** (b - 1) if b else 0.0,
        v * np.log(a) if a or b < 0 else 0.0,
    ),
    "tanh": lambda a, v: (1 - v * v,),
    "sigmoid": lambda a, v: (v * (1 - v),),
    "relu": lambda a, v: (float(a > 0),),  # 0 at the kink, as in torch
    "exp": lambda a, v: (v,),
    "log": lambda a, v: (1 / a,),
    "sin": lambda a, v: (np.cos(a),),
    "cos": lambda a, v: (-np.sin(a),),
    "sqrt": lambda a, v: (0.5 / v,),
    "max": lambda a, b, v: (0.5, 0.5) if a == b else (float(a > b), float(b > a)),
}


def backward_order(nodes: list[Node]) -> list[int]:
    """Return the nodes that propagate a gradient, in the order of the backward pass."""
    needs = _needs(nodes)
    return [i for i in reversed(range(len(nodes))) if nodes[i].args and needs[i]]


def _needs(nodes: list[Node]) -> list[bool]:
    """Return whether each node depends on a variable, and so has a gradient."""
    needs: list[bool] = []
    for node in nodes:
        needs.append(node.op == "variable" or any(needs[i] for i in node.args))
    return needs


def gradients(
    nodes: list[Node],
    given: Mapping[str, float],
    overwrite: bool = False,
    done: int | None = None,
) -> tuple[list[float], list[float]]:
    """Return each node's value, and ∂ output / ∂ node by the chain rule.

    Args:
        nodes: in the order of the forward pass, the output last.
        given: the variables' values.
        overwrite: whether gradients replace earlier ones instead of adding up.
        done: the number of nodes that have propagated their gradient; None: all.

    Returns:
        Values and gradients; nan if undefined.
    """
    with np.errstate(all="ignore"):
        values: list[_Number] = []
        for node in nodes:
            values.append(_value(node, values, given))
        slopes = [_Number(0.0)] * len(nodes)
        slopes[-1] = _Number(1.0)
        for i in backward_order(nodes)[:done]:
            node = nodes[i]
            along = _SLOPES[node.op](*_inputs(node, values), values[i])
            for to, local in zip(node.args, along, strict=False):
                slopes[to] = slopes[i] * local + (0.0 if overwrite else slopes[to])
    return [float(it) for it in values], [float(it) for it in slopes]


def oddity(nodes: list[Node], values: list[float], at: int) -> str:
    """Return why a node has no value, or another irregularity: a key of ``ODD``, or ""."""
    node = nodes[at]
    with np.errstate(all="ignore"):
        inputs = _inputs(node, [_Number(it) for it in values])
        if not node.args or not np.isfinite(inputs).all():
            return ""  # because of its inputs
        if not np.isfinite(values[at]):
            return node.op if node.op in ODD else "overflow"
        along = _SLOPES[node.op](*inputs, _Number(values[at]))
    needs = _needs(nodes)
    if not needs[at]:
        return ""  # it has no gradient
    if any(needs[i] and not np.isfinite(it) for i, it in zip(node.args, along, strict=False)):
        return "steep"
    if node.op == "max" and inputs[0] == inputs[1]:
        return "tie"
    return "kink" if node.op == "relu" and not inputs[0] else ""


def _inputs(node: Node, values: list[_Number]) -> list[_Number]:
    exponent = [_Number(node.number)] if node.op == "**" and len(node.args) == 1 else []
    return [values[i] for i in node.args] + exponent


def _value(node: Node, values: list[_Number], given: Mapping[str, float]) -> _Number:
    if node.op == "variable":
        return _Number(given[node.name])
    if node.op == "number":
        return _Number(node.number)
    inputs = _inputs(node, values)
    if not np.isfinite(inputs).all():
        return _Number(np.nan)
    return _VALUES[node.op](*inputs)
