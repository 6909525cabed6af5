"""Affine quantization: real numbers as 8-bit integers, in plain operations (chapter 18).

Eight bits hold 256 integers q. A scale s and a zero point z map them to real numbers (Jacob et al.
2018, "Quantization and training of neural networks", eq. 1 and 12):

    q = clip(⌊x / s⌉ + z)        x̂ = s (q − z)

Rounding is to nearest, half to even, so |x − x̂| ≤ s/2 unless x is clipped. Padding and ReLU produce
many zeros, which must be exact: hence z is an integer.

A linear layer is then an integer product with one real-valued multiplication at the end:

    y = x̂ ŵᵀ + b = s_x s_w (q_x − z_x) q_wᵀ + b

These functions are slow and meant to be read. `lmcourse.compression.dynamic_quantization` uses
PyTorch's kernels, which compute the same numbers.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

INT8 = (-128, 127)
UINT8 = (0, 255)
UINT7 = (0, 127)
"""The range of activations where a processor sums 8-bit products in 16 bits, which may overflow."""


@dataclass(frozen=True)
class AffineQuantizer:
    """An affine map for a whole tensor, or one per row of a matrix.

    Attributes:
        scale: the step s between neighboring values; a scalar, or one per row.
        zero_point: the integer z that represents 0; of the same shape.
        range: the smallest and the largest integer.
    """

    scale: Float[Tensor, "*row"]
    zero_point: Float[Tensor, "*row"]
    range: tuple[int, int]

    def quantize(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the integers q = clip(⌊x/s⌉ + z), as floating-point numbers."""
        return self._unclipped(x).clamp(*self.range)

    def dequantize(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the real numbers x̂ = s (q − z)."""
        scale, zero_point = self._broadcast()
        return scale * (q - zero_point)

    def fake_quantize(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Quantize and dequantize, with a gradient for training.

        The derivative of rounding is zero almost everywhere. The straight-through estimator (Bengio
        et al. 2013) replaces it by 1 where x is in range, and by 0 where x is clipped.
        """
        return _StraightThrough.apply(x, self)

    def _unclipped(self, x: Tensor) -> Tensor:
        scale, zero_point = self._broadcast()
        return torch.round(x * (1 / scale)) + zero_point

    def _broadcast(self) -> tuple[Tensor, Tensor]:
        if self.scale.ndim == 0:
            return self.scale, self.zero_point
        return self.scale[:, None], self.zero_point[:, None]


def affine_quantizer(x: Tensor, range: tuple[int, int] = UINT7) -> AffineQuantizer:
    """Return the quantizer whose range covers x and 0.

    It suits activations, whose ranges are rarely symmetric: GELU's starts at −0.17.
    """
    low, high = x.min().clamp(max=0).double(), x.max().clamp(min=0).double()
    smallest, largest = range
    scale = (high - low) / (largest - smallest)
    scale = scale if scale > 0 else torch.full_like(scale, 0.1)
    zero_point = torch.round(smallest - low / scale).clamp(smallest, largest)
    return AffineQuantizer(scale.float(), zero_point.float(), range)


def symmetric_quantizer(
    x: Tensor, range: tuple[int, int] = INT8, *, per_channel: bool = True
) -> AffineQuantizer:
    """Return the quantizer with zero point 0 whose range covers ±max |x|.

    It suits weights. With one scale per row (``per_channel=True``, for matrices), rows of small
    weights keep their precision next to rows of large ones.
    """
    largest_magnitude = x.abs().amax(1) if per_channel else x.abs().max()
    steps = (range[1] - range[0]) / 2
    scale = (largest_magnitude / steps).clamp(min=torch.finfo(torch.float32).eps)
    return AffineQuantizer(scale, torch.zeros_like(scale), range)


def dynamic_linear(
    x: Float[Tensor, "*batch inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, " outputs"] | None = None,
    *,
    range: tuple[int, int] = UINT7,
    per_channel: bool = True,
) -> Float[Tensor, "*batch outputs"]:
    """Compute a linear layer in integers; the range of the inputs is measured in this call.

    Args:
        range: the smallest and the largest integer for the inputs.
        per_channel: whether each row of the weight has its own scale.
    """
    inputs = affine_quantizer(x, range)
    weights = symmetric_quantizer(weight, per_channel=per_channel)
    product = (inputs.quantize(x) - inputs.zero_point) @ weights.quantize(weight).T
    y = product * (inputs.scale * weights.scale)
    return y if bias is None else y + bias


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, quantizer: AffineQuantizer) -> Tensor:
        unclipped, (low, high) = quantizer._unclipped(x), quantizer.range
        ctx.save_for_backward((unclipped >= low) & (unclipped <= high))
        return quantizer.dequantize(quantizer.quantize(x))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (in_range,) = ctx.saved_tensors
        return gradients[0] * in_range, None
