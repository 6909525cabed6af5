"""The simplest model: a word is a token, or it is unknown."""

from functools import cached_property

from msgspec import field

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Token
from lmcourse.tokenizers.models.word_model import WordModel, tokens_by_id
from lmcourse.tokenizers.text.normalized_string import checked_text


class WordLevel(WordModel, frozen=True):
    """Look each word up in a vocabulary.

    Args:
        vocab: each token's id.
        unk_token: the token of every other word. It is needed once such a word is met.
    """

    vocab: dict[str, int] = field(default_factory=dict)
    unk_token: str = "<unk>"

    def __post_init__(self) -> None:
        super().__post_init__()
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
        checked_text(word)
        value = word if word in self.vocab else self.unk_token
        if value not in self.vocab:
            raise CourseError(
                f"The word {word!r} is not in the vocabulary, nor is the unknown token {value!r}.",
                "Add the unknown token to the vocabulary, or name the one that is there with "
                "unk_token.",
            )
        return [Token(self.vocab[value], value, (0, len(word)))]
