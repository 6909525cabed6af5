"""What a model is given, looked at before it computes: the error names the input and the remedy.

A number that does not fit (an id beyond the vocabulary, a mask of another shape) would otherwise
end in an index error deep inside a layer, on a GPU in the loss of the whole process, or, worst, in
a result that is silently wrong.
"""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, get_args, get_type_hints

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lmcourse.errors import CourseError

N = TypeVar("N", int, float)
IGNORED = -100
"""The label of a place that is not to be predicted, as PyTorch's cross-entropy has it."""


def check_tensor(value: Any, name: str) -> None:
    """See that an input is a tensor.

    Raises:
        CourseError: it is a list, an array or something else.
    """
    if not isinstance(value, Tensor):
        raise CourseError(
            f"{name} is of the class {type(value).__name__}.",
            "Give a tensor: torch.tensor(…) makes one of lists of the same length.",
        )


def check_ids(
    input_ids: Tensor,
    vocab_size: int,
    positions: int | None = None,
    name: str = "input_ids",
    allowed: int | None = None,
) -> None:
    """See that ids are a batch of sequences of the vocabulary's ids, and not too long.

    Args:
        input_ids: (batch, time).
        vocab_size: how many ids there are.
        positions: the longest sequence that the model has positions for, if it is limited.
        name: what the caller calls them.
        allowed: one value besides the ids that may stand in them (``IGNORED``, in labels).

    Raises:
        CourseError: they are not.
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
    """See that all ids lie in 0 … count-1, or are the one other value that is allowed.

    Args:
        ids: of any shape.
        count: how many there are.
        name: what the caller calls them.
        allowed: one value besides them.
        remedy: what to do about others, where they are no tokens.

    Raises:
        CourseError: one does not, or they are no ids by their type.
    """
    if ids.dtype not in (torch.int64, torch.int32):
        raise CourseError(
            f"{name} has the type {ids.dtype}.",
            "Ids are whole numbers: give a tensor of torch.long.",
        )
    if ids.is_meta or torch.compiler.is_compiling():
        return  # there are no numbers to look at
    if allowed is not None:
        ids = ids[ids != allowed]
        if ids.numel() == 0:
            return
    low, high = (int(bound) for bound in torch.aminmax(ids))
    if low < 0 or high >= count:
        besides = f", besides {allowed}" if allowed is not None else ""
        raise CourseError(
            f"{name} holds the number {low if low < 0 else high}.",
            f"This model knows 0 to {count - 1} there{besides}: {remedy}.",
        )


def check_like(tensor: Tensor | None, input_ids: Tensor, name: str) -> None:
    """See that what comes beside the ids has their shape, if it is given at all.

    Raises:
        CourseError: it has another.
    """
    if tensor is None:
        return
    check_tensor(tensor, name)
    if tensor.shape != input_ids.shape:
        raise CourseError(
            f"{name} has shape {tuple(tensor.shape)}, the ids {tuple(input_ids.shape)}.",
            f"Give one number of {name} for each token.",
        )


def check_mask(mask: Tensor, name: str) -> None:
    """See that a mask holds ones and zeros, or truth values.

    Raises:
        CourseError: it holds other numbers.
    """
    if mask.is_meta or torch.compiler.is_compiling() or mask.dtype == torch.bool:
        return
    if bool((mask != mask.bool()).any()):
        raise CourseError(
            f"{name} holds numbers other than 0 and 1.",
            "Give 1 for a token and 0 for padding; a mask that is added to the scores "
            "(0 and -inf) becomes one by mask == 0.",
        )


def visible(
    attention_mask: Tensor | None, batch: int, query: int, key: int, name: str = "attention_mask"
) -> Bool[Tensor, "batch 1 query_or_one key"] | None:
    """Which keys may be attended to, from the mask as models are given it.

    Args:
        attention_mask: 1 where there is a token and 0 where there is padding, (batch, key); or one
            such row for each query, (batch, query, key).

    Returns:
        True where a query may look, for all heads alike; None if it may look everywhere (then the
        fused attention is spared the mask).

    Raises:
        CourseError: the mask has another shape or other values.
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
    seen = attention_mask.bool()
    if not (seen.is_meta or torch.compiler.is_compiling()) and bool(seen.all()):
        return None
    return seen[:, None, None, :] if seen.ndim == 2 else seen[:, None]


def real_places(
    attention_mask: Tensor | None, hidden: Float[Tensor, "batch time width"]
) -> Bool[Tensor, "batch time"] | None:
    """True at the places that are no padding; None if none is.

    Args:
        attention_mask: as the models are given it. Where it has a row for each query, a place is
            real that any of them may look at.
        hidden: hidden states, of a multiple choice (batch · choice, time, width).
    """
    if attention_mask is None:
        return None
    batch, time, _ = hidden.shape
    if attention_mask.numel() == batch * time:
        return attention_mask.reshape(batch, time).bool()
    return attention_mask.flatten(0, -3).bool().any(-2)


def check_settings(
    config: object,
    sizes: tuple[str, ...],
    probabilities: tuple[str, ...] = (),
    positive: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
) -> None:
    """See that a configuration's numbers are possible; they become Python's own.

    (A NumPy integer, such as ``ids.max() + 1``, would build a model that cannot be saved.)

    Args:
        sizes, probabilities, positive, ids: names of its attributes: whole numbers of at least 1,
            numbers of at least 0 and below 1, numbers above 0, ids of its ``vocab_size``. None
            stands where the attribute's annotation allows it.

    Raises:
        CourseError: one is not.
    """
    owner, hints = type(config).__name__, get_type_hints(type(config))

    def settle(name: str, number: Callable[[Any, str, str], float]) -> None:
        value = getattr(config, name)
        if value is not None or type(None) not in get_args(hints[name]):
            settled = number(value, name, owner)
            object.__setattr__(config, name, settled)  # configurations are frozen

    for name in sizes:
        settle(name, whole_number)
    for name in probabilities:
        settle(name, probability)
    for name in positive:
        settle(name, positive_number)
    for name in ids:
        last = config.vocab_size - 1  # type: ignore[attr-defined]
        wanted = f"an id of the vocabulary, 0 to {last}"
        settle(name, partial(_number, kind=operator.index, bounds=(0, last), wanted=wanted))


def whole_number(value: Any, name: str, owner: str, least: int = 1) -> int:
    """The value of one setting, as an ``int`` of at least ``least``.

    Args:
        name: what the setting is called.
        owner: what it is a setting of: a layer, a configuration.

    Raises:
        CourseError: it is none.
    """
    wanted = f"a whole number of at least {least}"
    return _number(value, name, owner, operator.index, (least, math.inf), wanted)


def probability(value: Any, name: str, owner: str) -> float:
    """The same, as a ``float`` of at least 0 and below 1: with 1, nothing would be left."""
    below_one = math.nextafter(1.0, 0.0)
    wanted = "a number of at least 0 and below 1"
    return _number(value, name, owner, float, (0, below_one), wanted)


def positive_number(value: Any, name: str, owner: str) -> float:
    """The same, as a ``float`` above 0."""
    return _number(value, name, owner, float, (math.ulp(0.0), math.inf), "a number above 0")


def not_negative(value: Any, name: str, owner: str) -> float:
    """The same, as a ``float`` of at least 0."""
    return _number(value, name, owner, float, (0, math.inf), "a number of at least 0")


def _number(
    value: Any,
    name: str,
    owner: str,
    kind: Callable[[Any], N],
    bounds: tuple[int | float, int | float],
    wanted: str,
) -> N:
    """The value of one setting, as a number of Python's own, within its bounds."""
    try:
        number = None if isinstance(value, bool | str) else kind(value)
    except (TypeError, ValueError):
        number = None
    if number is None or not bounds[0] <= number <= bounds[1] or math.isinf(number):
        raise CourseError(f"{name} is {value!r} in this {owner}.", f"Give {wanted}.")
    return number


def numbers(
    values: Any, name: str, owner: str, number: Callable[[Any, str, str], N]
) -> tuple[N, ...]:
    """The values of a setting that has several.

    Args:
        number: what makes a number of each: `whole_number`, `positive_number` or the like.

    Raises:
        CourseError: they are no sequence, or one of them is no such number.
    """
    try:
        listed = list(values)
    except TypeError as error:
        raise CourseError(
            f"{name} is {values!r} in this {owner}.", "Give a sequence of numbers."
        ) from error
    return tuple(number(value, f"{name}[{i}]", owner) for i, value in enumerate(listed))


def shift_right(
    input_ids: Int[Tensor, "batch source"],
    labels: Int[Tensor, "batch target"] | None,
    start: int,
    pad: int,
) -> Int[Tensor, "batch read"]:
    """What a decoder reads to predict the labels: a start token, then all of them but the last.

    Args:
        input_ids: the source; it says how many sequences there are, and where.
        labels: the target; without one, the decoder reads the start token alone.
        start: the start token.
        pad: what is read where a label is ``IGNORED``.
    """
    first = input_ids.new_full((len(input_ids), 1), start)
    if labels is None:
        return first
    before = labels[:, :-1]
    return torch.cat([first, before.masked_fill(before == IGNORED, pad)], dim=1)
