"""Batches: lists of texts or of pairs of texts, and the tensors that a model gets for them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from lmcourse.errors import CourseError
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.text.normalized_string import checked_text

if TYPE_CHECKING:
    from torch import Tensor

Text = str | Sequence[str]  # a text, or the list of its words
Texts = Text | tuple[Text, Text]  # … or a pair of them


def as_pairs(batch: Iterable[Texts], is_pretokenized: bool) -> list[tuple[Text, Text | None]]:
    """Each text of a batch with its pair, or None.

    Args:
        batch: texts, or pairs of texts.
        is_pretokenized: each text is a list of words.

    Raises:
        CourseError: it is one text, or an entry is neither a text nor a pair.
    """
    if isinstance(batch, str | bytes) or not isinstance(batch, Iterable):
        raise CourseError(
            f"A batch is a list of texts, not {type(batch).__name__}.",
            "Put the text into a list, or call encode.",
        )
    return [_as_pair(entry, is_pretokenized) for entry in batch]


def _as_pair(entry: Texts, is_pretokenized: bool) -> tuple[Text, Text | None]:
    of_words = is_pretokenized and all(isinstance(word, str) for word in entry)
    if of_words or not isinstance(entry, tuple | list):
        return cast(Text, entry), None  # if it is no text, encode will say so
    if len(entry) != 2:
        raise CourseError(
            f"An entry of the batch has {len(entry)} texts, where one or two are meant.",
            "Pass each pair as (first, second); for texts that are lists of words there is "
            "is_pretokenized=True.",
        )
    if entry[1] is None:
        checked_text(entry[1])  # encode would take it for a text without a pair
    return entry[0], entry[1]


def zipped(texts: str | Sequence[Any], pairs: str | Sequence[str] | None) -> Iterable[Texts]:
    """A batch of texts, or of pairs if there are second texts.

    Raises:
        CourseError: there are not as many second texts as first ones.
    """
    firsts = [texts] if isinstance(texts, str) else texts
    if pairs is None:
        return firsts
    seconds: Sequence[str] = [pairs] if isinstance(pairs, str) else pairs
    if len(seconds) != len(firsts):
        raise CourseError(
            f"There are {len(firsts)} texts, but {len(seconds)} texts to pair them with.",
            "Give each text its pair.",
        )
    return list(zip(firsts, seconds, strict=True))


def as_tensors(batch: list[Encoding]) -> "dict[str, Tensor]":
    """The columns that a model reads, int64 of shape (batch, time).

    Raises:
        CourseError: the texts have not all the same number of tokens.
    """
    import torch

    lengths = sorted({len(encoding) for encoding in batch})
    if len(lengths) > 1:
        raise CourseError(
            f"The texts have from {lengths[0]} to {lengths[-1]} tokens, which is no rectangle.",
            "Call the tokenizer's enable_padding with the padding token and its id first.",
        )
    columns = {
        "input_ids": [encoding.ids for encoding in batch],
        "token_type_ids": [encoding.type_ids for encoding in batch],
        "attention_mask": [encoding.attention_mask for encoding in batch],
    }
    shape = (len(batch), lengths[0] if lengths else 0)
    return {
        name: torch.tensor(column, dtype=torch.long).view(shape) for name, column in columns.items()
    }
