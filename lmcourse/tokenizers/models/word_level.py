"""The simplest model: a word is a token, or it is unknown."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import field

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Component, Token

# How many words' tokens a model keeps, as many as in the library, and of how many characters.
CACHED_WORDS = 10_000
CACHED_LENGTH = 256


def tokens_by_id(vocab: Mapping[str, int]) -> dict[int, str]:
    """Each id's token.

    Raises:
        CourseError: an id is below 0, or two tokens share one.
    """
    tokens: dict[int, str] = {}
    for token, id_ in vocab.items():
        if id_ < 0:
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


class WordLevel(Component, frozen=True):
    """Look each word up in a vocabulary.

    Args:
        vocab: each token's id.
        unk_token: the token of every other word. It is needed once such a word is met.
    """

    vocab: dict[str, int] = field(default_factory=dict)
    unk_token: str = "<unk>"

    def __post_init__(self) -> None:
        tokens_by_id(self.vocab)

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return self.vocab

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""
        return tokens_by_id(self.vocab)

    def tokenize(self, word: str) -> list[Token]:
        """The word as one token.

        Raises:
            CourseError: neither the word nor the unknown token is in the vocabulary.
        """
        value = word if word in self.vocab else self.unk_token
        if value not in self.vocab:
            raise CourseError(
                f"The word {word!r} is not in the vocabulary, nor is the unknown token {value!r}.",
                "Add the unknown token to the vocabulary, or name the one that is there with "
                "unk_token.",
            )
        return [Token(self.vocab[value], value, (0, len(word)))]
