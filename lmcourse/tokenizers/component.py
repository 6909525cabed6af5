"""What every part of a tokenizer is: a small frozen record that tokenizer.json can hold."""

from typing import NamedTuple, Protocol

import msgspec


class Component(msgspec.Struct, frozen=True, tag_field="type", tag=True, dict=True):
    """A normalizer, pre-tokenizer, model, post-processor or decoder.

    Its fields are the keys that the ``tokenizers`` library writes into tokenizer.json, in the
    library's order, beside ``"type"``, which is the class's name. (``dict=True`` makes room for
    cached properties: tables that follow from the fields.)
    """


class Token(NamedTuple):
    """One token of a word, as a model cuts it."""

    id: int
    value: str
    offsets: tuple[int, int]  # characters of the word, the end excluded


class Model(Protocol):
    """What cuts a word (a piece that the pre-tokenizer has made) into tokens."""

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""

    @property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word, from left to right.

        Raises:
            CourseError: a character is not known and there is no unknown token.
        """
