"""Truncated backpropagation through time: how the gradient crosses from step to step.

Each function returns a *boundary* for `lmcourse.models.rnn.RNN.forward`: it leaves the forward pass
unchanged, and cuts or scales the gradient that flows back through the state (chapter 02).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.errors import CourseError


def scale_gradient(tensor: Tensor, factor: float | Tensor) -> Tensor:
    """The same values; the gradient is multiplied by ``factor``."""
    return tensor.detach() + factor * (tensor - tensor.detach())


def cut_every(steps: int) -> Callable[[int, Tensor], Tensor]:
    """Regular truncation: no gradient crosses t = steps, 2·steps, …; the state does.

    Williams and Peng (1990), in its common form: the gradient stays within windows of ``steps``
    steps.
    """
    if steps < 1:
        raise CourseError(f"A window of {steps} steps is empty.", "Choose at least 1 step.")

    def boundary(t: int, h: Tensor) -> Tensor:
        return h.detach() if t > 0 and t % steps == 0 else h

    return boundary


def cut_randomly(
    keep: float, generator: torch.Generator | None = None
) -> Callable[[int, Tensor], Tensor]:
    """Randomized truncation: unbiased, since E[ξ_t] = 1.

    Before each step, and independently for each sequence, the gradient that flows back through
    the state is multiplied by ξ_t = 1/keep with probability ``keep`` and by 0 otherwise
    (Tallec and Ollivier 2017, "Unbiasing truncated backpropagation through time", section 3).
    """
    if not 0 < keep <= 1:
        raise CourseError(
            f"keep={keep} is not a probability above 0.",
            "Choose a number above 0 and at most 1; 1 is full backpropagation through time.",
        )

    def boundary(t: int, h: Tensor) -> Tensor:
        if t == 0:
            return h  # there is no step before it
        draw = torch.rand(h.shape[0], 1, generator=generator, dtype=h.dtype).to(h.device)
        return scale_gradient(h, (draw < keep) / keep)

    return boundary
