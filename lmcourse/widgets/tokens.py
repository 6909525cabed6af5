"""Tokens for a browser: checked, and with visible marks."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError

_NAMED = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cn"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u034f")  # blank letters and marks
_HALF = re.compile("[\ud800-\udfff]")

PADDING = frozenset({"[PAD]", "<pad>"})
SPECIAL = PADDING | {
    *("[CLS]", "[SEP]", "[BOS]", "[EOS]"),
    *("<s>", "</s>", "<bos>", "<eos>", "<|endoftext|>"),
}  # tokens between words; [MASK] and [UNK] replace words
MOST_TOKENS = 512  # of a text that is drawn whole: BERT's maximum
_PARTS = re.compile(
    r"""[^\s\x1c-\x1f\x85\ufeff.,:;!?()"“”…]+|[.,:;!?()"“”…]"""  # as in masking/text.js
)


def as_tokens(name: str, value: Any, length: int | None = None) -> list[str]:
    """Return the value as a list of tokens; special tokens and the empty string are allowed.

    Args:
        name: the argument's name, for messages.
        value: a sequence of strings, or an array of them with one axis.
        length: the required number of tokens; None: at least one.
    """
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise CourseError(
            f"{name} is {_kind(value)}, not a list of strings.",
            "Pass one string per token, such as tokenizer.tokenize(text) or text.split().",
        )
    for position, token in enumerate(value):
        if not isinstance(token, str):
            raise CourseError(
                f"{name}[{position}] is {_kind(token)}, not a string.",
                "Pass tokens, not ids: tokenizer.convert_ids_to_tokens(ids) returns them.",
            )
        if _HALF.search(token):
            raise CourseError(
                f"{name}[{position}] has half of a surrogate pair, which is not a character.",
                'Decode its bytes with errors="replace".',
            )
    tokens = list(value)
    if not tokens:
        raise CourseError(f"{name} is empty.", "Pass at least one token.")
    if length is not None and len(tokens) != length:
        raise CourseError(
            f"{name} has {len(tokens)} tokens, the arrays have {length}.",
            "Pass the tokens of the same input, including special tokens and padding.",
        )
    return tokens


def as_text(value: Any, widget: str) -> list[str]:
    """Return the value as the tokens of a text that is drawn whole.

    Args:
        value: as for `as_tokens`.
        widget: the widget's name, for messages.
    """
    tokens = as_tokens("tokens", value)
    if len(tokens) > MOST_TOKENS:
        raise CourseError(
            f"tokens has {len(tokens):,} tokens; {widget} shows {MOST_TOKENS}.",
            f"Pass a part of the text, such as tokens[:{MOST_TOKENS}].",
        )
    return tokens


def words_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text; special tokens are not split."""
    words = _PARTS.findall(text)
    if not 1 <= len(words) <= MOST_TOKENS:
        raise CourseError(f"The text has {len(words)} tokens.", f"Write 1 to {MOST_TOKENS}.")
    return as_tokens("text", words)


def visible(token: str) -> str:
    """Return the token with marks for invisible characters: ``"a\\u200bb"`` is ``a⟨200B⟩b``.

    The rule is that of ``web/widgets/shared/tokens.js``, except that joiners in emoji are shown.
    """
    return "".join(_mark(c) for c in token) if token else "∅"


def _mark(c: str) -> str:
    if c in _NAMED:
        return _NAMED[c]
    unseen = c in _BLANK or unicodedata.category(c) in _UNSEEN
    return f"⟨{ord(c):04X}⟩" if unseen else c


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
