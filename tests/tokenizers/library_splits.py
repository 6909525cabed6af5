"""What the library makes of a text, character by character and piece by piece."""

from typing import Any

from tokenizers import PreTokenizedString, Regex
from tokenizers.pre_tokenizers import Split

from lmcourse.tokenizers.text.normalized_string import NormalizedString, Span

Pieces = list[tuple[str, Span]]
EACH_CHARACTER = Split(Regex(r"[\s\S]"), "isolated")


def library_pieces(text: str, normalizer: Any = None, pre_tokenizer: Any = None) -> Pieces:
    """The pieces with their places in the original text, as the library counts characters."""
    splits = PreTokenizedString(text)
    if normalizer is not None:
        splits.normalize(normalizer.normalize)
    if pre_tokenizer is not None:
        pre_tokenizer.pre_tokenize(splits)
    found = splits.get_splits(offset_referential="original", offset_type="char")
    return [(piece, offsets) for piece, offsets, _ in found]


def library_characters(text: str, normalizer: Any) -> Pieces:
    """The normalized characters, each with its place."""
    return library_pieces(text, normalizer, EACH_CHARACTER)


def our_characters(text: str, normalizer: Any) -> Pieces:
    """The same from ours."""
    result = normalizer.normalize(NormalizedString.of(text))
    return list(zip(result.normalized, result.spans, strict=True))
