"""Eight derivatives, a layer with dropout, the error of a gradient."""

import math
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.verdict import Wrong


def derivatives(x: float, y: float) -> tuple[float, ...]:
    constant, double, shifted = 0, 2, 2.0
    cube, power = 3 * x**2, math.exp(x)
    log_of_sixth = math.log(6 * x**2) + 2 * x**3 + 10
    seventh = 6 * x**2
    return constant, double, shifted, cube, power, log_of_sixth, seventh, 1 + 2 * x + y


def _eight(returned: Any, x: float, y: float) -> tuple[Any, ...]:
    if not hasattr(returned, "__len__") or len(returned) != 8:
        raise Wrong("Return a list of eight numbers, in the order of the list above.", "type")
    return tuple(returned)


_FUNCTIONS = ["7", "2x", "2x + 99999", "x³", "exp(x)", "exp(2x³ + 10), its logarithm"]
_FUNCTIONS += ["log(exp(2x³ + 10))", "x + x² + yx"]
DERIVATIVES = Task(
    derivatives,
    examples=[(42.0, 2.0), (3.0, -1.0), (-0.5, 4.0)],
    slips="""
f(x) = 7 does not change with x. Its derivative is not its value.
    shifted = 0, -> shifted = 7, || shifted = 1, || shifted = x,
2x has the same slope everywhere, and a constant added to a function does not change its slope.
    0, 2, 2.0 -> 0, 2 * x, 2 * x || 0, 2, 2.0 + 99999 || 0, 2, 2 * x + 99999 || 0, 2 * x, 2.0 ||
        0, 2 * x, 2 * x + 99999
The derivative of x³ is wrong: the exponent becomes a factor, and decreases by one.
    3 * x**2 -> x**2 || 3 * x**3 || 3 * x || x**3 || 2 * x**3
The exponential is its own derivative. The rule for powers is for x to a constant exponent.
    math.exp(x) -> x * math.exp(x - 1) || math.exp(x - 1) || x * math.exp(x)
The sixth entry lacks the inner derivative. By the chain rule, multiply by the derivative of
2x³ + 10; the logarithm turns the product into a sum.
    math.log(6 * x**2) + 2 * x**3 + 10 -> 2 * x**3 + 10
The sixth entry is the logarithm of a product, derivative of the outer times derivative of the
inner function. The logarithm of a product is the sum of the logarithms.
    math.log(6 * x**2) + 2 * x**3 + 10 -> math.log(6 * x**2) * (2 * x**3 + 10) ||
        math.log(6 * x**2) || 6 * x**2 * (2 * x**3 + 10) || 6 * x**2 + 2 * x**3 + 10 ||
        math.log(6 * x**2 + 2 * x**3 + 10) || math.log(6) * 2 * math.log(x) + 2 * x**3 + 10
The sixth entry is a *natural* logarithm: that of e^u is u.
    math.log(6 * x**2) + 2 * x**3 + 10 -> (math.log(6 * x**2) + 2 * x**3 + 10) / math.log(10)
The logarithm of x fails for a negative x. Take that of the inner derivative, which is positive.
    math.log(6 * x**2) + 2 * x**3 + 10 -> math.log(6) + 2 * math.log(x) + 2 * x**3 + 10
exp(2x³ + 10) is too large for a float at x = 42. First simplify what you compute: the logarithm of
an exponential, or an exponential divided by itself.
    math.log(6 * x**2) + 2 * x**3 + 10 -> math.log(6 * x**2 * math.exp(2 * x**3 + 10))
    or
    seventh = 6 * x**2 -> seventh = 6 * x**2 * math.exp(2 * x**3 + 10) / math.exp(2 * x**3 + 10) ||
        seventh = 1 / math.exp(2 * x**3 + 10) * math.exp(2 * x**3 + 10) * 6 * x**2
The seventh entry: log(exp(u)) is u. So this is the derivative of 2x³ + 10.
    seventh = 6 * x**2 -> seventh = 6 * x**2 / (2 * x**3 + 10) || seventh = 2 * x**3 + 10 ||
        seventh = 3 * x**2 || seventh = 0 || seventh = 6 * x**3 || seventh = 6 * x**2 + 10
The last entry has three terms, one for each use of x. With respect to x, y is a constant factor.
    1 + 2 * x + y -> 1 + 2 * x || 2 * x + y || 1 + y || 1 + 2 * x + x || x || x + x**2 + y * x
""",
    result=_eight,
    names=tuple(f"The derivative of {f}" for f in _FUNCTIONS),
    autograd=False,
    note="At x = 42 the sixth derivative has more than 64,000 digits, and the seventh is 10,584. "
    "PyTorch returns infinity and NaN for them: it differentiates the steps, not the formula.",
)


def layer_gradients(W: Tensor, b: Tensor, x: Tensor, m: Tensor, z_y: Tensor) -> tuple[Tensor, ...]:
    h = torch.tanh(x @ W.T + b)
    z_h = z_y * m
    z_u = z_h * (1 - h**2)
    z_W, z_b = z_u.T @ x, z_u.sum(0)
    return z_W, z_b, z_u @ W


def _layer(seed: int, batch: int, inputs: int, outputs: int) -> Example:
    shapes = (outputs, inputs), (outputs,), (batch, inputs), (batch, outputs), (batch, outputs)
    W, b, x, m, z_y = (normal(*shape, seed=(seed, i)) for i, shape in enumerate(shapes))
    m = torch.where(m > -0.3, 1 / 0.6, 0.0)
    m[0, 0], m[0, -1], x[0, 0] = 0.0, 1 / 0.6, 0.0
    return 0.6 * W, b, x, m, z_y


LAYER = Task(
    layer_gradients,
    # Equal sizes first: exchanged axes run.
    examples=[_layer(0, 3, 3, 3), _layer(1, 4, 2, 5), _layer(2, 1, 6, 3)],
    slips="""
The mask or its factor is missing. A dropped unit has the local derivative 0, a kept one 1/(1 − p).
    z_y * m -> z_y || z_y * (m > 0)
The mask is applied twice. It already contains the factor 1/(1 − p), and it is one local derivative.
    z_y * m -> z_y * m * m || z_y * m / 0.6
The derivative of tanh is missing: z_u is z_h times the local derivative of tanh.
    z_h * (1 - h**2) -> z_h
The derivative of tanh is wrong. It is 1 − h², where h is the value of tanh *before* dropout.
    (1 - h**2) -> (1 - (m * h) ** 2) || (1 - h) || (1 - h) ** 2 || (1 - torch.tanh(h) ** 2) ||
        h * (1 - h) || (1 - (x @ W.T + b) ** 2)
    or
    torch.tanh(x @ W.T + b) -> torch.tanh(m * (x @ W.T + b))
Forward and backward are mixed up: tanh is applied to the gradient, or its value multiplies it.
    z_h * (1 - h**2) -> z_h * h || torch.tanh(z_h) || z_h * (1 - z_h**2)
The forward pass is wrong: compare u with the formula for rows, and with its bias.
    x @ W.T + b -> x @ W.T || x @ W + b
z_W is transposed. It has the shape of W: entry [i, j] belongs to output i and input j.
    z_u.T @ x -> x.T @ z_u
z_W is wrong. It is an outer product of z_u and the layer's *input*, added over the batch.
    z_u.T @ x -> z_u.T @ h || z_y.T @ x || z_h.T @ x || z_u[0][:, None] * x[0]
The gradients of W and b are averaged over the batch, or those of one row. The same W is used for
each row, so the contributions are added.
    z_u.T @ x, z_u.sum(0) -> z_u.T @ x / len(x), z_u.mean(0) || z_u.T @ x, z_u.mean(0) ||
        torch.outer(z_u[0], x[0]), z_u[0]
z_b has the shape of b, one entry for each output: add over the rows of the batch.
    z_u.sum(0) -> z_u || z_u.sum(1) || z_u.sum() || z_h.sum(0) || z_y.sum(0)
z_x is wrong. Forward, a row is multiplied by the transpose of W; backward, one of z_u by W.
    z_u @ W -> z_u @ W.T || W.T @ z_u || W @ z_u || z_h @ W || z_y @ W || z_u
The three results are in another order. Return z_W, z_b and z_x.
    z_W, z_b, z_u @ W -> z_u @ W, z_W, z_b || z_u @ W, z_b, z_W || z_b, z_W, z_u @ W
""",
    names=("z_W", "z_b", "z_x"),
    autograd=False,
    tolerance=1e-6,
    note="No Jacobian was built. That of u with respect to W would have batch · out · out · in "
    "entries, nearly all of them 0.",
)


def gradient_error(f: Any, gradient: list[float], point: list[float], h: float) -> float:
    errors = []
    for i, entry in enumerate(gradient):
        up, down = list(point), list(point)
        up[i] += h
        down[i] -= h
        slope = (f(up) - f(down)) / (2 * h)
        errors.append(abs(entry - slope))
    return max(errors)


class Function:
    """A function of a list of numbers, with a true gradient that a check can falsify."""

    def __init__(self, seed: int, size: int) -> None:
        self.a = normal(size, seed=(seed, "a")).tolist()

    def __call__(self, point: list[float]) -> float:
        if len(point) != len(self.a):
            raise ValueError(f"f takes a list of {len(self.a)} numbers; this has {len(point)}.")
        return sum(a * x**3 for a, x in zip(self.a, point, strict=True)) + math.prod(point)

    def gradient(self, point: list[float]) -> list[float]:
        rest = [math.prod(point[:i] + point[i + 1 :]) for i in range(len(point))]
        return [3 * a * x**2 + r for a, x, r in zip(self.a, point, rest, strict=True)]


def _checked(seed: int, size: int, h: float, errors: dict[int, float], sign: int = 1) -> Example:
    f, point = Function(seed, size), normal(size, seed=(seed, "at")).tolist()
    wrong = [z + errors.get(i, 0.0) for i, z in enumerate(f.gradient(point))]
    return f, [*wrong[:-1], sign * wrong[-1]], point, h


ERROR = Task(
    gradient_error,
    examples=[
        _checked(0, 3, 0.001, {1: 0.7, 2: 0.2}),
        _checked(1, 4, 0.1, {2: -0.9, 0: 0.3, 3: 0.1}),
        _checked(2, 2, 0.4, {0: 0.25}),
        _checked(3, 1, 0.2, {0: -0.5}),
        _checked(4, 3, 0.001, {}, sign=-1),
    ],
    slips="""
This is a one-sided difference, whose error is proportional to h. Evaluate f on both sides of the
point.
    down[i] -= h -> down[i] -= 0
    / (2 * h) -> / h
The distance of the two points is 2h. Divide by it.
    / (2 * h) -> / h || * 2 * h || / 2 || / 2 * h
The two points are exchanged: subtract the result below the point from the one above it.
    f(up) - f(down) -> f(down) - f(up)
All entries are moved at once. Move one, and leave the others at the given point.
    up[i] += h -> up = [x + h for x in point]
    down[i] -= h -> down = [x - h for x in point]
The two points are not new copies of the given point: both are one list, or entries stay moved.
    up, down = list(point), list(point) -> up = down = list(point)
    or
    errors = [] -> errors = []; high, low = list(point), list(point)
    up, down = list(point), list(point) -> up, down = high, low
Your function does not move by h. The two points are at x + h and x − h, with the argument `h`.
    errors = [] -> errors, h = [], 1e-6
The errors are added or averaged, and many good entries hide a bad one. Return the largest.
    max(errors) -> sum(errors) || sum(errors) / len(errors) || math.hypot(*errors)
A sign is wrong. An entry that is too small is as wrong as one that is too large, and so is one with
the wrong sign: take the absolute value of each difference.
    abs(entry - slope) -> entry - slope || slope - entry || abs(abs(entry) - abs(slope))
    or
    abs(entry - slope) -> entry - slope
    max(errors) -> abs(max(errors))
Only one entry counts in your result. One wrong entry of any is enough, so return the largest error.
    max(errors) -> errors[0] || errors[-1] || min(errors)
This is a finite difference or an entry of the gradient. Return by how much they differ.
    abs(entry - slope) -> abs(slope) || slope || entry
The error is relative to the entry or to the difference. Return the absolute difference.
    abs(entry - slope) -> abs(entry - slope) / abs(entry) || abs(entry - slope) / abs(slope)
""",
    tolerance=3e-5,
    note="Now use it on the backward passes below.",
)
