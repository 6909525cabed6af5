"""What every trainer gives, and its checks of the corpus and the vocabulary's size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from tokenizers import AddedToken

ModelT = TypeVar("ModelT")
StepT = TypeVar("StepT")


@dataclass(frozen=True)
class Training(Generic[ModelT, StepT]):
    """A trained model and how it was trained: all that a replay needs.

    Attributes:
        model: the trained model.
        steps: every step of the training, in order; empty if the ``tokenizers`` library trained.
        trainer: the trainer, with its settings. For merges, ``trainer.words(word_counts)`` gives
            the words before the first merge, where ``merging.replay`` starts.
        word_counts: the words and how often each occurs; empty if the library trained.
    """

    model: ModelT
    steps: Sequence[StepT]
    trainer: Any = None
    word_counts: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Training({self.model!r}, steps=<{len(self.steps):,}>, "
            f"trainer={type(self.trainer).__name__}, word_counts=<{len(self.word_counts):,}>)"
        )


def contents(special_tokens: "Iterable[str | AddedToken]") -> list[str]:
    """The special tokens as the vocabulary has them."""
    return [token if isinstance(token, str) else token.content for token in special_tokens]


def nonempty(word_counts: Mapping[str, int]) -> dict[str, int]:
    """The words of a corpus and how often they occur, without the empty word."""
    words = {word: count for word, count in word_counts.items() if word}
    if not words:
        raise CourseError(
            "The corpus is empty: there is no word to learn from.",
            "Give at least one text with a character that normalizer and pre-tokenizer keep.",
        )
    return words


def too_small(vocab_size: int, needed: int) -> CourseError:
    """The error of a vocabulary that cannot hold the tokens from which training starts."""
    return CourseError(
        f"A vocabulary of {vocab_size} tokens is too small: special tokens and alphabet alone are "
        f"{needed}.",
        f"Set vocab_size to {needed} or more, or replace rare characters before training.",
    )
