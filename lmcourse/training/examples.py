"""Examples, and how they are padded into batches.

An example is what a tokenizer returns for one text, by the names of a model's arguments:

    {"input_ids": [2, 17, 9, 3], "special_tokens_mask": [1, 0, 0, 1], "labels": 4}

A batch is the same for several texts, as tensors. Shorter sequences are padded to the longest one;
the attention mask lets models ignore the padding, which still costs time (see
`lmcourse.training.batches`).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from tokenizers import Encoding
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED

Example = Mapping[str, Any]
"""By name: a number for each token, a single number, or an array."""
Batch = dict[str, Tensor]

PADDING = {
    "input_ids": 0,  # or the model's pad_token_id
    "token_type_ids": 0,
    "position_ids": 0,
    "attention_mask": 0,
    "special_tokens_mask": 1,
    "word_ids": -1,
    "labels": IGNORED,
}
"""The names with a value for each token, and the value that they are padded with."""

ANSWER = {"start_positions", "end_positions"}
"""The positions of an answer's first and last token, counted with the special ones; ``IGNORED`` if
the answer was cut off."""


def example_of(encoding: Encoding, **labels: Any) -> dict[str, Any]:
    """The example of a tokenizer's encoding.

    Args:
        labels: what is to be predicted, such as ``labels`` or ``next_sentence_label``.
    """
    return {
        "input_ids": encoding.ids,
        "token_type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "word_ids": _words(encoding.word_ids),
        **labels,
    }


def _words(numbers: Sequence[int | None]) -> list[int]:
    """The numbers of words, where a special token belongs to none: −1."""
    return [-1 if number is None else number for number in numbers]


def _numbered(example: Example | Encoding) -> Example:
    """An example in which each value is a number."""
    if isinstance(example, Encoding):
        return example_of(example)
    words = example.get("word_ids")
    if isinstance(words, list | tuple) and None in words:
        return {**example, "word_ids": _words(words)}
    return example


def each_token_a_word(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """The same examples with ``word_ids`` for texts whose tokens are words."""
    return [{**example, "word_ids": list(range(length_of(example)))} for example in examples]


def padded(examples: Sequence[Example | Encoding], pad_token_id: int = 0) -> Batch:
    """Collate examples into a batch, each padded on the right to the longest one.

    Args:
        examples: all with the same names, or encodings of the tokenizers library. ``word_ids`` may
            have None at special tokens, as that library and transformers give them. An
            ``attention_mask`` of shape (time, time) is padded in both dimensions.

    Returns:
        What the examples contain, (batch, time) or (batch, …), and the ``attention_mask``: 1 for a
        token, 0 for padding.
    """
    if not examples:
        raise CourseError("There is no example to put into a batch.", "Give one or more.")
    numbered = [_numbered(example) for example in examples]
    longest = max(length_of(example) for example in numbered)
    batch = {}
    for name in numbered[0]:
        rows = [_as_array(example[name]) for example in numbered]
        if is_per_token(name, numbered):
            value = pad_token_id if name == "input_ids" else PADDING[name]
            rows = [_padded(row, longest, value, square=name == "attention_mask") for row in rows]
        try:
            batch[name] = torch.from_numpy(np.stack(rows))
        except (ValueError, TypeError) as error:
            raise CourseError(
                f"{name} does not form a tensor: {error}.",
                "Give each example numbers, in an array of the same shape.",
            ) from error
    if "attention_mask" not in batch:
        lengths = torch.tensor([length_of(example) for example in numbered])
        batch["attention_mask"] = (torch.arange(longest) < lengths[:, None]).long()
    return batch


def part_of(batch: Batch, rows: slice) -> Batch:
    """Some sequences of a batch, without the padding that only the others needed."""
    time = batch["input_ids"].shape[1]
    part = {name: tensor[rows] for name, tensor in batch.items()}
    mask = part["attention_mask"]
    visible = mask if mask.ndim == 2 else mask.amax(1)  # (batch, query, key)
    end = int(visible.nonzero()[:, 1].amax()) + 1 if visible.any() else time
    for name in PADDING.keys() & part.keys():
        tensor = part[name]
        if name == "labels" and (tensor.shape[1:2] != (time,) or tensor.is_floating_point()):
            continue  # of sequences
        square = name == "attention_mask" and tensor.ndim == 3
        part[name] = tensor[:, :end, :end] if square else tensor[:, :end]
    return part


def length_of(example: Example) -> int:
    """The number of tokens."""
    return len(example["input_ids"])


def is_per_token(name: str, examples: Sequence[Example]) -> bool:
    """Whether examples have a value for each token by this name.

    ``labels`` may be a tag for each token, one class, or a probability for each of several classes
    (floating-point numbers).
    """
    if name != "labels":
        return name in PADDING
    return all(
        np.ndim(example[name]) == 1
        and len(example[name]) == length_of(example)
        and np.asarray(example[name]).dtype.kind in "iu"
        for example in examples
    )


def digest_of(examples: Iterable[Example]) -> str:
    """The first half of the SHA-256 of all examples."""
    found = hashlib.sha256()
    for example in map(_numbered, examples):
        for name in sorted(example):
            value = np.asarray(example[name])
            kind = np.float64 if value.dtype.kind == "f" else np.int64
            found.update(f"{name}{value.shape}".encode() + value.astype(kind).tobytes())
    return found.hexdigest()[:32]


def _padded(row: np.ndarray, longest: int, value: int, *, square: bool) -> np.ndarray:
    missing = (0, longest - len(row))
    widths = [missing if axis == 0 or square else (0, 0) for axis in range(row.ndim)]
    return np.pad(row, widths, constant_values=value)


def _as_array(value: Any) -> np.ndarray:
    """The values in the types that models accept."""
    array = np.asarray(value)
    kinds = {"i": np.int64, "u": np.int64, "b": np.int64, "f": np.float32}
    return array.astype(kinds.get(array.dtype.kind, array.dtype), copy=False)
