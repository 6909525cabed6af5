"""Tokens on their way to a browser: checked, and as a reader sees them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from lmcourse.errors import CourseError

_NAMED = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cn"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u034f")  # letters and marks that no font draws
_HALF = re.compile("[\ud800-\udfff]")


def as_tokens(name: str, value: Any, length: int | None = None) -> list[str]:
    """The value as a list of strings, one a token; special tokens and the empty string are tokens.

    Args:
        name: the argument's, for messages.
        value: a sequence of strings.
        length: how many there must be; None: at least one.

    Raises:
        CourseError: it is none, or holds something that is no text.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise CourseError(
            f"{name} is {_kind(value)}, not a list of tokens.",
            "Pass one string a token, such as tokenizer.tokenize(text) or text.split().",
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
