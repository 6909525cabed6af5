"""Checks of an encoder–decoder's inputs (chapters 08 and 09).

The output of the model's `encode` can be reused, so that decoding token by token encodes the source
once. All inputs must have the same batch size: one sequence's states would otherwise be broadcast
silently.
"""

from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED, check_ids, check_like, shift_right


@runtime_checkable
class Settings(Protocol):
    """The settings that are needed here."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def decoder_start_token_id(self) -> int: ...
    @property
    def pad_token_id(self) -> int: ...


def check_source(
    input_ids: Any,
    attention_mask: Tensor | None,
    vocab_size: int,
    positions: int | None = None,
) -> Int[Tensor, "batch source"]:
    """Check the source and its mask, and return the source."""
    check_ids(input_ids, vocab_size, positions)
    check_like(attention_mask, input_ids, "attention_mask")
    return input_ids


def decoder_inputs(
    config: Settings,
    states: Float[Tensor, "batch source width"],
    decoder_input_ids: Tensor | None,
    labels: Tensor | None,
    positions: int | None = None,
) -> Int[Tensor, "batch target"]:
    """Return the decoder's input tokens: by default the labels, shifted right.

    Args:
        states: the encoder's states.
        positions: maximal length of a target, if it is limited.
    """
    if labels is not None:
        check_ids(labels, config.vocab_size, name="labels", allowed=IGNORED)
        _check_batch(labels, states, "labels")
    if decoder_input_ids is None:
        source = torch.zeros(len(states), 1, dtype=torch.long, device=states.device)
        decoder_input_ids = shift_right(
            source, labels, config.decoder_start_token_id, config.pad_token_id
        )
    check_ids(decoder_input_ids, config.vocab_size, positions, "decoder_input_ids")
    _check_batch(decoder_input_ids, states, "decoder_input_ids")
    check_like(labels, decoder_input_ids, "labels")
    return decoder_input_ids


def _check_batch(target: Tensor, states: Tensor, name: str) -> None:
    if len(target) != len(states):
        raise CourseError(
            f"{name} has shape {tuple(target.shape)}, a batch of {len(target)}; the source is a "
            f"batch of {len(states)}.",
            "Give one target for each source; repeat the source's states for several targets.",
        )
