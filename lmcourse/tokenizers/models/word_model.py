"""What the models share: a checked word, its tokens kept, and a repr that fits on a line."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Component, Token
from lmcourse.tokenizers.text.normalized_string import checked_text

# How many words' tokens a model keeps, as many as in the library, and of how many characters.
CACHED_WORDS = 10_000
CACHED_LENGTH = 256

StepT = TypeVar("StepT")


@dataclass(frozen=True)
class Steps(Generic[StepT]):
    """How a word was cut, to be replayed (``dataclasses.asdict`` makes it JSON).

    Attributes:
        word: the word.
        steps: what the model did, in order; each step names the characters that it is about.
        tokens: what came of it: the same as ``tokenize`` gives.
    """

    word: str
    steps: tuple[StepT, ...]
    tokens: tuple[Token, ...]


class WordModel(Component, frozen=True):
    """A model that keeps the tokens of words that it has cut."""

    def _kept(self, word: str, cut: Callable[[str], Iterable[Token]]) -> list[Token]:
        """The tokens of a word, cut now or before.

        Raises:
            CourseError: the word is no text.
        """
        tokens = self._cache.get(word) if isinstance(word, str) else None
        if tokens is None:
            tokens = tuple(cut(checked_text(word)))
            if len(self._cache) < CACHED_WORDS and len(word) <= CACHED_LENGTH:
                self._cache[word] = tokens
        return list(tokens)

    @cached_property
    def _cache(self) -> dict[str, tuple[Token, ...]]:
        return {}

    def __repr__(self) -> str:
        """The settings that are set, and the sizes of the tables."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        shown = [
            f"{name}=<{len(value):,}>" if isinstance(value, dict | tuple) else f"{name}={value!r}"
            for name, value in values.items()
            if value is not None and value is not False
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def tokens_by_id(vocab: Mapping[str, int]) -> dict[int, str]:
    """Each id's token.

    Raises:
        CourseError: an id is below 0 or has more than 32 bits, or two tokens share one.
    """
    tokens: dict[int, str] = {}
    for token, id_ in vocab.items():
        if not 0 <= id_ < 2**32:
            raise CourseError(
                f"The vocabulary gives {token!r} the id {id_}.",
                "Number the tokens 0, 1, 2, … so that each id names a row of an embedding.",
            )
        if id_ in tokens:
            raise CourseError(
                f"The vocabulary gives the id {id_} to both {tokens[id_]!r} and {token!r}.",
                "Give each token an id of its own, or the text could not be decoded.",
            )
        tokens[id_] = token
    return tokens
