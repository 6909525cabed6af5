"""Mixed precision: compute losses in 16 bits where that is safe, keep the parameters in 32.

The two formats of 16 bits divide them differently:

    format     exponent  fraction   smallest normal number   distance from 1 to the next number
    float32    8 bits    23 bits    1.2e-38                  1.2e-7
    bfloat16   8 bits     7 bits    1.2e-38                  7.8e-3
    float16    5 bits    10 bits    6.1e-5                   9.8e-4

bfloat16 has the range of float32 and needs nothing else. In float16, small gradients underflow: the
loss is multiplied by a large scale before the backward pass, and the gradient divided by it after.
The scale is halved when a gradient overflows, and that step is skipped (Micikevicius et al. 2018,
"Mixed precision training", sections 3.1 and 3.2).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.training.distributed import is_sharded

Precision = Literal["float32", "bfloat16", "float16"]


class Scaled:
    """Loss, gradient and step, scaled in float16."""

    def __init__(self, model: nn.Module, precision: Precision) -> None:
        parameter = next(model.parameters(), torch.empty(0))
        self.device, self.precision = parameter.device, precision
        if precision == "float16" and is_sharded(parameter):
            raise CourseError(
                "The parameters are sharded: each process would notice the overflow of its own "
                "shard alone, and skip a step that the others take.",
                'Choose precision="bfloat16", which needs no scale.',
            )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=precision == "float16")

    def computing(self) -> AbstractContextManager[Any]:
        """The context of a forward pass: each operation runs in a suitable precision."""
        if self.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=getattr(torch, self.precision))

    def backward(self, loss: Tensor) -> None:
        """Accumulate the gradient of the scaled loss."""
        self.scaler.scale(loss).backward()

    def unscale(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradient by the scale, so that it can be measured and clipped."""
        self.scaler.unscale_(optimizer)

    @property
    def may_overflow(self) -> bool:
        """Whether the scale may be the cause of a gradient that is not finite."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Take the optimizer's step, unless a gradient overflowed; return whether it was taken."""
        before = self.scaler.get_scale()
        self.scaler.step(optimizer)
        self.scaler.update()
        return self.scaler.get_scale() >= before

    def state_dict(self) -> dict[str, Any]:
        """The scale, and the number of steps since it last changed."""
        return self.scaler.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        if state:  # empty in a precision without a scale
            self.scaler.load_state_dict(state)
