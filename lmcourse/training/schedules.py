"""Schedules: how the learning rate moves from step to step; and what weight decay leaves alone.

A schedule is a curve, the factor at each step t = 0, 1, 2, … that the optimizer's learning rate is
multiplied by. With T for all steps and W for those of the warm-up:

    constant            min(1, t / W)
    linear              t / W,  then  (T − t) / (T − W)                         BERT
    cosine              t / W,  then  (1 + cos(π (t − W) / (T − W))) / 2        GPT
    inverse_square_root d^−½ min(s^−½, s W^−1.5),  s = t + 1                    the Transformer
    slanted_triangular  (1 + p (r − 1)) / r,  p up to 1 at cT, and down to 0    ULMFiT

    scheduler = scheduled(optimizer, linear(warmup=100, steps=1000))
    train(model, losses, optimizer=optimizer, scheduler=scheduler)

Why to warm up: Adam divides a step by the size of the gradients that it has seen, and at the start
it has seen next to none, so its first steps are long and of random directions.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from lmcourse.errors import CourseError

Curve = Callable[[int], float]


def scheduled(optimizer: torch.optim.Optimizer, curve: Curve) -> LambdaLR:
    """PyTorch's scheduler for a curve: after each step of the optimizer, call its ``step()``."""
    return LambdaLR(optimizer, curve)


def constant(warmup: int = 0) -> Curve:
    """Constant, after a linear warm-up."""
    _check(warmup)
    return lambda step: _risen(step, warmup)


def linear(warmup: int, steps: int) -> Curve:
    """Up in a line, and down in a line to 0 (Devlin et al. 2019, appendix A.2).

    (BERT's published code counts the way down from step 0, so the rate falls by W / T, 1 %, where
    the warm-up ends. Here, as in the `transformers` library, the two lines meet.)
    """
    _check(warmup, steps)
    return lambda step: _risen(step, warmup) * (1 - _past(step, warmup, steps))


def cosine(warmup: int, steps: int) -> Curve:
    """Up in a line, and down to 0 on half a wave of the cosine.

    Loshchilov and Hutter (2017, "SGDR", eq. 5) without restarts, as Radford et al. (2018, section
    4.1) have it for GPT.
    """
    _check(warmup, steps)

    def curve(step: int) -> float:
        wave = (1 + math.cos(math.pi * _past(step, warmup, steps))) / 2
        return _risen(step, warmup) * wave

    return curve


def inverse_square_root(warmup: int, width: int | None = None) -> Curve:
    """Up in a line, and down as 1/√s (Vaswani et al. 2017, section 5.3, eq. 3).

    Args:
        width: d of the equation, which gives the rate itself: let the optimizer's be 1. None: the
            curve is 1 at its peak, where the warm-up ends, and multiplies the optimizer's rate.
    """
    if warmup < 1:
        raise CourseError(
            f"The rate cannot be an inverse square root with warmup={warmup}.",
            "Give at least 1; the Transformer has 4,000.",
        )
    scale = warmup**0.5 if width is None else width**-0.5

    def curve(step: int) -> float:
        count = step + 1  # the paper counts steps from 1
        return scale * min(count**-0.5, count * warmup**-1.5)

    return curve


def slanted_triangular(steps: int, cut_fraction: float = 0.1, ratio: float = 32) -> Curve:
    """Up fast, and down slowly (Howard and Ruder 2018, "ULMFiT", section 3.2, eq. 3).

    Args:
        steps: T.
        cut_fraction: the share of the steps in which the rate rises.
        ratio: how many times the lowest rate fits into the highest.
    """
    cut = math.floor(steps * cut_fraction)
    if cut < 1 or not 0 < cut_fraction < 1 or ratio < 1:
        raise CourseError(
            f"There is no slanted triangle of steps={steps}, cut_fraction={cut_fraction} and "
            f"ratio={ratio}.",
            f"Give a fraction below 1 that has a step at least (of 0.1, {10} steps), and a ratio "
            "of 1 or more.",
        )

    def curve(step: int) -> float:
        p = step / cut if step < cut else 1 - (step - cut) / (cut * (1 / cut_fraction - 1))
        return (1 + max(0.0, p) * (ratio - 1)) / ratio  # not below, where T · fraction is broken

    return curve


def without_decay(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that weight decay leaves alone: biases, and those of LayerNorm.

    It is what BERT's published code leaves out, by their names. They are a thousandth of all, and
    say where a layer's numbers lie, not how strongly it reacts.
    """
    norms = [part for part in model.modules() if isinstance(part, nn.LayerNorm)]
    of_norms = {id(parameter) for norm in norms for parameter in norm.parameters()}
    return [p for p in model.parameters() if p.ndim < 2 or id(p) in of_norms]


def parameter_groups(model: nn.Module, weight_decay: float = 0.01) -> list[dict[str, Any]]:
    """What an optimizer is given: the parameters with weight decay, and those without.

    Parameters that are frozen (``requires_grad`` is False) are in neither.
    """
    spared = {id(parameter) for parameter in without_decay(model)}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [p for p in trained if id(p) not in spared], "weight_decay": weight_decay},
        {"params": [p for p in trained if id(p) in spared], "weight_decay": 0.0},
    ]


def adamw(
    model: nn.Module, learning_rate: float = 1e-4, weight_decay: float = 0.01
) -> torch.optim.AdamW:
    """The optimizer that BERT was trained with (Devlin et al. 2019, appendix A.2).

    Adam with β = (0.9, 0.999), and weight decay beside it, not in its gradient (Loshchilov and
    Hutter 2019). (The published code's ε is 10⁻⁶, and it does not correct the averages for their
    start at 0; PyTorch's AdamW does, which matters in the first steps alone.)
    """
    groups = parameter_groups(model, weight_decay)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.999), eps=1e-6)


def _risen(step: int, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


def _past(step: int, warmup: int, steps: int) -> float:
    """The share of the steps behind the warm-up that are past, from 0 to 1."""
    return min(1.0, max(0.0, (step - warmup) / (steps - warmup)))


def _check(warmup: int, steps: int | None = None) -> None:
    if warmup < 0 or (steps is not None and steps <= warmup):
        raise CourseError(
            f"warmup={warmup} and steps={steps} make no curve.",
            "Give a warm-up from 0 on, and more steps than it has.",
        )
