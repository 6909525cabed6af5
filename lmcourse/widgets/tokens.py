"""Tokens on their way to a browser: checked, and as a reader sees them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError

_NAMED = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cn"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u034f")  # letters and marks that no font draws
_HALF = re.compile("[\ud800-\udfff]")

PADDING = frozenset({"[PAD]", "<pad>"})
SPECIAL = PADDING | {
    *("[CLS]", "[SEP]", "[BOS]", "[EOS]"),
    *("<s>", "</s>", "<bos>", "<eos>", "<|endoftext|>"),
}  # what stands around words in a model's input; [MASK] and [UNK] stand for one
MOST_TOKENS = 512  # of a text whose every token is drawn: what BERT reads
_PARTS = re.compile(
    r"""[^\s\x1c-\x1f\x85\ufeff.,:;!?()"“”…]+|[.,:;!?()"“”…]"""  # that of masking/text.js, too
)


def as_tokens(name: str, value: Any, length: int | None = None) -> list[str]:
    """The value as a list of strings, one a token; special tokens and the empty string are tokens.

    Args:
        name: the argument's, for messages.
        value: a sequence of strings, or an array of them with one axis.
        length: how many there must be; None: at least one.

    Raises:
        CourseError: it is none, or holds something that is no text.
    """
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise CourseError(
            f"{name} is {_kind(value)}, not a list of strings.",
            "Pass one string for each; of a text, tokenizer.tokenize(text) or text.split().",
        )
    for place, token in enumerate(value):
        if not isinstance(token, str):
            raise CourseError(
                f"{name}[{place}] is {_kind(token)}, not a string.",
                "Pass the tokens themselves: tokenizer.convert_ids_to_tokens(ids) gives them.",
            )
        if _HALF.search(token):
            raise CourseError(
                f"{name}[{place}] holds half of a surrogate pair, which is no character.",
                'Decode its bytes with errors="replace".',
            )
    tokens = list(value)
    if not tokens:
        raise CourseError(f"{name} is empty.", "Pass at least one token.")
    if length is not None and len(tokens) != length:
        raise CourseError(
            f"{name} has {len(tokens)} tokens, where the arrays have {length}.",
            "Pass the tokens of the same input, special tokens and padding included.",
        )
    return tokens


def as_text(value: Any, widget: str) -> list[str]:
    """The value as the tokens of a text that is drawn whole.

    Args:
        value: as in `as_tokens`.
        widget: whose text it is, for messages.

    Raises:
        CourseError: as in `as_tokens`; or there are more than 512.
    """
    tokens = as_tokens("tokens", value)
    if len(tokens) > MOST_TOKENS:
        raise CourseError(
            f"tokens has {len(tokens):,} tokens; {widget} shows {MOST_TOKENS}.",
            f"Pass a part of the text, such as tokens[:{MOST_TOKENS}].",
        )
    return tokens


def words_of(text: str) -> list[str]:
    """A typed text's words and punctuation marks; special tokens such as [CLS] stay whole.

    Raises:
        CourseError: there are none, more than 512, or half of a character.
    """
    words = _PARTS.findall(text)
    if not 1 <= len(words) <= MOST_TOKENS:
        raise CourseError(f"The text has {len(words)} tokens.", f"Give 1 to {MOST_TOKENS}.")
    return as_tokens("text", words)


def visible(token: str) -> str:
    """The token with a mark for each character that has no ink: ``"a\\u200bb"`` as ``a⟨200B⟩b``.

    It is the rule of ``web/widgets/shared/tokens.js``, but that joiners between emoji show.
    """
    return "".join(_mark(c) for c in token) if token else "∅"


def _mark(c: str) -> str:
    if c in _NAMED:
        return _NAMED[c]
    unseen = c in _BLANK or unicodedata.category(c) in _UNSEEN
    return f"⟨{ord(c):04X}⟩" if unseen else c


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
