"""The network of 02.3 and 02.4, one sequence at a time, and its gradients by autograd.

h_t = tanh(U x_t + W h_{t-1}),    ℓ_t = ½ ‖h_t − y_t‖²,    L = ℓ_1 + … + ℓ_T
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from lmcourse.labs.values import multiple, same
from lmcourse.labs.verdict import Wrong


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
    given: Problem,
    W: Tensor,
    boundary: Callable[[int, Tensor], Tensor] = lambda t, h: h,
    nonlinear: Callable[[Tensor], Tensor] = torch.tanh,
) -> list[Tensor]:
    """ℓ_1 … ℓ_T; ``boundary(t, h)`` is what becomes of h on its way into step t = 0 … T-1."""
    h, found = given.initial_state, []
    for t, (x, y) in enumerate(zip(given.inputs, given.targets, strict=True)):
        h = nonlinear(W @ boundary(t, h) + given.U @ x)
        found.append(0.5 * (h - y).square().sum())
    return found


def gradient(
    given: Problem,
    boundary: Callable[[int, Tensor], Tensor] = lambda t, h: h,
    select: Callable[[list[Tensor]], Tensor] = lambda each: torch.stack(each).sum(),
    nonlinear: Callable[[Tensor], Tensor] = torch.tanh,
) -> Tensor:
    """dL/dW; ``select`` makes one loss of ℓ_1 … ℓ_T."""
    W = given.W.clone().requires_grad_()
    (found,) = torch.autograd.grad(select(losses(given, W, boundary, nonlinear)), W)
    return found


def explain_factor(value: Tensor, wanted: Tensor, steps: int) -> None:
    """Raise Wrong if ``value`` points where the gradient ``wanted`` does, with another length."""
    factor = multiple(value, wanted, 1e-6)
    if factor is None:
        return
    if same(factor, -1.0):
        raise Wrong("The sign is turned: the derivative of ½(h − y)² is h − y, not y − h.")
    if same(factor, 2.0):
        raise Wrong("Exactly twice the gradient: the loss has a factor ½, which cancels the 2.")
    if same(factor * steps, 1.0):
        raise Wrong("Divided by T: this loss is the sum over the steps, not their mean.")
    raise Wrong(
        f"The direction is right, but everything is multiplied by {factor:.4g}: the loss is a sum "
        "over units and steps, with ½ in front, and no mean."
    )
