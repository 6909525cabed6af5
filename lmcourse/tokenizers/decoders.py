"""Decoders: from tokens back to text, by undoing what the other parts did.

Each step takes the list of tokens and gives a new one; the last list is joined. Which decoder
belongs to a tokenizer follows from how it marks the borders of words: WordPiece with ``##``,
SentencePiece with ``▁``, byte-level BPE with the byte of the space.
"""

import re
from typing import Literal

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Component, Count
from lmcourse.tokenizers.text.byte_characters import CHARACTER_TO_BYTE
from lmcourse.tokenizers.text.pattern import Pattern

REPLACEMENT = "\ufffd"  # what stands for bytes that are no UTF-8
BYTE_TOKEN = re.compile("<0x([0-9A-Fa-f]{2})>")


class ChainDecoder(Component, frozen=True):
    """What all decoders share: a text is their last list of tokens, joined."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """The tokens after this step."""
        raise NotImplementedError

    def decode(self, tokens: list[str]) -> str:
        """The text that some tokens stand for."""
        return "".join(self.decode_chain(tokens))


class ByteLevel(ChainDecoder, frozen=True):
    """Undo byte-level BPE: each character stands for a byte, and the bytes are UTF-8.

    Bytes that are no UTF-8 become U+FFFD. A token with a character that stands for no byte (an
    added token, say) is taken as it is. The fields say nothing here; the library writes them
    because its pre-tokenizer of this name is the same object.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """All tokens as one."""
        return [b"".join(map(self._bytes, tokens)).decode(errors="replace")]

    def _bytes(self, token: str) -> bytes:
        try:
            return bytes(CHARACTER_TO_BYTE[character] for character in token)
        except KeyError:
            return token.encode()


class WordPiece(ChainDecoder, frozen=True):
    """Glue ``##`` pieces to the piece before, and put a space before every other token.

    Args:
        cleanup: also take the space away before punctuation and English contractions. The text
            that was encoded may have had other spaces: they are lost.
    """

    prefix: str = "##"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Each token with its space, or without its prefix."""
        spaced = tokens[:1] + [self._spaced(token) for token in tokens[1:]]
        return [_cleaned(token) for token in spaced] if self.cleanup else spaced

    def _spaced(self, token: str) -> str:
        if token.startswith(self.prefix):
            return token.removeprefix(self.prefix)
        return f" {token}"


CLEANUP = {  # in this order, as the library has it
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}


def _cleaned(token: str) -> str:
    for written, meant in CLEANUP.items():
        token = token.replace(written, meant)
    return token


class Metaspace(ChainDecoder, frozen=True):
    """Undo SentencePiece's ``▁``: it is a space, except in the first token, where it was added."""

    replacement: str = "▁"
    prepend_scheme: Literal["always", "first", "never"] = "always"
    split: bool = True

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Each token with its spaces."""
        first = " " if self.prepend_scheme == "never" else ""
        return [
            token.replace(self.replacement, " " if place else first)
            for place, token in enumerate(tokens)
        ]


class BPEDecoder(ChainDecoder, frozen=True):
    """Undo the end-of-word suffix of Sennrich et al. 2016: it is a space, except at the end."""

    suffix: str = "</w>"

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Each token with a space in place of its suffix."""
        last = len(tokens) - 1
        return [
            token.replace(self.suffix, "" if place == last else " ")
            for place, token in enumerate(tokens)
        ]


class ByteFallback(ChainDecoder, frozen=True):
    """Undo byte fallback: a run of tokens such as ``<0xE2>`` is a run of UTF-8 bytes.

    A run that is no UTF-8 becomes one U+FFFD a byte.
    """

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """The tokens, each run of bytes as text."""
        decoded: list[str] = []
        run = bytearray()
        for token in tokens:
            byte = BYTE_TOKEN.fullmatch(token)
            if byte:
                run.append(int(byte[1], 16))
                continue
            decoded += [*_text_of(run), token]
            run.clear()
        return decoded + _text_of(run)


def _text_of(run: bytearray) -> list[str]:
    try:
        return [run.decode()] if run else []
    except UnicodeDecodeError:
        return [REPLACEMENT] * len(run)


class Fuse(ChainDecoder, frozen=True):
    """Make one token of all, so that the next step sees the whole text."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """All tokens as one."""
        return ["".join(tokens)]


class Strip(ChainDecoder, frozen=True):
    """Take a character away from both ends of each token.

    Args:
        content: the character.
        start: how many of it at most at the beginning.
        stop: how many of it at most at the end.
    """

    content: str = " "
    start: Count = 0
    stop: Count = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.content) != 1:
            raise CourseError(
                f"The Strip decoder takes away one character, not {self.content!r}.",
                'Give a single character as its content, such as " ".',
            )

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Each token without the character at its ends."""
        return [self._stripped(token) for token in tokens]

    def _stripped(self, token: str) -> str:
        leading = min(len(token) - len(token.lstrip(self.content)), self.start)
        trailing = min(len(token) - len(token.rstrip(self.content)), self.stop)
        return token[leading : len(token) - trailing]


class Replace(ChainDecoder, frozen=True):
    """Put something else in the place of each match.

    Args:
        pattern: what to look for in each token.
        content: what to put there.
    """

    pattern: Pattern
    content: str

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Each token with its matches replaced."""
        return [self._replaced(token) for token in tokens]

    def _replaced(self, token: str) -> str:
        pieces, done = [], 0
        for start, end in self.pattern.matches(token):
            pieces += [token[done:start], self.content]
            done = end
        return "".join([*pieces, token[done:]])


class Sequence(ChainDecoder, frozen=True):
    """Several decoders, one after the other."""

    decoders: "tuple[Decoder, ...]" = ()

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """What the last one makes of it."""
        for decoder in self.decoders:
            tokens = decoder.decode_chain(tokens)
        return tokens


Decoder = (
    ByteLevel
    | WordPiece
    | Metaspace
    | BPEDecoder
    | ByteFallback
    | Fuse
    | Strip
    | Replace
    | Sequence
)
