"""Inputs of multiple choice models, whose axes batch and choice are flattened into one."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lmcourse.errors import CourseError

AXES = {
    "input_ids": (3,),
    "attention_mask": (3, 4),
    "token_type_ids": (3,),
    "position_ids": (3,),
    "inputs_embeds": (4,),
}
"""Number of axes of each input: (batch, choice, time, …)."""


def check_choices(model_inputs: Mapping[str, Any]) -> tuple[int, ...]:
    """Check that all inputs have the same batch, choices and length; return (batch, choice).

    Flattened, (3, 2, time) and (2, 3, time) would look the same.
    """
    expected: tuple[int, ...] | None = None
    for name in ("input_ids", "inputs_embeds", *AXES):
        value = model_inputs.get(name)
        if not isinstance(value, Tensor):
            continue
        shape = tuple(value.shape)
        if len(shape) not in AXES[name] or (expected is not None and shape[:3] != expected):
            raise CourseError(
                f"{name} of a multiple choice has shape {shape}.",
                f"Give (batch, choice, time){'' if expected is None else f', here {expected}'}; "
                "embeddings, and a mask for each query, have a fourth axis.",
            )
        expected = shape[:3]
    return (1, 1) if expected is None else expected[:2]  # `Bert` reports missing ids
