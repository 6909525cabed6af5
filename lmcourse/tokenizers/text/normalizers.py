"""Normalizers: what is done to a text before it is cut into words.

Each is named as in the ``tokenizers`` library and does the same, down to the place in the
original text that each character keeps. Most work character by character; the normal forms are
in ``unicode_forms.py``, the tables of characters in ``unicode.py``.
"""

from functools import cached_property
from typing import Literal

from lmcourse.tokenizers.component import Component
from lmcourse.tokenizers.text.byte_characters import byte_characters
from lmcourse.tokenizers.text.charsmap import Charsmap
from lmcourse.tokenizers.text.normalized_string import NormalizedString, checked_text
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.text.unicode import CharacterSet, characters, lowercase_forms
from lmcourse.tokenizers.text.unicode_forms import composed, decomposed, normalizable

# The blocks of CJK ideographs, as BERT's authors listed them, in rising order. (They end one
# block at 2CEAF, but begin it at 2B820; the library begins at 2B920, and so must we.)
CHINESE = CharacterSet(
    [
        (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F),
    ]
)  # fmt: skip

# SentencePiece's nmt rules (google/sentencepiece, builder.cc): the code points that it deletes,
# and those that it makes a plain space.
NMT_DELETED = frozenset([*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F])
NMT_SPACES = dict.fromkeys(
    [9, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD],
    " ",
)


class TextNormalizer(Component, frozen=True):
    """What all normalizers share: two ways to call them."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        """The text as this normalizer leaves it; each character keeps its place."""
        raise NotImplementedError

    def normalize_str(self, text: str) -> str:
        """The same for a plain string.

        Raises:
            CourseError: it is no string, or holds a lone surrogate.
        """
        return self.normalize(NormalizedString.of(checked_text(text))).normalized


class NFD(TextNormalizer, frozen=True):
    """Take characters apart: é becomes e and an accent."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _decompose(text, "NFD")


class NFKD(TextNormalizer, frozen=True):
    """Take characters apart, and replace them by plainer ones: ﬁ becomes f and i."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _decompose(text, "NFKD")


class NFC(TextNormalizer, frozen=True):
    """Put characters together: e and an accent become é."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _compose(text, "NFD")


class NFKC(TextNormalizer, frozen=True):
    """Put characters together, and replace them by plainer ones."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _compose(text, "NFKD")


class Lowercase(TextNormalizer, frozen=True):
    """Each character in its lowercase. İ becomes two: i and a dot above."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _lower(text)


class StripAccents(TextNormalizer, frozen=True):
    """Delete combining marks. Put a normal form D before it, or é keeps its accent."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return _without(text, "combining_mark")


class Strip(TextNormalizer, frozen=True):
    """Delete the white space at the ends."""

    strip_left: bool = True
    strip_right: bool = True

    def normalize(self, text: NormalizedString) -> NormalizedString:
        white_space = characters("white_space")
        start, end = 0, len(text)
        while self.strip_left and start < end and text.normalized[start] in white_space:
            start += 1
        while self.strip_right and start < end and text.normalized[end - 1] in white_space:
            end -= 1
        return NormalizedString(text.normalized[start:end], text.spans[start:end], text.span)


class Replace(TextNormalizer, frozen=True):
    """Put ``content`` in the place of all that matches a pattern."""

    pattern: Pattern
    content: str

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return text.replace(self.pattern.matches(text.normalized), self.content)


class Prepend(TextNormalizer, frozen=True):
    """Put a string before the text, unless the text is empty."""

    prepend: str = "▁"

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return text.prepend(self.prepend)


class Nmt(TextNormalizer, frozen=True):
    """SentencePiece's rules for translation: delete controls, make other spaces plain ones."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        kept = text.filter(lambda character: ord(character) not in NMT_DELETED)
        return kept.expand([NMT_SPACES.get(ord(char), char) for char in kept.normalized])


class BertNormalizer(TextNormalizer, frozen=True):
    """What BERT does before it cuts (google-research/bert, ``tokenization.py``).

    Args:
        clean_text: delete controls (tab and line ends are none), U+0000 and U+FFFD; make every
            white space a plain space.
        handle_chinese_chars: put spaces around each CJK ideograph, so that it is a word.
        strip_accents: take characters apart and delete the nonspacing marks. None: as
            ``lowercase`` says.
        lowercase: make all lowercase.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def normalize(self, text: NormalizedString) -> NormalizedString:
        if self.clean_text:
            text = _clean(text)
        if self.handle_chinese_chars:
            text = _space_around_chinese(text)
        if self.lowercase if self.strip_accents is None else self.strip_accents:
            text = _without(_decompose(text, "NFD"), "nonspacing_mark")
        return _lower(text) if self.lowercase else text


class ByteLevel(TextNormalizer, frozen=True):
    """Each character becomes the characters that stand for its bytes in UTF-8."""

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return text.expand(list(map(byte_characters, text.normalized)))


class Precompiled(TextNormalizer, frozen=True):
    """SentencePiece's rules, as its model file holds them: a table of texts and replacements.

    Args:
        precompiled_charsmap: the table in base64, see ``charsmap.py``.
    """

    precompiled_charsmap: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.table  # a damaged one is found now, not at the first text

    @cached_property
    def table(self) -> Charsmap:
        """The table, read."""
        return Charsmap(self.precompiled_charsmap)

    def normalize(self, text: NormalizedString) -> NormalizedString:
        return self.table.normalize(text)


class Sequence(TextNormalizer, frozen=True):
    """Several normalizers, one after the other."""

    normalizers: tuple["Normalizer", ...]

    def normalize(self, text: NormalizedString) -> NormalizedString:
        for normalizer in self.normalizers:
            text = normalizer.normalize(text)
        return text


Normalizer = (
    NFC | NFD | NFKC | NFKD | Lowercase | StripAccents | Strip | Replace | Prepend | Nmt
    | BertNormalizer | ByteLevel | Precompiled | Sequence
)  # fmt: skip


# ---- The steps. A text that is ASCII only, as most English is, needs no table.


def _decompose(text: NormalizedString, form: Literal["NFD", "NFKD"]) -> NormalizedString:
    if normalizable().isdisjoint(text.normalized):
        return text
    return text.transform(decomposed(text.normalized, form))


def _compose(text: NormalizedString, form: Literal["NFD", "NFKD"]) -> NormalizedString:
    # Two Hangul letters join although neither is changed or moved alone: look for them too.
    if text.normalized.isascii():
        return text
    return text.transform(composed(text.normalized, form))


def _lower(text: NormalizedString) -> NormalizedString:
    if text.normalized.isascii():
        return NormalizedString(text.normalized.lower(), text.spans, text.span)
    forms = lowercase_forms()
    return text.expand([forms.get(ord(char), char) for char in text.normalized])


def _without(text: NormalizedString, property_: str) -> NormalizedString:
    """The text without the characters that have a property; no ASCII character has it."""
    if text.normalized.isascii():
        return text
    deleted = characters(property_)
    return text.filter(lambda character: character not in deleted)


def _clean(text: NormalizedString) -> NormalizedString:
    if text.normalized.isascii() and text.normalized.isprintable():
        return text
    deleted, white_space = characters("cleaned_away"), characters("white_space")
    kept = text.filter(lambda character: character not in deleted)
    return kept.expand([" " if char in white_space else char for char in kept.normalized])


def _space_around_chinese(text: NormalizedString) -> NormalizedString:
    if text.normalized.isascii():
        return text
    return text.expand([f" {char} " if char in CHINESE else char for char in text.normalized])
