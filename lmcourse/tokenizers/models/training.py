"""What every trainer gives, and what it must be given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lmcourse.errors import CourseError
from lmcourse.tokenizers.text.normalized_string import checked_text

ModelT = TypeVar("ModelT")
StepT = TypeVar("StepT")


@dataclass(frozen=True)
class Training(Generic[ModelT, StepT]):
    """What a trainer made, and how.

    Attributes:
        model: the trained model.
        steps: every step of the training, in order.
    """

    model: ModelT
    steps: Sequence[StepT]


def checked_counts(word_counts: Mapping[str, int]) -> dict[str, int]:
    """The words of a corpus and how often they occur, if they are fit to learn from.

    Raises:
        CourseError: there is no word at all, a count is no positive integer, or a word is no text.
    """
    for word, count in word_counts.items():
        checked_text(word)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise CourseError(
                f"The word {word!r} has the count {count!r}.",
                "Count each word that occurs: 1, 2, 3, …; leave out those that do not.",
            )
    words = {word: count for word, count in word_counts.items() if word}
    if not words:
        raise CourseError(
            "The corpus is empty: there is no word to learn from.",
            "Give at least one text with a character that normalizer and pre-tokenizer keep.",
        )
    return words


def checked_specials(special_tokens: Iterable[str]) -> list[str]:
    """The special tokens, if each is listed once.

    Raises:
        CourseError: one is listed twice, or they are no list.
    """
    if isinstance(special_tokens, str):  # a list of its characters, if we let it be
        raise CourseError(
            f"The special tokens are one string, {special_tokens!r}.",
            f"Give a list of them: [{special_tokens!r}].",
        )
    specials = list(special_tokens)
    for place, token in enumerate(specials):
        if token in specials[:place]:
            raise CourseError(
                f"The special token {token!r} is listed twice.",
                "List each special token once: its place gives its id.",
            )
    return specials
