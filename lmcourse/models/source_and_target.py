"""What an encoder–decoder is given, looked at before it computes (chapters 08 and 09).

The source is read once, by the model's `encode`; what that gave can be handed in again, so that
decoding token by token reads the target alone. All that is given must be of the same batch: one
sequence's states would otherwise be broadcast, without a word, over a batch of two.
"""

from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED, check_ids, check_like, shift_right
from lmcourse.models.outputs import ModelOutput


@runtime_checkable
class Settings(Protocol):
    """What of a configuration is needed here."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def decoder_start_token_id(self) -> int: ...
    @property
    def pad_token_id(self) -> int: ...


def check_source(
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    vocab_size: int,
    positions: int | None = None,
) -> Int[Tensor, "batch source"]:
    """The source, of which `encode` makes states.

    Raises:
        CourseError: it is not given, or the mask does not fit.
    """
    if input_ids is None:
        raise CourseError(
            "There is no source.",
            "Give input_ids, or as encoder_outputs what an earlier call of encode gave.",
        )
    check_ids(input_ids, vocab_size, positions)
    check_like(attention_mask, input_ids, "attention_mask")
    return input_ids


def check_encoded(
    encoder_outputs: Any,
    kind: type[ModelOutput],
    width: int,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
) -> None:
    """See that states that are handed in are such as `encode` gives, of this source.

    Args:
        kind: the class of what the model's `encode` gives.
        width: of its states.
        input_ids: the source, if it is given besides; nothing else of it is needed.

    Raises:
        CourseError: they are not.
    """
    if not isinstance(encoder_outputs, kind):
        raise CourseError(
            f"encoder_outputs is a {type(encoder_outputs).__name__}.",
            f"Give what this model's encode returned, a {kind.__name__}.",
        )
    states = encoder_outputs["last_hidden_state"]
    if states.ndim != 3 or states.shape[2] != width:
        raise CourseError(
            f"last_hidden_state of encoder_outputs has shape {tuple(states.shape)}.",
            f"Give what this model's encode returned, (batch, source, {width}).",
        )
    for name, tensor in (("input_ids", input_ids), ("attention_mask", attention_mask)):
        if tensor is not None and tensor.shape != states.shape[:2]:
            raise CourseError(
                f"{name} has shape {tuple(tensor.shape)}, encoder_outputs is of "
                f"{tuple(states.shape[:2])}.",
                "Give the states of the same source: (batch, source) in both.",
            )


def what_is_read(
    config: Settings,
    states: Float[Tensor, "batch source width"],
    decoder_input_ids: Tensor | None,
    labels: Tensor | None,
    positions: int | None = None,
) -> Int[Tensor, "batch target"]:
    """The tokens that the decoder reads: if they are not given, the labels one place to the right.

    Args:
        states: of the encoder.
        positions: the longest target that the model takes, if it is limited.

    Raises:
        CourseError: they are not of the states' batch, or the labels do not fit them.
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
            "Give one target for each source, and repeat the source's states for several "
            "targets of one source.",
        )
