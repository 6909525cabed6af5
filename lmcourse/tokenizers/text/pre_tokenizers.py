"""Pre-tokenizers: a normalized text is cut into words, before a model cuts these into tokens.

No token will cross these cuts, so they decide much: whether ``dog.`` can be one token, whether a
space belongs to the word after it, whether 1984 is one word or four. Each is named as in the
``tokenizers`` library and cuts at the same places, for every text.
"""

from collections.abc import Iterator
from typing import Literal

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Component
from lmcourse.tokenizers.text.byte_characters import (
    BYTE_TO_CHARACTER,
    byte_characters,
)
from lmcourse.tokenizers.text.normalized_string import NormalizedString, Span, checked_text
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.text.splitting import Behavior, Finder, split

__all__ = [
    "Behavior",
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "Whitespace",
    "WhitespaceSplit",
]

Splits = list[NormalizedString]


class TextPreTokenizer(Component, frozen=True):
    """What all pre-tokenizers share: they cut each piece that is there, on its own."""

    def cut(self, text: NormalizedString) -> Splits:
        """The pieces of one piece, which is not empty."""
        raise NotImplementedError

    def pre_tokenize(self, splits: Splits) -> Splits:
        """The pieces of all pieces, without empty ones."""
        return [piece for text in splits if text.normalized for piece in self.cut(text)]

    def pre_tokenize_str(self, text: str) -> list[tuple[str, Span]]:
        """The pieces of a plain string, and where they are in it.

        Raises:
            CourseError: it is no string, or holds a lone surrogate.
        """
        splits = self.pre_tokenize([NormalizedString.of(checked_text(text))])
        return [(split.normalized, split.span) for split in splits]


class Whitespace(TextPreTokenizer, frozen=True):
    r"""Runs of word characters, and runs of others that are no white space: ``\w+|[^\w\s]+``."""

    def cut(self, text: NormalizedString) -> Splits:
        return [text[start:end] for start, end in WORDS_AND_SIGNS.spans(text.normalized)]


class WhitespaceSplit(TextPreTokenizer, frozen=True):
    """What lies between white space."""

    def cut(self, text: NormalizedString) -> Splits:
        return [text[start:end] for start, end in BETWEEN_SPACES.spans(text.normalized)]


class BertPreTokenizer(TextPreTokenizer, frozen=True):
    """BERT's words: what lies between white space, with each punctuation character on its own."""

    def cut(self, text: NormalizedString) -> Splits:
        return [text[start:end] for start, end in BERT_WORDS.spans(text.normalized)]


class Punctuation(TextPreTokenizer, frozen=True):
    """Split at each punctuation character."""

    behavior: Behavior = "Isolated"

    def cut(self, text: NormalizedString) -> Splits:
        return split(text, PUNCTUATION.spans(text.normalized), self.behavior)


class Digits(TextPreTokenizer, frozen=True):
    """Part numbers from the rest: digits of all scripts, fractions, Roman numerals.

    Args:
        individual_digits: each digit is a word.
    """

    individual_digits: bool = False

    def cut(self, text: NormalizedString) -> Splits:
        behavior: Behavior = "Isolated" if self.individual_digits else "Contiguous"
        return split(text, DIGIT.spans(text.normalized), behavior)


class CharDelimiterSplit(TextPreTokenizer, frozen=True):
    """What lies between one certain character."""

    delimiter: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_one_character("delimiter", self.delimiter)

    def cut(self, text: NormalizedString) -> Splits:
        return split(text, _places(self.delimiter, text.normalized), "Removed")


class Split(TextPreTokenizer, frozen=True):
    """Split at a pattern of your own.

    Args:
        pattern: what to look for.
        behavior: what becomes of the matches.
        invert: what is not matched counts as match.
    """

    pattern: Pattern
    behavior: Behavior
    invert: bool = False

    def cut(self, text: NormalizedString) -> Splits:
        return split(text, self.pattern.matches(text.normalized), self.behavior, self.invert)


class Metaspace(TextPreTokenizer, frozen=True):
    """SentencePiece's words: spaces become visible, and each begins a word.

    Kudo and Richardson 2018, "SentencePiece", section 3.1 (lossless tokenization): joining the
    tokens and taking ``▁`` for a space gives the text back.

    Args:
        replacement: the character that stands for a space.
        prepend_scheme: where the text begins without a space, put one there: ``always``, before
            every piece that this gets; ``first``, only at the beginning of the text; ``never``.
        split: False: only make the spaces visible.
    """

    replacement: str = "▁"
    prepend_scheme: Literal["always", "first", "never"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_one_character("replacement", self.replacement)

    def cut(self, text: NormalizedString) -> Splits:
        visible = text.normalized.replace(" ", self.replacement)
        text = NormalizedString(visible, text.spans, text.span)
        here = self.prepend_scheme == "always" or (
            self.prepend_scheme == "first" and text.span[0] == 0
        )
        if here and not visible.startswith(self.replacement):
            text = text.prepend(self.replacement)
        if not self.split:
            return [text]
        return split(text, _places(self.replacement, text.normalized), "MergedWithNext")


class ByteLevel(TextPreTokenizer, frozen=True):
    """GPT-2's words, with each byte of UTF-8 written as a character.

    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.

    Args:
        add_prefix_space: begin with a space, so that the first word is like all others.
        trim_offsets: for the post-processor of the same name: leave spaces out of offsets.
        use_regex: False: do not cut, only write bytes.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def cut(self, text: NormalizedString) -> Splits:
        if self.add_prefix_space and not text.normalized.startswith(" "):
            text = text.prepend(" ")
        if text.normalized.isascii():  # then each character is one byte, and no place shifts
            bytes_ = text.normalized.translate(BYTE_TO_CHARACTER)
            written = NormalizedString(bytes_, text.spans, text.span)
            if not self.use_regex:
                return [written]
            return [written[start:end] for start, end in GPT2_WORDS.spans(text.normalized)]
        words = [text]
        if self.use_regex:
            words = [text[start:end] for start, end in GPT2_WORDS.spans(text.normalized)]
        return [word.expand(list(map(byte_characters, word.normalized))) for word in words]


class Sequence(TextPreTokenizer, frozen=True):
    """Several pre-tokenizers, each cutting the pieces of the one before."""

    pretokenizers: tuple["PreTokenizer", ...]

    def pre_tokenize(self, splits: Splits) -> Splits:
        for pre_tokenizer in self.pretokenizers:
            splits = pre_tokenizer.pre_tokenize(splits)
        return splits


PreTokenizer = (
    Whitespace | WhitespaceSplit | BertPreTokenizer | Punctuation | Digits | CharDelimiterSplit
    | Split | Metaspace | ByteLevel | Sequence
)  # fmt: skip

# ---- What they look for. A name in braces is a class of characters, see splitting.Finder.

WORDS_AND_SIGNS = Finder(r"[{word}]+|[^{word}{white_space}]+", "word", "white_space")
BETWEEN_SPACES = Finder(r"[^{white_space}]+", "white_space")
BERT_WORDS = Finder(r"[{punctuation}]|[^{punctuation}{white_space}]+", "punctuation", "white_space")
PUNCTUATION = Finder(r"[{punctuation}]", "punctuation")
DIGIT = Finder(r"[{numeric}]", "numeric")
# A word takes the space before it; of several spaces, the last goes to the word (openai/gpt-2,
# encoder.py).
GPT2_WORDS = Finder(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{white_space}{letter}{number}]+"
    r"|[{white_space}]+(?![^{white_space}])|[{white_space}]+",
    "letter",
    "number",
    "white_space",
)


def _places(character: str, text: str) -> Iterator[Span]:
    """Where a character stands."""
    return ((place, place + 1) for place, other in enumerate(text) if other == character)


def _check_one_character(field: str, value: str) -> None:
    if len(value) != 1:
        raise CourseError(
            f"The {field} {value!r} has {len(value)} characters; it must be one.",
            "Give one character; for a longer string there is Split(Pattern(string=…), …).",
        )
