"""Activations, by their names in the `transformers` library."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "tanh": torch.tanh,
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
}
"""``gelu_new`` is GPT's approximation of GELU by tanh."""


def activation_of(name: str) -> Callable[[Tensor], Tensor]:
    """Return the activation of this name."""
    if name not in ACTIVATIONS:
        raise CourseError(
            f"The activation {name!r} is not known.", f"Choose one of {', '.join(ACTIVATIONS)}."
        )
    return ACTIVATIONS[name]
