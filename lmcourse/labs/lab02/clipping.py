"""02.5 Clipping by the global norm (Pascanu et al. 2013)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# Each tensor's shape and scale. The largest norm is neither the first nor the last.
_TENSORS = (((4,), 1.0), ((3, 2, 2), 3.0), ((2, 3), 2.0))
_TOLERANCE = 1e-4  # so that an ε in the denominator, as PyTorch has one, is right too


def judge(answer: Answer) -> str:
    for seed, max_norm in enumerate((1.5, 0.3)):  # above it: to be scaled down
        _compare(answer, _gradients(seed, scale=2.0), max_norm)
    mixed = _gradients(seed=3, scale=2.0)  # the norm of all is above it, not that of each
    for max_norm in (mixed[1].norm().item() * 0.9, _norm(mixed).item() * 0.98):
        _compare(answer, mixed, max_norm)
    small = _gradients(seed=2, scale=0.05)
    _compare(answer, small, max_norm=3.0)  # below it: to be left alone
    zeros = [torch.zeros_like(each) for each in small]
    try:
        _read(answer, zeros, 1.0)
    except Wrong as wrong:
        if "NaN" in str(wrong):
            what = "it gives NaN (0/0)"
        elif "ZeroDivisionError" in str(wrong):
            what = "it divides by their norm"
        else:
            raise
        raise Wrong(
            f"Right, but for gradients that are all zero, and must stay zero, {what}: scale only "
            "when the norm is above `max_norm`, or add a tiny number to the denominator."
        ) from None
    return (
        "The direction is kept and only the length changes: that is what entry-by-entry clipping "
        "gives up."
    )


def _compare(answer: Answer, gradients: list[Tensor], max_norm: float) -> None:
    value, wanted = _read(answer, gradients, max_norm), _flat(_right(gradients, max_norm))
    if same(value, wanted, _TOLERANCE):
        return
    explain(value, MISTAKES, gradients, max_norm, tolerance=_TOLERANCE)
    norm, asked = value.norm().item(), wanted.norm().item()
    if same(norm, asked, _TOLERANCE):
        raise Wrong(
            "The norm is right, but the direction is not: all entries take one common factor."
        )
    raise Wrong(
        f"The clipped gradients together have norm {norm:.4g}; with `max_norm` = {max_norm:g} and "
        f"a norm of {_norm(gradients).item():.4g} before, it should be {asked:.4g}."
    )


def _read(answer: Answer, gradients: list[Tensor], max_norm: float) -> Tensor:
    """The answer's tensors, checked for their shapes, as one vector."""
    value = answer(gradients, max_norm)
    if isinstance(value, Tensor) and value.ndim == 0:
        raise Wrong(
            "Your function returns one number: return the clipped gradients, a list of tensors."
        )
    if not isinstance(value, (list, tuple)):
        raise Wrong(
            f"Your function returns one `{type(value).__name__}`: return a list of tensors, one "
            "for each gradient, in its shape."
        )
    if len(value) != len(gradients):
        raise Wrong(
            f"What you return holds {len(value)} thing{'s'[: len(value) != 1]}, and "
            f"{len(gradients)} gradients came in: return a list with one tensor for each, and "
            "nothing else. If some are missing: does the function return inside the loop?"
        )
    read = []
    for place, each, gradient in zip(("first", "second", "third"), value, gradients, strict=True):
        if isinstance(each, Tensor) and each.shape != gradient.shape:
            raise Wrong(
                f"The {place} tensor of your list has shape {list(each.shape)}; the {place} "
                f"gradient has {list(gradient.shape)}. Keep their shapes and their order."
            )
        read.append(tensor(each, gradient.shape))
    return _flat(read)


def _gradients(seed: int, scale: float) -> list[Tensor]:
    """Three tensors of different length, so that clipping each by itself shows."""
    generator = torch.Generator().manual_seed(seed)
    return [scale * own * torch.randn(shape, generator=generator) for shape, own in _TENSORS]


def _flat(tensors: list[Tensor]) -> Tensor:
    return torch.cat([each.double().flatten() for each in tensors])


def _norm(gradients: list[Tensor]) -> Tensor:
    return _flat(gradients).norm()


def _scaled(gradients: list[Tensor], factor: Tensor | float) -> list[Tensor]:
    return [each.double() * factor for each in gradients]


def _right(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    return _scaled(gradients, (max_norm / _norm(gradients)).clamp(max=1.0))


def _by(measure: Callable[[list[Tensor]], Any]) -> Callable[[list[Tensor], float], list[Tensor]]:
    """Clipping as it should be, but by another measure of length."""
    return lambda g, limit: _scaled(g, min(1.0, limit / float(measure(g))))


# Each takes (gradients, max_norm).
_LISTS = (
    Mistake(
        "Whether to clip is decided by the largest tensor's norm: the norm over all tensors "
        "together decides.",
        lambda g, limit: g if max(each.norm() for each in g) <= limit else _right(g, limit),
    ),
    Mistake(
        "The factor is right, but a tensor whose own norm is below `max_norm` is left as it was: "
        "the norm over all tensors decides for all of them.",
        lambda g, limit: [
            each if each.norm() <= limit else scaled
            for each, scaled in zip(g, _right(g, limit), strict=True)
        ],
    ),
    Mistake(
        "Nothing is clipped: the norm over all tensors together is above `max_norm`.",
        lambda g, limit: g,
    ),
    Mistake(
        "Each tensor is clipped by its own norm: that turns the direction. One norm is taken "
        "over all the tensors together, and one factor scales them all.",
        lambda g, limit: [each * min(1.0, limit / float(each.norm())) for each in g],
    ),
    Mistake(
        "Each entry is clipped to ±`max_norm`: that turns the direction. Scale all entries by "
        "one factor.",
        lambda g, limit: [each.clamp(-limit, limit) for each in g],
    ),
    Mistake(
        "Small gradients are scaled up: a norm below `max_norm` is left as it is. The factor is "
        "at most 1.",
        lambda g, limit: _scaled(g, limit / _norm(g)),
    ),
    Mistake(
        "The gradients are scaled down to norm 1: the norm asked for is `max_norm`.",
        lambda g, limit: _scaled(g, 1 / _norm(g)),
    ),
    Mistake(
        "The norm lacks its square root: the factor is `max_norm` over the root of the sum of "
        "squares.",
        _by(lambda g: _norm(g) ** 2),
    ),
    Mistake(
        "The norms of the tensors are added: norms add as squares. Sum the squares, then take "
        "one root.",
        _by(lambda g: sum(each.norm() for each in g)),
    ),
    Mistake(
        "The largest of the tensors' norms is used: the global norm is over all tensors together.",
        _by(lambda g: max(each.norm() for each in g)),
    ),
    Mistake(
        "Only the last tensor's norm is used: is the total overwritten in the loop (`=`), where "
        "the squares should be added up (`+=`)?",
        _by(lambda g: g[-1].norm()),
    ),
    Mistake(
        "Only the first tensor's norm is used: the global norm is over all tensors together.",
        _by(lambda g: g[0].norm()),
    ),
    Mistake(
        "The largest entry is used as the norm: the norm is the root of the sum of all squares.",
        _by(lambda g: _flat(g).abs().max()),
    ),
    Mistake(
        "The norm is the sum of absolute values: it should be the root of the sum of squares.",
        _by(lambda g: _flat(g).abs().sum()),
    ),
    Mistake(
        "The mean of the squares is taken where the sum should be: the norm grows with the "
        "number of entries.",
        _by(lambda g: _flat(g).square().mean().sqrt()),
    ),
    Mistake(
        "All entries are multiplied by `max_norm`: the factor is `max_norm` divided by the norm.",
        lambda g, limit: _scaled(g, limit),
    ),
    Mistake(
        "A large gradient is set to zero: keep its direction, and shorten it to `max_norm`.",
        lambda g, limit: _scaled(g, 0.0),
    ),
)

# The answer's list is compared as one vector, and so are the mistakes'.
MISTAKES = tuple(
    Mistake(each.hint, lambda g, limit, compute=each.compute: _flat(compute(g, limit)))
    for each in _LISTS
)
