"""Mixed precision: compute losses in 16 bits where that is safe, keep the parameters in 32.

The two formats of 16 bits divide them differently:

    format     exponent  fraction   smallest normal number   distance from 1 to the next number
    float32    8 bits    23 bits    1.2e-38                  1.2e-7
    bfloat16   8 bits     7 bits    1.2e-38                  7.8e-3
    float16    5 bits    10 bits    6.1e-5                   9.8e-4

bfloat16 has the range of float32 and needs nothing else. In float16, small gradients become 0:
the loss is multiplied by a large number before the backward pass, and the gradient divided by it
after. That number is halved when a gradient overflows, and that step is left out (Micikevicius et
al. 2018, "Mixed precision training", sections 3.1 and 3.2).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError

Precision = Literal["float32", "bfloat16", "float16"]


class Scaled:
    """Loss, gradient and step, scaled where the precision needs it; in float32, untouched.

    Raises:
        CourseError: there is no such precision, or not on the device of the model.
    """

    def __init__(self, model: nn.Module, precision: Precision) -> None:
        parameter = next(model.parameters(), torch.empty(0))
        self.device, self.precision = parameter.device, precision
        _check(parameter, precision)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=precision == "float16")

    def computing(self) -> AbstractContextManager[Any]:
        """The context of a forward pass: each operation in the precision that suits it."""
        if self.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=getattr(torch, self.precision))

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of the scaled loss to what the parameters have."""
        self.scaler.scale(loss).backward()

    def unscale(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradient by the scale, so that it can be measured and clipped."""
        self.scaler.unscale_(optimizer)

    @property
    def may_overflow(self) -> bool:
        """Whether a gradient that is not finite may be the scale's doing."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Take the optimizer's step, unless a gradient overflowed; say whether it was taken."""
        before = self.scaler.get_scale()
        self.scaler.step(optimizer)
        self.scaler.update()
        return self.scaler.get_scale() >= before

    def state_dict(self) -> dict[str, Any]:
        """The scale, and for how long it has been right."""
        return self.scaler.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take on what `state_dict` gave."""
        if state:  # else it comes from a precision that needs no scale
            self.scaler.load_state_dict(state)


def is_divided(tensor: object) -> bool:
    """Whether processes have a part of this tensor each (a DTensor, which is slow to import)."""
    return isinstance(tensor, Tensor) and hasattr(tensor, "full_tensor")


def _check(parameter: Tensor, precision: Precision) -> None:
    if precision not in get_args(Precision):
        raise CourseError(
            f"There is no precision {precision!r}.",
            f"Give one of {', '.join(get_args(Precision))}.",
        )
    device = parameter.device.type
    if precision == "float16" and device == "cpu":
        raise CourseError(
            "The model is on the CPU, which computes in float16 no faster than in float32, and "
            "float16 has too small a range to be worth that.",
            'Give precision="bfloat16", which works on a CPU too, or "float32"; or put the model '
            "on a GPU.",
        )
    if precision == "float16" and is_divided(parameter):
        raise CourseError(
            "The parameters are divided among processes: each would see the overflow of its own "
            "part alone, and leave out a step that the others take.",
            'Give precision="bfloat16", which needs no scale.',
        )
    if precision == "bfloat16" and device == "cuda" and not torch.cuda.is_bf16_supported():
        raise CourseError(
            f"{torch.cuda.get_device_name(parameter.device)} has no bfloat16.",
            'Give precision="float16".',
        )
