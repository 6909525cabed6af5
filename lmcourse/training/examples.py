"""Examples, and the batches that they become: as long as the longest, the others filled up.

An example is what a tokenizer gives for one text, by the names that models know:

    {"input_ids": [2, 17, 9, 3], "special_tokens_mask": [1, 0, 0, 1], "labels": 4}

A batch is the same for several, as tensors. Sequences of unlike length are filled up with padding,
which the attention mask tells models to ignore. It still costs: see `lmcourse.training.batches`.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED
from lmcourse.tokenizers.encoding import Encoding

Example = Mapping[str, Any]
"""By name: a number for each token, a number, or an array."""
Batch = dict[str, Tensor]

FILLED = {
    "input_ids": 0,  # or what the model says
    "token_type_ids": 0,
    "position_ids": 0,
    "attention_mask": 0,
    "special_tokens_mask": 1,
    "word_ids": -1,
    "labels": IGNORED,
}
"""What has a number for each token, and the number that padding gets."""

PLACES = {"start_positions", "end_positions"}
"""Where an answer begins and ends in an example, as numbers of tokens; ``IGNORED``: not in it."""


def example_of(encoding: Encoding, **labels: Any) -> dict[str, Any]:
    """The example that a tokenizer's encoding is.

    Args:
        labels: what is to be learned of it, such as ``labels`` or ``next_sentence_label``.
    """
    return {
        "input_ids": encoding.ids,
        "token_type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "word_ids": [-1 if word is None else word for word in encoding.word_ids],
        **labels,
    }


def each_token_a_word(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """The same examples with ``word_ids`` that say that no word has several tokens."""
    return [{**example, "word_ids": list(range(length_of(example)))} for example in examples]


def padded(examples: Sequence[Example], pad_token_id: int = 0) -> Batch:
    """A batch of examples, each filled up on the right to the longest of them.

    Args:
        examples: with the same names each. Where one brings an ``attention_mask`` of its own,
            (time, time), it is filled up in both directions.
        pad_token_id: the padding token.

    Returns:
        What the examples have, (batch, time) or (batch, …), and the ``attention_mask``: 1 for a
        token, 0 for padding.

    Raises:
        CourseError: there is no example; one has no ids; or they differ in their names or shapes.
    """
    check_names(examples)
    longest = max(length_of(example) for example in examples)
    batch = {}
    for name in examples[0]:
        values = (
            map(_ids, count(), examples) if name == "input_ids" else (e[name] for e in examples)
        )
        rows = [_as_array(value) for value in values]
        if is_per_token(name, examples):
            fill = pad_token_id if name == "input_ids" else FILLED[name]
            rows = [_filled(row, longest, fill, square=name == "attention_mask") for row in rows]
        try:
            batch[name] = torch.from_numpy(np.stack(rows))
        except (ValueError, TypeError) as error:
            raise CourseError(
                f"{name} cannot be made one tensor: {error}.",
                "Give each example numbers, and as many of them.",
            ) from error
    if "attention_mask" not in batch:
        lengths = torch.tensor([length_of(example) for example in examples])
        batch["attention_mask"] = (torch.arange(longest) < lengths[:, None]).long()
    return batch


def part_of(batch: Batch, rows: slice) -> Batch:
    """Some sequences of a batch, without the padding that only the others needed."""
    time = batch["input_ids"].shape[1]
    part = {name: tensor[rows] for name, tensor in batch.items()}
    mask = part["attention_mask"]
    real = mask if mask.ndim == 2 else mask.amax(1)  # a row for each query
    end = int(real.nonzero()[:, 1].amax()) + 1 if real.any() else time
    for name in FILLED.keys() & part.keys():
        tensor = part[name]
        if name == "labels" and (tensor.ndim < 2 or tensor.is_floating_point()):
            continue  # a class, or yes or no for each class
        square = name == "attention_mask" and tensor.ndim == 3
        part[name] = tensor[:, :end, :end] if square else tensor[:, :end]
    return part


def length_of(example: Example) -> int:
    """How many tokens an example has."""
    return len(example["input_ids"])


def is_per_token(name: str, examples: Sequence[Example]) -> bool:
    """Whether these have a number for each token by this name.

    Of ``labels`` only the examples tell: a tag for each token, or one class, or yes or no for each
    of several classes (which are no whole numbers, as models have it).
    """
    if name != "labels":
        return name in FILLED
    return all(
        np.ndim(example[name]) == 1
        and len(example[name]) == length_of(example)
        and np.asarray(example[name]).dtype.kind in "iu"
        for example in examples
    )


def check_names(examples: Sequence[Example]) -> None:
    """See that there are examples, with the same names and a token each.

    Raises:
        CourseError: there is none, they are no list, or one is no such example.
    """
    if isinstance(examples, Mapping) or not hasattr(examples, "__getitem__"):
        raise CourseError(
            f"Of the class {type(examples).__name__}, these are no examples.",
            'Give a list of dictionaries, each with its "input_ids"; list(…) makes one of a '
            "generator.",
        )
    if not len(examples):
        raise CourseError(
            "There is no example.", "Give at least one: the text may be empty, or all filtered out."
        )
    for number, example in enumerate(examples):
        if not isinstance(example, Mapping) or not isinstance(example.get("input_ids"), Sized):
            raise CourseError(
                f"Example {number} is {example!r:.60}.",
                'Give a dictionary with "input_ids" and what else a model is to be given.',
            )
        if example.keys() != examples[0].keys():
            names = ", ".join(sorted(example.keys() ^ examples[0].keys()))
            raise CourseError(
                f"Example {number} and example 0 differ in what they have: {names}.",
                "Give all examples the same names.",
            )
        if not length_of(example):
            raise CourseError(
                f"Example {number} has no token.", "Leave examples without tokens out."
            )
        for name in FILLED.keys() & example.keys() - {"labels"}:
            if len(example[name]) != length_of(example):
                raise CourseError(
                    f"Example {number} has {length_of(example)} input_ids and "
                    f"{len(example[name])} {name}.",
                    f"Give one number of {name} for each token.",
                )


def check_examples(
    examples: Sequence[Example],
    vocab_size: int | None = None,
    longest: int | None = None,
    classes: Mapping[str, int] | None = None,
) -> None:
    """See, before a training begins, that a model can read all examples.

    Args:
        vocab_size: how many ids the model knows.
        longest: how many tokens it can read.
        classes: how many classes there are of each label, by its name.

    Raises:
        CourseError: there are none; one is too long, or has an id, a label or an answer's place
            that there is not.
    """
    check_names(examples)
    if "position_ids" in examples[0]:
        longest = None  # places are counted otherwise, and the model looks at them itself
    encode = "Encode the text with the tokenizer that the model was built for."
    from_0 = "Count classes from 0; num_labels in a configuration says how many there are."
    for number, example in enumerate(examples):
        if longest is not None and length_of(example) > longest:
            raise CourseError(
                f"Example {number} has {length_of(example)} tokens; the model reads {longest} at "
                "most.",
                f"Cut the text into pieces of {longest} tokens (pairs.full_sentences does it, or a "
                "tokenizer's truncation), or build a model with more positions.",
            )
        ids = _ids(number, example)
        if vocab_size is not None and (wrong := _outside(ids, vocab_size)):
            raise CourseError(f"{_has(number, wrong, 'input_ids')}; {_knows(vocab_size)}.", encode)
        for name, many in (classes or {}).items():
            if name in example and (wrong := _outside(example[name], many, IGNORED)):
                raise CourseError(f"{_has(number, wrong, name)}; {_knows(many)}.", from_0)
        for name in PLACES & example.keys():
            if wrong := _outside(example[name], len(ids), IGNORED):
                raise CourseError(
                    f"{_has(number, wrong, name)}; it has the places 0 to {len(ids) - 1}.",
                    f"Count tokens from 0, special ones too. Where the answer was cut off, give "
                    f"{IGNORED} for both ends.",
                )


def _outside(values: Any, count: int, allowed: int | None = None) -> str:
    """The first that is no whole number from 0 to below the count, as text; or none."""
    array = np.asarray(values)
    wrong = array
    if array.dtype.kind in "iub":
        wrong = array[((array < 0) | (array >= count)) & (array != allowed)]
    return f"{wrong.ravel().tolist()[0]!r:.60}" if wrong.size else ""


def _has(number: int, value: str, name: str) -> str:
    return f"Example {number} has {value} among its {name}"


def _knows(count: int) -> str:
    return f"the model knows 0 to {count - 1}"


def _ids(number: int, example: Example) -> np.ndarray:
    """The ids of an example, if it has some.

    Raises:
        CourseError: it has text, or several sequences.
    """
    try:
        ids = np.asarray(example["input_ids"])
    except ValueError:  # lists of unlike length in it
        ids = np.asarray(None)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise CourseError(
            f"Example {number} has the input_ids {example['input_ids']!r:.60}.",
            "Give a list of ids. A tokenizer makes them of text (examples.example_of), and each "
            "sequence is an example of its own.",
        )
    return ids


def digest_of(examples: Iterable[Example]) -> str:
    """The first half of the SHA-256 of all that the examples hold."""
    found = hashlib.sha256()
    for example in examples:
        for name in sorted(example):
            value = np.asarray(example[name])
            kind = np.float64 if value.dtype.kind == "f" else np.int64
            found.update(f"{name}{value.shape}".encode() + value.astype(kind).tobytes())
    return found.hexdigest()[:32]


def _filled(row: np.ndarray, longest: int, fill: int, *, square: bool) -> np.ndarray:
    """A sequence's numbers, filled up to the longest one's."""
    count = len(row)
    if square and row.ndim == 2:
        whole = np.full((longest, longest), fill, row.dtype)
        whole[:count, :count] = row
    else:
        whole = np.full((longest, *row.shape[1:]), fill, row.dtype)
        whole[:count] = row
    return whole


def _as_array(value: Any) -> np.ndarray:
    """Numbers in the types that models take."""
    array = np.asarray(value)
    kinds = {"i": np.int64, "u": np.int64, "b": np.int64, "f": np.float32}
    return array.astype(kinds.get(array.dtype.kind, array.dtype), copy=False)
