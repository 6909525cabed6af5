"""What the inputs of a multiple choice look like: (batch, choice, time), and perhaps more.

A model reads each choice by itself: batch and choices are flattened into one axis before it.
"""

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
"""How many axes the inputs of a multiple choice have: (batch, choice, time), and perhaps more."""


def check_choices(given: Mapping[str, Any]) -> tuple[int, ...]:
    """See that the inputs of a multiple choice have the same batch, choices and places.

    Flattened together with others, (3, 2, time) would pass for (2, 3, time).

    Returns:
        (batch, choice).

    Raises:
        CourseError: they have not.
    """
    places: tuple[int, ...] | None = None
    for name in ("input_ids", "inputs_embeds", *AXES):
        value = given.get(name)
        if not isinstance(value, Tensor):
            continue
        shape = tuple(value.shape)
        if len(shape) not in AXES[name] or (places is not None and shape[:3] != places):
            raise CourseError(
                f"{name} of a multiple choice has shape {shape}.",
                f"Give (batch, choice, time){'' if places is None else f', here {places}'}; "
                "embeddings, and a mask for each query, have a fourth axis.",
            )
        places = shape[:3]
    return (1, 1) if places is None else places[:2]  # without ids, `Bert` says what is missing
