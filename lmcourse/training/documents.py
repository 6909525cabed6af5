"""Documents: what `lmcourse.training.pairs` makes its examples of.

A document is a list of sentences. A sentence is a list of ids; or an `Encoding`, as a tokenizer
gives it without special tokens, which says also which tokens are pieces of one word:

    [[tokenizer.encode(sentence, add_special_tokens=False) for sentence in text] for text in texts]

Then the examples have ``word_ids``, by which words and spans can be masked as a whole
(`lmcourse.training.selection`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.tokenizers.encoding import Encoding

Sentence = Sequence[int] | Encoding
Document = Sequence[Sentence]

NO_WORD = -1
"""The word of a special token."""


class Token(NamedTuple):
    """A token of an example."""

    id: int
    word: int | None = NO_WORD
    """Its word's number, which no other word of the documents has; None: ids alone were given."""


def columns(tokens: Sequence[Token], segments: Sequence[int]) -> dict[str, Any]:
    """The example that has these tokens; with ``word_ids``, counted from 0, if words are known."""
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


def with_text(documents: Iterable[Document], least: int) -> list[list[list[Token]]]:
    """The documents, without empty sentences, and without those that have no others.

    Raises:
        CourseError: fewer are left than are needed; or one is no document.
    """
    read, kinds, words = [], set(), 0
    for d, document in enumerate(_listed(documents, "documents", "a list of documents")):
        sentences = []
        for s, sentence in enumerate(_listed(document, f"document {d}", "a list of sentences")):
            ids, own = _ids_and_words(sentence, f"Sentence {s} of document {d}")
            if ids:
                numbers = [None] * len(ids) if own is None else [words + word for word in own]
                sentences.append(list(map(Token, ids, numbers)))
                kinds.add(type(own))
                words += 0 if own is None else max(own) + 1
        read.append(sentences)
    if len(kinds) > 1:
        raise CourseError(
            "Some sentences are encodings, and some are lists of ids.",
            "Give one or the other: the examples have word_ids of all their tokens, or none.",
        )
    left = [document for document in read if document]
    if len(left) < least:
        raise CourseError(
            f"Of {len(read)} documents, {len(left)} have text.",
            "Give two or more: a random sentence is one of another document."
            if least > 1
            else "Give one at least, as a list of sentences, which are lists of ids.",
        )
    return left


def _listed(value: Any, name: str, wanted: str) -> list[Any]:
    """What is a list of something, if it can be one."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise CourseError(
            f"{name[0].upper()}{name[1:]} cannot be {value!r:.60}.",
            f"Give {wanted}: documents are lists of sentences, and sentences lists of ids.",
        )
    return list(value)


def _ids_and_words(sentence: Any, name: str) -> tuple[list[int], list[int] | None]:
    """A sentence's ids, and of each its word's number; None if it does not say."""
    if isinstance(sentence, Encoding):
        words = [word for word in sentence.word_ids if word is not None]
        if len(words) < len(sentence):
            raise CourseError(
                f"{name} has special tokens: {' '.join(sentence.tokens):.60}.",
                "Encode it with add_special_tokens=False, and without padding: a Frame puts them "
                "around a text.",
            )
        return sentence.ids, words
    try:
        ids = np.asarray(sentence)
    except ValueError:  # lists of unlike length in it
        ids = np.asarray(None)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise CourseError(
            f"{name} is {sentence!r:.60}.",
            "Give a list of ids, or a tokenizer's encoding: a text is encoded first, and a "
            "document is a list of sentences, be it of one.",
        )
    return ids.tolist(), None
