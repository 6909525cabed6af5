"""Learning-rate schedules.

A schedule is a curve: the factor at step t = 0, 1, 2, … that multiplies the optimizer's learning
rate. T is the number of all steps, W that of the warm-up:

    constant            min(1, t / W)
    linear              t / W,  then  (T − t) / (T − W)                         BERT
    cosine              t / W,  then  (1 + cos(π (t − W) / (T − W))) / 2        GPT
    inverse_square_root d^−½ min(s^−½, s W^−1.5),  s = t + 1                    the Transformer

    scheduler = scheduled(optimizer, linear(warmup=100, steps=1000))
    fit(model, losses, optimizer=optimizer, scheduler=scheduler)

Adam divides its steps by a running average of the gradient's size. At the start that average has
seen few gradients, so the first steps are long and noisy: a warm-up shortens them.
"""

import math
from collections.abc import Callable

import torch
from torch.optim.lr_scheduler import LambdaLR

from lmcourse.errors import CourseError

Curve = Callable[[int], float]


def scheduled(optimizer: torch.optim.Optimizer, curve: Curve) -> LambdaLR:
    """PyTorch's scheduler for a curve; call its ``step()`` after each step of the optimizer."""
    return LambdaLR(optimizer, curve)


def constant(warmup: int = 0) -> Curve:
    """Constant, after a linear warm-up."""
    _check(warmup)
    return lambda step: _risen(step, warmup)


def linear(warmup: int, steps: int) -> Curve:
    """Linear warm-up, then linear decay to 0 (Devlin et al. 2019, appendix A.2).

    (BERT's published code counts the decay from step 0, so the rate drops by W / T, 1 %, after the
    warm-up. Here, as in the `transformers` library, the curve is continuous.)
    """
    _check(warmup, steps)
    return lambda step: _risen(step, warmup) * (1 - _past(step, warmup, steps))


def cosine(warmup: int, steps: int) -> Curve:
    """Linear warm-up, then decay to 0 along half a period of the cosine.

    Loshchilov and Hutter (2017, "SGDR", eq. 5) without restarts, as Radford et al. (2018, section
    4.1) use it for GPT.
    """
    _check(warmup, steps)

    def curve(step: int) -> float:
        wave = (1 + math.cos(math.pi * _past(step, warmup, steps))) / 2
        return _risen(step, warmup) * wave

    return curve


def inverse_square_root(warmup: int, width: int | None = None) -> Curve:
    """Linear warm-up, then decay as 1/√s (Vaswani et al. 2017, section 5.3, eq. 3).

    Args:
        width: d of the equation; the curve is then the rate itself, for an optimizer with rate 1.
            None: the curve has the maximum 1, at the end of the warm-up.
    """
    if warmup < 1:
        raise CourseError(
            f"The inverse square root needs a warm-up, not warmup={warmup}.",
            "Choose at least 1; the Transformer has 4,000.",
        )
    scale = warmup**0.5 if width is None else width**-0.5

    def curve(step: int) -> float:
        count = step + 1  # the paper counts steps from 1
        return scale * min(count**-0.5, count * warmup**-1.5)

    return curve


def _risen(step: int, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


def _past(step: int, warmup: int, steps: int) -> float:
    """The fraction of the steps after the warm-up that are past, from 0 to 1."""
    return min(1.0, max(0.0, (step - warmup) / (steps - warmup)))


def _check(warmup: int, steps: int | None = None) -> None:
    if warmup < 0 or (steps is not None and steps <= warmup):
        raise CourseError(
            f"There is no schedule with warmup={warmup} and steps={steps}.",
            "Choose a warm-up of at least 0, and more steps than that.",
        )
