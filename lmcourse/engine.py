"""Reverse-mode automatic differentiation over scalars, developed in chapter 01.

As in PyTorch, only the gradients of inputs accumulate over backward passes, until you zero them.
"""

import itertools
import math
from typing import Union

Operand = Union["Value", float]
Nodes = tuple["Value", ...]
_clock = itertools.count()


class Value:
    """A node of a computation graph: a number, how it was computed, and its gradient.

    Args:
        value: the number x_i = f_i(parents).
        parents: the nodes that it was computed from; none for an input.
        partials: ∂f_i/∂x_j, the local derivative with respect to each parent.
        op: the name of the operation.
    """

    def __init__(
        self, value: float, parents: Nodes = (), partials: tuple[float, ...] = (), op: str = ""
    ) -> None:
        self.value, self.parents, self.partials, self.op = value, parents, partials, op
        self.grad = 0.0  # z_i, the derivative of the output with respect to this node
        self.born = next(_clock)  # a node is younger than its parents

    def __repr__(self) -> str:
        return f"Value({self.value:.6g}, grad={self.grad:.6g})"

    def __add__(self, other: Operand) -> "Value":
        b = _node(other)
        return Value(self.value + b.value, (self, b), (1.0, 1.0), "+")

    def __mul__(self, other: Operand) -> "Value":
        b = _node(other)
        return Value(self.value * b.value, (self, b), (b.value, self.value), "×")

    def __pow__(self, n: float) -> "Value":
        return Value(self.value**n, (self,), (n and n * self.value ** (n - 1),), f"^{n:g}")

    def __neg__(self) -> "Value":
        return self * -1.0

    def __sub__(self, other: Operand) -> "Value":
        return self + -_node(other)

    def __rsub__(self, other: float) -> "Value":
        return -self + other

    def __truediv__(self, other: Operand) -> "Value":
        return self * _node(other) ** -1.0

    def __rtruediv__(self, other: float) -> "Value":
        return self**-1.0 * other

    __radd__, __rmul__ = __add__, __mul__


def exp(a: Value) -> Value:
    """e to the power of a, which is its own derivative."""
    y = math.exp(a.value)
    return Value(y, (a,), (y,), "exp")


def log(a: Value) -> Value:
    """The natural logarithm of a, which must be positive."""
    return Value(math.log(a.value), (a,), (1 / a.value,), "log")


def tanh(a: Value) -> Value:
    """The hyperbolic tangent of a, between −1 and 1."""
    y = math.tanh(a.value)
    return Value(y, (a,), (1 - y * y,), "tanh")


def ordered(output: Value) -> list[Value]:
    """The nodes that the output depends on, in topological order."""
    found, waiting = {output}, [output]
    while waiting:
        new = {parent for parent in waiting.pop().parents if parent not in found}
        found |= new
        waiting += new
    return sorted(found, key=lambda node: node.born)


def backward(output: Value) -> None:
    """Add ∂ output / ∂ input to the gradient of each input."""
    order = ordered(output)
    for node in order:
        node.grad = 0.0 if node.parents else node.grad
    output.grad += 1.0
    for node in reversed(order):
        for parent, partial in zip(node.parents, node.partials, strict=True):
            parent.grad += node.grad * partial


def _node(x: Operand) -> Value:
    return x if isinstance(x, Value) else Value(x)
