"""The affine map of quantization: a real number as a small whole one (chapter 18).

Eight bits hold 256 whole numbers q. A scale s and a zero point z say which real numbers they stand
for (Jacob et al. 2018, "Quantization and training of neural networks", eq. 1 and 12):

    q = clip(⌊x / s⌉ + z)        x̂ = s (q − z)

Rounding is to the nearest (half to even), so |x − x̂| ≤ s/2 wherever nothing is clipped. Zero must
be met exactly, as padding and ReLU make many of it: so z is a whole number.

A layer's product is then one of whole numbers, with one multiplication by real ones at the end:

    y = x̂ ŵᵀ + b = s_x s_w (q_x − z_x) q_wᵀ + b

These are the equations in plain operations, slow and meant to be read.
`lmcourse.compression.dynamic_quantization` uses PyTorch's kernels, which give the same numbers.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from lmcourse.errors import CourseError

INT8 = (-128, 127)
UINT8 = (0, 255)
UINT7 = (0, 127)
"""What activations take where the processor adds products of 8 bits in 16, which overflow."""


@dataclass(frozen=True)
class Affine:
    """One map for a whole tensor, or one for each row of a matrix.

    Attributes:
        scale: the step s between two numbers that there are; one, or one a row.
        zero_point: the whole number z that stands for 0.
        range: the smallest and the largest whole number.
    """

    scale: Float[Tensor, "*row"]
    zero_point: Float[Tensor, "*row"]
    range: tuple[int, int]

    def quantize(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The whole numbers q = clip(⌊x/s⌉ + z)."""
        scale, zero_point = self._beside(x)
        return (torch.round(x * (1 / scale)) + zero_point).clamp(*self.range)

    def dequantize(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What they stand for: x̂ = s (q − z)."""
        scale, zero_point = self._beside(q)
        return scale * (q - zero_point)

    def fake_quantize(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What x becomes by going there and back, with a gradient to train on.

        A step function's gradient is zero almost everywhere, and nothing would learn. The
        straight-through estimator (Bengio et al. 2013) takes 1 instead wherever x is in range, and
        0 where it was clipped.
        """
        return _StraightThrough.apply(x, self)

    def _beside(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.scale.ndim == 0:
            return self.scale, self.zero_point
        return self.scale[:, None], self.zero_point[:, None]


def affine_map(x: Tensor, range: tuple[int, int] = UINT7) -> Affine:
    """The map whose whole numbers reach from the least to the greatest number of x, and to 0.

    The activations' map: their two sides are seldom alike (GELU's are −0.17 and more).

    Raises:
        CourseError: x holds nothing, or no finite numbers.
    """
    _check(x)
    low, high = x.min().clamp(max=0).double(), x.max().clamp(min=0).double()
    smallest, largest = range
    scale = (high - low) / (largest - smallest)
    scale = scale if scale > 0 else torch.full_like(scale, 0.1)
    zero_point = torch.round(smallest - low / scale).clamp(smallest, largest)
    return Affine(scale.float(), zero_point.float(), range)


def symmetric_map(x: Tensor, range: tuple[int, int] = INT8, *, rows: bool = True) -> Affine:
    """The map with zero point 0 whose whole numbers reach to the greatest magnitude in x.

    The weights' map. With one scale a row (``rows=True``, "per channel"), a row of small weights
    keeps its precision beside one of large weights, and the sum over a row still has one factor.

    Raises:
        CourseError: x holds nothing, or no finite numbers; it has no rows.
    """
    _check(x)
    if rows and x.ndim != 2:
        raise CourseError(
            f"A tensor of shape {tuple(x.shape)} has no rows.", "Give a matrix, or rows=False."
        )
    greatest = x.abs().amax(1) if rows else x.abs().max()
    smallest, largest = range
    scale = (greatest / ((largest - smallest) / 2)).clamp(min=torch.finfo(torch.float32).eps)
    return Affine(scale, torch.zeros_like(scale), range)


def dynamic_linear(
    x: Float[Tensor, "*places inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, " outputs"] | None = None,
    *,
    range: tuple[int, int] = UINT7,
    rows: bool = True,
) -> Float[Tensor, "*places outputs"]:
    """A linear layer in whole numbers; the inputs' map is made of the inputs themselves.

    Args:
        range: of the inputs' whole numbers.
        rows: whether each row of the weights has a scale of its own.
    """
    inputs, weights = affine_map(x, range), symmetric_map(weight, rows=rows)
    whole = (inputs.quantize(x) - inputs.zero_point) @ weights.quantize(weight).T
    y = whole * (inputs.scale * weights.scale)
    return y if bias is None else y + bias


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, affine: Affine) -> Tensor:
        q = affine.quantize(x)
        scale, zero_point = affine._beside(x)
        free = torch.round(x * (1 / scale)) + zero_point
        ctx.save_for_backward((free >= affine.range[0]) & (free <= affine.range[1]))
        return affine.dequantize(q)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (inside,) = ctx.saved_tensors
        return gradients[0] * inside, None


def _check(x: Tensor) -> None:
    if not x.numel() or not x.is_floating_point() or not x.isfinite().all():
        raise CourseError(
            f"A tensor of shape {tuple(x.shape)} and type {x.dtype} has no range: it is empty, or "
            "not all of its numbers are finite.",
            "Give floating-point numbers, none of them NaN or infinite.",
        )
