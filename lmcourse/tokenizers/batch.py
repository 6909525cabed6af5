"""Batches: lists of texts or of pairs of texts, and the tensors that a model gets for them."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from lmcourse.errors import CourseError
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.text.normalized_string import checked_text

if TYPE_CHECKING:
    from torch import Tensor

    from lmcourse.tokenizers.processors import Processor

Text = str | Sequence[str]  # a text, or the list of its words
Texts = Text | tuple[Text, Text]  # … or a pair of them
BATCH = "A batch is a list of texts"

# What models of transformers call the columns of an encoding.
COLUMNS = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}


def several(values: object, what: str, remedy: str) -> Iterable[Any]:
    """Several things, and not one text, which would be read character by character.

    Args:
        what: what they should be, for the error: "A batch is a list of texts".

    Raises:
        CourseError: they are one text, a mapping, or nothing to go through.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise CourseError(f"{what}, not {type(values).__name__}.", remedy)
    return values


def checked_ids(ids: object) -> list[int]:
    """Ids as a list: of whole numbers of any kind, or of a tensor or array.

    Raises:
        CourseError: they are no list, or one is no whole number from 0 on.
    """
    remedy = (
        "Pass a list of whole numbers from 0 on; for several texts there is Tokenizer.decode_batch."
    )
    values = several(listed(ids), "Ids are a list of whole numbers", remedy)
    return [_checked_id(value, remedy) for value in values]


def listed(values: Any) -> Any:
    """The list of a tensor or an array; other things as they are."""
    return values.tolist() if hasattr(values, "tolist") else values


def _checked_id(value: Any, remedy: str) -> int:
    if hasattr(value, "__index__") and not isinstance(value, bool):
        with suppress(TypeError):  # a tensor or array of something else
            if (id_ := operator.index(value)) >= 0:
                return id_
    raise CourseError(f"{value!r} is no token's id.", remedy)


def as_pairs(batch: Iterable[Texts], is_pretokenized: bool) -> list[tuple[Text, Text | None]]:
    """Each text of a batch with its pair, or None.

    Args:
        batch: texts, or pairs of texts.
        is_pretokenized: each text is a list of words.

    Raises:
        CourseError: it is one text, or an entry is neither a text nor a pair.
    """
    entries = several(batch, BATCH, "Put the text into a list, or call encode.")
    return [_as_pair(entry, is_pretokenized) for entry in entries]


def _as_pair(entry: Texts, is_pretokenized: bool) -> tuple[Text, Text | None]:
    if not isinstance(entry, tuple | list):
        return entry, None  # if it is no text, encode will say so
    if is_pretokenized and all(isinstance(word, str) for word in entry):
        return cast(Text, entry), None
    if len(entry) != 2:
        raise CourseError(
            f"An entry of the batch has {len(entry)} texts, where one or two are meant.",
            "Pass each pair as (first, second); for texts that are lists of words there is "
            "is_pretokenized=True.",
        )
    if entry[1] is None:
        checked_text(entry[1])  # encode would take it for a text without a pair
    return entry[0], entry[1]


def zipped(texts: Text | Iterable[Any], pairs: Text | Iterable[Any] | None) -> Iterable[Texts]:
    """A batch of texts, or of pairs if there are second texts.

    Raises:
        CourseError: there are not as many second texts as first ones, or one is no list.
    """
    if pairs is None:
        return [texts] if isinstance(texts, str) else texts
    firsts, seconds = (
        [part] if isinstance(part, str) else list(several(part, BATCH, "Put them into a list."))
        for part in (texts, pairs)
    )
    if len(seconds) != len(firsts):
        raise CourseError(
            f"There are {len(firsts)} texts, but {len(seconds)} texts to pair them with.",
            "Give each text its pair.",
        )
    return list(zip(firsts, seconds, strict=True))


def as_tensors(
    batch: list[Encoding], names: Iterable[str], remedy: Callable[[], str]
) -> "dict[str, Tensor]":
    """The columns that a model reads, int64 of shape (batch, time).

    Args:
        names: which of ``COLUMNS`` to give. ``offset_mapping`` has the shape (batch, time, 2).
        remedy: what to do if they are no rectangle.

    Raises:
        CourseError: the texts have not all the same number of tokens.
    """
    import torch

    lengths = sorted({len(encoding) for encoding in batch})
    if len(lengths) > 1:
        raise CourseError(
            f"The texts have from {lengths[0]} to {lengths[-1]} tokens, which is no rectangle.",
            remedy(),
        )
    shape = (len(batch), lengths[0] if lengths else 0)
    return {
        name: torch.tensor([getattr(encoding, COLUMNS[name]) for encoding in batch])
        .long()
        .view(*shape, *((2,) if name == "offset_mapping" else ()))
        for name in names
    }


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns that a model reads.

    Raises:
        CourseError: one is not known.
    """
    known = ", ".join(COLUMNS)
    chosen = tuple(several(names, "The names of a model's inputs are a list", f"Known: {known}."))
    for name in chosen:
        if name not in COLUMNS:
            raise CourseError(f"There is no input {name!r}.", f"Choose among these: {known}.")
    return chosen


def has_segments(processor: "Processor | None") -> bool:
    """Whether a post-processor tells the texts of a pair apart: gives one a segment other than 0.

    (Without one, an encoding's ``type_ids`` tell them apart too, but no model was trained so.)
    """
    text = Encoding.special([("", 0)])
    parts = processor.process_encodings([text, text], True) if processor else []
    return any(any(part.type_ids) for part in parts)


def with_overflow(batch: list[Encoding]) -> list[Encoding]:
    """Each encoding, and behind it the parts that truncation cut off."""
    return [part for encoding in batch for part in (encoding, *encoding.overflowing)]


def samples_of(batch: list[Encoding]) -> "Tensor":
    """Which encoding of the batch each row of ``with_overflow`` is of: int64, shape (rows,)."""
    import torch

    rows = [1 + len(encoding.overflowing) for encoding in batch]
    return torch.arange(len(batch)).repeat_interleave(torch.tensor(rows, dtype=torch.long))
