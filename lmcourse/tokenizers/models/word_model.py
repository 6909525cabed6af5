"""What the models share: tokens, the steps that lead to them, and the record of a training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from tokenizers import AddedToken

Span = tuple[int, int]  # characters, the end excluded
StepT = TypeVar("StepT")


class Token(NamedTuple):
    """One token of a word, as a model segments it."""

    id: int
    value: str
    offsets: Span  # characters of the word


@dataclass(frozen=True)
class Steps(Generic[StepT]):
    """How a word was segmented (``dataclasses.asdict`` makes it JSON).

    Attributes:
        word: the word.
        steps: what the model did, in order; each step names the characters that it concerns.
        tokens: the result: the same as ``tokenize`` gives.
    """

    word: str
    steps: tuple[StepT, ...]
    tokens: tuple[Token, ...]


class WordModel:
    """A dataclass that segments words."""

    def __repr__(self) -> str:
        """The options that are set, and the sizes of the tables."""
        values: Mapping[str, Any] = {it.name: getattr(self, it.name) for it in fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses
        shown = [
            f"{name}=<{len(value):,}>" if isinstance(value, dict | tuple) else f"{name}={value!r}"
            for name, value in values.items()
            if value is not None and value is not False
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Ids from 0 in the order of the tokens; a repeated token keeps its first id."""
    return {token: id_ for id_, token in enumerate(dict.fromkeys(tokens))}


ModelT = TypeVar("ModelT")


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
