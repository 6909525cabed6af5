"""Documents: what the examples of `lmcourse.training.pairs` are built from.

A document is a list of sentences. A sentence is a list of ids; or a tokenizer's `Encoding` without
special tokens, which also shows which tokens belong to one word:

    [[tokenizer.encode(sentence, add_special_tokens=False) for sentence in text] for text in texts]

Examples built from encodings have ``word_ids``, so that words and spans can be masked as a whole
(`lmcourse.training.selection`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Encoding

from lmcourse.errors import CourseError

Sentence = Sequence[int] | Encoding
Document = Sequence[Sentence]

NO_WORD = -1
"""The word of a special token."""


class Token(NamedTuple):
    """A token of an example."""

    id: int
    word: int | None = NO_WORD
    """The number of its word, unique in all documents; None if sentences are ids alone."""


def columns(tokens: Sequence[Token], segments: Sequence[int]) -> dict[str, Any]:
    """The example with these tokens; with ``word_ids``, counted from 0, if words are known."""
    words = [token.word for token in tokens]
    example = {
        "input_ids": [token.id for token in tokens],
        "token_type_ids": list(segments),
        "special_tokens_mask": [int(word == NO_WORD) for word in words],
    }
    known = [word for word in words if word is not None]
    if len(known) == len(words):
        numbers = {NO_WORD: NO_WORD}
        example["word_ids"] = [numbers.setdefault(word, len(numbers) - 1) for word in known]
    return example


def nonempty(documents: Iterable[Document], minimum: int) -> list[list[list[Token]]]:
    """The documents as tokens, without empty sentences and documents."""
    found, words = [], 0
    for d, document in enumerate(documents):
        sentences = []
        for s, sentence in enumerate(document):
            ids, own = _ids_and_words(sentence, f"Sentence {s} of document {d}")
            if ids:
                numbers = [None] * len(ids) if own is None else [words + word for word in own]
                sentences.append(list(map(Token, ids, numbers)))
                words += 0 if own is None else max(own) + 1
        found.append(sentences)
    left = [document for document in found if document]
    if len(left) < minimum:
        raise CourseError(
            f"{len(left)} of {len(found)} documents have text.",
            f"Provide at least {minimum}. (A random next sentence is one of another document.)",
        )
    return left


def _ids_and_words(sentence: Any, name: str) -> tuple[list[int], list[int] | None]:
    """The ids of a sentence, and the number of each token's word; None if it is unknown."""
    if isinstance(sentence, Encoding):
        words = [word for word in sentence.word_ids if word is not None]
        if len(words) < len(sentence):
            raise CourseError(
                f"{name} has special tokens: {' '.join(sentence.tokens):.60}.",
                "Encode it with add_special_tokens=False, and without padding: a Frame adds them.",
            )
        return sentence.ids, words
    ids = np.asarray(sentence)
    return ids.tolist(), None
