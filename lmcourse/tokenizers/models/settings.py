"""The settings of trainers, and what each of them may be."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from msgspec import Meta

from lmcourse.errors import CourseError
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.component import checked
from lmcourse.tokenizers.text.normalized_string import checked_text

if TYPE_CHECKING:
    import tokenizers

Fraction = Annotated[float, Meta(gt=0, lt=1, description="a number between 0 and 1")]
Exponent = Annotated[
    float, Meta(ge=0, le=sys.float_info.max, description="a finite number from 0 on")
]
Character = Annotated[str, Meta(min_length=1, max_length=1, description="one character")]
Alphabet = Annotated[
    str | Sequence[Character], Meta(description="single characters: ['a', 'b'], or 'ab' for short")
]
SpecialTokens = Annotated[
    Sequence[str | AddedToken], Meta(description="a list of texts, such as ['[UNK]', '[PAD]']")
]


def check_settings(trainer: Any) -> None:
    """Hold a trainer's fields against their annotations, when it is made.

    Raises:
        CourseError: a setting is of another kind, or a special token is empty or listed twice.
    """
    kinds = get_type_hints(type(trainer), include_extras=True)
    for name, kind in kinds.items():
        value = checked(getattr(trainer, name), kind, f"{name} of {type(trainer).__name__}")
        object.__setattr__(trainer, name, value)  # it is frozen from now on
    checked_text("".join(trainer.initial_alphabet))
    specials = contents(trainer.special_tokens)
    for place, token in enumerate(specials):
        if not checked_text(token):
            raise CourseError(
                f"The special token in place {place} is empty.",
                "Leave it out: nothing in a text could be found as it.",
            )
        if token in specials[:place]:
            raise CourseError(
                f"The special token {token!r} is listed twice.",
                "List each special token once: its place gives its id.",
            )


def contents(special_tokens: Iterable[str | AddedToken]) -> list[str]:
    """The special tokens as the vocabulary has them."""
    return [token if isinstance(token, str) else token.content for token in special_tokens]


def library_tokens(
    special_tokens: Iterable[str | AddedToken],
) -> "list[str | tokenizers.AddedToken]":
    """The special tokens as the ``tokenizers`` library wants them."""
    import tokenizers

    return [
        token
        if isinstance(token, str)
        else tokenizers.AddedToken(
            token.content,
            single_word=token.single_word,
            lstrip=token.lstrip,
            rstrip=token.rstrip,
            normalized=bool(token.normalized),  # a special token is not, unless it says so
            special=True,
        )
        for token in special_tokens
    ]
