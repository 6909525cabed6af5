"""Between the ``tokenizers`` library and the course's models.

The library's tokenizers normalize a text and split it into words; our models show how each word
becomes tokens.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tokenizers import PreTokenizedString, Tokenizer

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.word_model import Span
from lmcourse.tokenizers.models.wordpiece import WordPiece

AnyModel = BPE | WordPiece | Unigram


class Word(NamedTuple):
    """A word as a model gets it, and its characters in the original text."""

    text: str
    span: Span


def from_library(tokenizer: Tokenizer) -> AnyModel:
    """The model of a library's tokenizer as the course's model, which shows its steps."""
    options: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    kind = options.pop("type")
    if kind == "BPE":
        merges = tuple((left, right) for left, right in options.pop("merges"))
        del options["dropout"]  # of merges, in training: here none is left out
        return BPE(**options, merges=merges)
    if kind == "WordPiece":
        return WordPiece(**options)
    if kind == "Unigram":
        vocab = tuple((piece, score) for piece, score in options.pop("vocab"))
        return Unigram(**options, vocab=vocab)
    raise CourseError(
        f"The tokenizer's model is a {kind}, which has no pieces.",
        "Pass a tokenizer of BPE, WordPiece or Unigram.",
    )


def split(tokenizer: Tokenizer, text: str) -> list[Word]:
    """The words of a text, normalized. Special tokens in the text are text."""
    pieces = PreTokenizedString(text)
    if tokenizer.normalizer is not None:
        pieces.normalize(tokenizer.normalizer.normalize)
    if tokenizer.pre_tokenizer is not None:
        tokenizer.pre_tokenizer.pre_tokenize(pieces)
    found = pieces.get_splits(offset_referential="original", offset_type="char")
    return [Word(word, span) for word, span, _ in found if word]


def count_words(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[str]:
    """How often each word of a corpus occurs, after normalization."""
    normalizer, pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    counts: Counter[str] = Counter()
    for text in texts:
        normalized = text if normalizer is None else normalizer.normalize_str(text)
        if pre_tokenizer is None:
            counts[normalized] += 1
        else:
            counts.update(word for word, _ in pre_tokenizer.pre_tokenize_str(normalized))
    return counts
