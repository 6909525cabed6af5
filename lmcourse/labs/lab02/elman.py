"""The network of 02.3 and 02.4, one sequence at a time, and its gradients by autograd.

h_t = tanh(U x_t + W h_{t-1}),    l_t = ½ ‖h_t − y_t‖²,    L = l_1 + … + l_T
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Problem(NamedTuple):
    """The arguments of both exercises, in their order (float64)."""

    W: Tensor  # [hidden, hidden]
    U: Tensor  # [hidden, input]
    inputs: Tensor  # [time, input]
    initial_state: Tensor  # [hidden]
    targets: Tensor  # [time, hidden]


def problem(seed: int, time: int, width: int = 2, hidden: int = 3) -> Problem:
    """A random problem whose states are neither saturated nor small, so that each mistake shows."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((hidden, hidden), (hidden, width), (time, width), (hidden,), (time, hidden))
    scales = (0.6, 0.5, 0.8, 0.8, 1.0)
    drawn = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return Problem(*(scale * values for scale, values in zip(scales, drawn, strict=True)))


def losses(
    given: Problem, W: Tensor, boundary: Callable[[int, Tensor], Tensor] = lambda t, h: h
) -> list[Tensor]:
    """l_1 … l_T; ``boundary(t, h)`` is what becomes of h on its way into step t = 0 … T-1."""
    h, found = given.initial_state, []
    for t, (x, y) in enumerate(zip(given.inputs, given.targets, strict=True)):
        h = torch.tanh(W @ boundary(t, h) + given.U @ x)
        found.append(0.5 * (h - y).square().sum())
    return found


def gradient(
    given: Problem,
    boundary: Callable[[int, Tensor], Tensor] = lambda t, h: h,
    select: Callable[[list[Tensor]], Tensor] = lambda each: torch.stack(each).sum(),
) -> Tensor:
    """dL/dW; ``select`` makes one loss of l_1 … l_T."""
    W = given.W.clone().requires_grad_()
    (found,) = torch.autograd.grad(select(losses(given, W, boundary)), W)
    return found
