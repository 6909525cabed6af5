"""What every trainer gives, and what it must be given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lmcourse.errors import CourseError
from lmcourse.tokenizers.text.normalized_string import checked_text

ModelT = TypeVar("ModelT")
StepT = TypeVar("StepT")


@dataclass(frozen=True)
class Training(Generic[ModelT, StepT]):
    """What a trainer made, how, and of what: all that a replay needs.

    Attributes:
        model: the trained model.
        steps: every step of the training, in order; empty if the ``tokenizers`` library did it.
        trainer: the trainer, with its settings. For merges, ``trainer.words(word_counts)`` gives
            the words as they were before the first one, where ``merging.replay`` starts.
        word_counts: the words and how often each occurs; empty if the library did it.
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


def checked_counts(word_counts: Mapping[str, int]) -> dict[str, int]:
    """The words of a corpus and how often they occur, if they are fit to learn from.

    Raises:
        CourseError: there is no word at all, a count is no positive integer, or a word is no text.
    """
    if not isinstance(word_counts, Mapping):
        raise CourseError(
            f"The counts of words are {type(word_counts).__name__}, not a dict.",
            "Count the words of a corpus first: Counter(words) gives {'low': 5, 'lower': 2}.",
        )
    for word, count in word_counts.items():
        checked_text(word)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise CourseError(
                f"The word {word!r} has the count {count!r}.",
                "Count each word that occurs: 1, 2, 3, …; leave out those that do not.",
            )
    words = {word: count for word, count in word_counts.items() if word}
    if not words:
        raise empty_corpus()
    return words


def empty_corpus() -> CourseError:
    """What to say where there is nothing to learn from."""
    return CourseError(
        "The corpus is empty: there is no word to learn from.",
        "Give at least one text with a character that normalizer and pre-tokenizer keep.",
    )


def too_small(vocab_size: int, needed: int, shorter: bool = False) -> CourseError:
    """What to say of a vocabulary that cannot hold what training starts from.

    Args:
        vocab_size: the tokens that were asked for.
        needed: special tokens and alphabet.
        shorter: a shorter alphabet would help.
    """
    limit = ", or limit_alphabet to fewer characters than the corpus has"
    return CourseError(
        f"A vocabulary of {vocab_size} tokens is too small: special tokens and alphabet alone are "
        f"{needed}.",
        f"Set vocab_size to {needed} or more{limit if shorter else ''}.",
    )
