"""Perplexity, one step of the recurrence, gradient clipping."""

import math
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task
from lmcourse.labs.verdict import Wrong


def perplexity(log_probabilities: Tensor) -> float:
    mean = float(log_probabilities.mean())
    return math.exp(-mean)


def _log_probabilities(time: int, seed: int) -> Example:
    generator = torch.Generator().manual_seed(seed)
    return ((0.02 + 0.9 * torch.rand(time, generator=generator, dtype=torch.float64)).log(),)


PERPLEXITY = Task(
    perplexity,
    examples=[_log_probabilities(6, 0), _log_probabilities(11, 1)],
    edge_cases={"for a text of 3,000 tokens": _log_probabilities(3000, 2)},
    slips="""
The result uses the sum instead of the mean, so it depends on the length of the text. Divide by N.
    .mean() -> .sum()
    exp(-mean) -> exp(-mean) || exp(mean)
The sign is missing: this is the geometric mean of the probabilities; perplexity is its inverse.
    exp(-mean) -> exp(mean)
The logarithms are natural, so the base of the exponential is e, not 2 or 10.
    math.exp(-mean) -> 2.0**-mean || 10.0**-mean
The mean is over probabilities or their inverses. Average the logarithms, then exponentiate.
    math.exp(-mean) -> (1 / log_probabilities.exp().mean()).item() ||
        (-log_probabilities).exp().mean().item()
This is a negative log-likelihood, in nats or bits. Perplexity is the exponential of its mean.
    math.exp(-mean) -> -mean || -mean / math.log(2) || -mean * len(log_probabilities)
The divisor is wrong. Every token is predicted, so divide by N, the number of tokens in the text.
    .mean() -> .sum() / (len(log_probabilities) - 1) || .sum() / 5 || .sum() / 6 || .sum() / 100 ||
        [1:].mean() || [:-1].mean()
The logarithm is applied twice: the argument already holds logarithms, which are negative.
    .mean() -> .log().mean()
Correct for short texts. The product of 3,000 probabilities underflows to 0. Average the
logarithms first.
    math.exp(-mean) -> log_probabilities.exp().prod().item() ** (-1 / len(log_probabilities)) ||
        (log_probabilities.exp().prod() ** (-1 / len(log_probabilities))).item()
""",
    note="A uniform prediction over V tokens has perplexity V, the number of its choices.",
)


def step(x: Tensor, h: Tensor, U: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(x @ U.T + h @ W.T + b)


def _step_of(seed: int, batch: int, width: int, hidden: int) -> Example:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((batch, width), (batch, hidden), (hidden, width), (hidden, hidden), (hidden,))
    return tuple(torch.randn(shape, generator=generator) * 0.7 for shape in shapes)


STEP = Task(
    step,
    examples=[_step_of(0, 3, 3, 3), _step_of(1, 2, 5, 4), _step_of(2, 1, 2, 6)],
    slips="""
A matrix is not transposed. The equation has column vectors, and here each state is a row:
(W h)ᵀ = hᵀ Wᵀ, and likewise for `U`.
    W.T -> W
    or
    U.T -> U
    or
    W.T -> W
    U.T -> U
The matrices multiply from the left, which mixes the sequences of the batch. States come first:
`h @ …`.
    x @ U.T + h @ W.T -> U @ x + W @ h
The result is transposed. It has one row per sequence: [batch, hidden].
    + b) -> + b).T
The bias is missing or misused. It has one entry per hidden unit and is added once, inside tanh.
    + b) -> ) || ) + b || + 2 * b) || + b[:, None])
The tanh is missing or replaced. Without an activation, any number of steps is one linear map.
    torch.tanh -> (lambda a: a) || torch.sigmoid || torch.relu
The tanh is applied to each term, or twice. Apply it once, to the sum.
    torch.tanh(x @ U.T + h @ W.T + b) -> torch.tanh(x @ U.T) + torch.tanh(h @ W.T + b) ||
        torch.tanh(torch.tanh(x @ U.T + h @ W.T + b))
A term is missing, or has the wrong matrix: `U` multiplies the input x_t, `W` the state h_{t−1}.
    x @ U.T + h @ W.T -> x @ U.T || h @ W.T || h @ U.T + x @ W.T || x @ U.T + x @ W.T
`*` multiplies entry by entry; a matrix product is `@`.
    x @ U.T + h @ W.T -> x * U + h * W
""",
    note="Every step uses the same U, W and b: a longer text needs no additional parameters.",
)


def clip(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    norm = torch.sqrt(sum(((g**2).sum() for g in gradients), torch.zeros(())))
    factor = max_norm / norm if norm > max_norm else 1.0
    return [g * factor for g in gradients]


# The shape and scale of each tensor. The largest norm is neither the first nor the last.
_TENSORS = (((4,), 1.0), ((3, 2, 2), 3.0), ((2, 3), 2.0))


def _gradients(seed: int, scale: float) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [scale * own * torch.randn(shape, generator=generator) for shape, own in _TENSORS]


def _tensors(returned: Any, gradients: list[Tensor], max_norm: float) -> Any:
    if not isinstance(returned, (list, tuple)) or len(returned) != len(gradients):
        raise Wrong(
            "Return a list with one tensor for each gradient, in the same order and shapes. If "
            "some are missing: does the function return inside the loop?",
            "type",
        )
    return tuple(returned)


_MIXED = _gradients(3, 2.0)  # the norm of all exceeds the second limit, that of each does not
CLIP = Task(
    clip,
    examples=[
        (_gradients(0, 2.0), 1.5),
        (_gradients(1, 2.0), 0.3),
        (_MIXED, _MIXED[1].norm().item() * 0.9),
        (_MIXED, torch.cat([each.flatten() for each in _MIXED]).norm().item() * 0.98),
        (
            _gradients(2, 0.2),
            3.0,
        ),  # unchanged: the norm is below the limit, its square above
    ],
    edge_cases={"for gradients that are all zero": ([torch.zeros(2, 3)] * 3, 1.0)},
    slips="""
Nothing is clipped, although the norm of all tensors together exceeds `max_norm`.
    max_norm / norm if norm > max_norm else 1.0 -> 1.0
Each tensor is compared or scaled by its own norm. Compare the norm of all tensors together, and
scale all of them by one factor.
    g * factor -> g * min(1.0, max_norm / float(g.norm() + 1e-12))
    or
    g * factor -> (g * factor if g.norm() > max_norm else g)
    or
    norm > max_norm -> max(g.norm() for g in gradients) > max_norm
Each entry is clipped to ±`max_norm`, which changes the direction. Scale all entries by one factor.
    g * factor -> g.clamp(-max_norm, max_norm)
Small gradients are scaled up. If the norm is below `max_norm`, they stay unchanged: the factor is
at most 1.
    max_norm / norm if norm > max_norm else 1.0 -> max_norm / norm ||
        max_norm / norm if norm**2 > max_norm else 1.0
The factor is wrong. It is `max_norm` divided by the norm, so that the norm becomes `max_norm`.
    max_norm / norm if -> 1 / norm if || max_norm if || 0.0 if
The norm of one tensor is used for all: the largest, the first or the last. Does a loop overwrite
the total (`=`) instead of adding squares (`+=`)?
    torch.sqrt(sum(((g**2).sum() for g in gradients), torch.zeros(()))) ->
        max(g.norm() for g in gradients) || gradients[0].norm() || gradients[-1].norm()
This is a different norm. Add the squares of all entries, then take one square root: not a sum of
norms or absolute values, not a mean, not a maximum.
    torch.sqrt(sum(((g**2).sum() for g in gradients), torch.zeros(()))) ->
        sum(g.square().sum() for g in gradients) || sum(g.norm() for g in gradients) ||
        max(g.abs().max() for g in gradients) || sum(g.abs().sum() for g in gradients) ||
        torch.cat([g.flatten() for g in gradients]).square().mean().sqrt()
Gradients that are all zero give 0/0. Divide only if the norm exceeds `max_norm`, or add a small
number to the denominator.
    max_norm / norm if norm > max_norm else 1.0 -> min(1.0, max_norm / norm.item())
    or
    g * factor -> g / norm * min(norm, max_norm)
""",
    result=_tensors,
    names=("the first tensor", "the second tensor", "the third tensor"),
    note="Only the length changes, not the direction; clipping each entry would change both.",
)
