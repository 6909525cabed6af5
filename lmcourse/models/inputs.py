"""Checks of model inputs, with errors that name the input and the remedy.

Without them, an id beyond the vocabulary or a mask of another shape would raise an index error deep
inside a layer, end the process on a GPU, or silently give a wrong result.
"""

from typing import Any

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from lmcourse.errors import CourseError

IGNORED = -100
"""The label of a position that is not predicted, as in PyTorch's cross-entropy."""

_PASSED: set[tuple[object, ...]] = set()
"""What was checked on a GPU, by the kind of the check, its arguments, and the device."""


def check_tensor(value: Any, name: str) -> None:
    """Check that an input is a tensor."""
    if not isinstance(value, Tensor):
        raise CourseError(
            f"{name} is of the class {type(value).__name__}.",
            "Give a tensor: torch.tensor(…) converts lists of the same length.",
        )


def check_ids(
    input_ids: Tensor,
    vocab_size: int,
    positions: int | None = None,
    name: str = "input_ids",
    allowed: int | None = None,
) -> None:
    """Check that ids are a batch of sequences of the vocabulary's ids, and not too long.

    Args:
        input_ids: (batch, time).
        vocab_size: number of ids.
        positions: maximal length of a sequence, if it is limited.
        name: the argument's name, for the error.
        allowed: another value that may occur (``IGNORED`` in labels).
    """
    check_tensor(input_ids, name)
    if input_ids.ndim != 2 or input_ids.numel() == 0:
        raise CourseError(
            f"{name} has shape {tuple(input_ids.shape)}.",
            "Give a batch of sequences, (batch, time), with at least one token each.",
        )
    if positions is not None and input_ids.shape[1] > positions:
        raise CourseError(
            f"{name} has {input_ids.shape[1]} tokens a sequence; this model has {positions} "
            "positions.",
            f"Cut the text into pieces of at most {positions} tokens (a tokenizer's truncation "
            "does it), or build a model with more positions.",
        )
    check_range(input_ids, vocab_size, name, allowed)


def check_range(
    ids: Tensor,
    count: int,
    name: str,
    allowed: int | None = None,
    remedy: str = "encode the text with the tokenizer that the model was built for",
) -> None:
    """Check that ids of any shape are integers from 0 to count − 1, or the allowed value.

    Args:
        name: the argument's name, for the error.
        remedy: the advice about ids out of range.
    """
    if ids.dtype not in (torch.int64, torch.int32):
        raise CourseError(
            f"{name} has the type {ids.dtype}.",
            "Ids are integers: give a tensor of torch.long.",
        )
    check = "range", name, count, allowed, ids.device
    if not _is_read(ids, check):
        return
    if allowed is not None:
        ids = ids[ids != allowed]
        if ids.numel() == 0:
            return
    low, high = torch.stack(torch.aminmax(ids)).tolist()
    if low < 0 or high >= count:
        besides = f", or {allowed}" if allowed is not None else ""
        raise CourseError(
            f"{name} holds the number {low if low < 0 else high}.",
            f"Values must be 0 to {count - 1}{besides}: {remedy}.",
        )
    _PASSED.add(check)


def _is_read(tensor: Tensor, check: tuple[object, ...]) -> bool:
    """Whether a check reads a tensor's values: on the CPU always, on a GPU until it passes once.

    A GPU computes while Python goes on. To read a value is to wait until the GPU has computed all
    that it was given. Training also checks each batch while it is on the CPU
    (`lmcourse.training.objectives`).
    """
    if tensor.is_meta or torch.compiler.is_compiling():
        return False  # there are no values
    return tensor.device.type == "cpu" or check not in _PASSED


def check_like(tensor: Tensor | None, input_ids: Tensor, name: str) -> None:
    """Check that an optional input has the shape of the ids."""
    if tensor is None:
        return
    check_tensor(tensor, name)
    if tensor.shape != input_ids.shape:
        raise CourseError(
            f"{name} has shape {tuple(tensor.shape)}, the ids {tuple(input_ids.shape)}.",
            f"Give one number of {name} for each token.",
        )


def check_mask(mask: Tensor, name: str) -> None:
    """Check that a mask holds ones and zeros, or booleans."""
    check = "mask", name, mask.device
    if mask.dtype == torch.bool or not _is_read(mask, check):
        return
    if bool((mask != mask.bool()).any()):
        raise CourseError(
            f"{name} holds numbers other than 0 and 1.",
            "Give 1 for a token and 0 for padding; a mask that is added to the scores "
            "(0 and -inf) becomes one by mask == 0.",
        )
    _PASSED.add(check)


def visible(
    attention_mask: Tensor | None, batch: int, query: int, key: int, name: str = "attention_mask"
) -> Bool[Tensor, "batch 1 query_or_one key"] | None:
    """Return which keys are visible to which queries, from a model's attention mask.

    Args:
        attention_mask: 1 for a token and 0 for padding, (batch, key), or one such row for each
            query, (batch, query, key).

    Returns:
        True where a query may attend to a key, in all heads. None without a mask, and on the CPU if
        a query may attend everywhere, which lets the fused attention skip the mask.
    """
    if attention_mask is None:
        return None
    check_tensor(attention_mask, name)
    if attention_mask.shape not in ((batch, key), (batch, query, key)):
        raise CourseError(
            f"{name} has shape {tuple(attention_mask.shape)}.",
            f"It must be {(batch, key)}, one number for each token, or {(batch, query, key)}, "
            "one row for each query.",
        )
    check_mask(attention_mask, name)
    mask = attention_mask.bool()
    if mask.device.type == "cpu" and not torch.compiler.is_compiling() and bool(mask.all()):
        return None
    return mask[:, None, None, :] if mask.ndim == 2 else mask[:, None]


def padding_mask(
    attention_mask: Tensor | None, hidden: Shaped[Tensor, "batch time width"]
) -> Bool[Tensor, "batch time"] | None:
    """Return True at tokens and False at padding, or None without a mask.

    Args:
        attention_mask: a model's; with a row for each query, a position is a token if it is visible
            to any of them.
        hidden: hidden states, or any tensor with their first axes.
    """
    if attention_mask is None:
        return None
    batch, time, _ = hidden.shape
    if attention_mask.numel() == batch * time:
        return attention_mask.reshape(batch, time).bool()
    return attention_mask.flatten(0, -3).bool().any(-2)


def shift_right(
    input_ids: Int[Tensor, "batch source"],
    labels: Int[Tensor, "batch target"] | None,
    start: int,
    pad: int,
) -> Int[Tensor, "batch read"]:
    """Return a decoder's inputs: the start token, then all labels but the last.

    Args:
        input_ids: the source, for its batch size and device.
        labels: the target; without one, the decoder reads only the start token.
        start: the start token.
        pad: replaces ``IGNORED`` labels.
    """
    first = input_ids.new_full((len(input_ids), 1), start)
    if labels is None:
        return first
    before = labels[:, :-1]
    return torch.cat([first, before.masked_fill(before == IGNORED, pad)], dim=1)
