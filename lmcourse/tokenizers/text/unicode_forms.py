"""Unicode normal forms: the ways of writing é, made one.

é is one character (U+00E9), or e and a combining accent (U+0065 U+0301): they look alike, and a
model would read two different words. Normal form D takes every character apart and sorts the
marks on each base; form C then puts together again what can be. The forms KD and KC also replace
characters by plainer ones: ﬁ by fi, ² by 2, Ａ by A.

Source: Unicode Standard Annex #15, Unicode Normalization Forms, sections 1.2 and 3.

Each function tells its result as changes (see ``NormalizedString.transform``), so that each new
character keeps its place in the original text. ``unicodedata`` gives the parts of a character,
but only for those which the library knew too: what a form does to these never changes.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal

from lmcourse.tokenizers.text.unicode import characters

Change = tuple[str, int]

LEAD, VOWEL, TAIL, SYLLABLE = 0x1100, 0x1161, 0x11A7, 0xAC00  # where Hangul's blocks begin
LEADS, VOWELS, TAILS = 19, 21, 28


@cache
def normalizable() -> frozenset[str]:
    """The characters that a normal form may change or move; it leaves all others alone."""
    return frozenset(characters("normalizable"))


def combining_class(character: str) -> int:
    """Where a mark sits on its base; marks of other classes may change places. 0: not a mark."""
    return unicodedata.combining(character) if character in normalizable() else 0


@cache
def decomposition(character: str, form: Literal["NFD", "NFKD"]) -> tuple[tuple[int, Change], ...]:
    """The parts of a normalizable character, each with its class; all but the first are added."""
    parts = unicodedata.normalize(form, character)
    return tuple((combining_class(part), (part, min(i, 1))) for i, part in enumerate(parts))


@cache
def compositions() -> dict[tuple[str, str], str]:
    """Pairs that become one character. Some never do: ``unicodedata`` knows which (section 5)."""
    pairs = {}
    for whole in normalizable():
        parts = unicodedata.decomposition(whole).split()
        if len(parts) == 2 and unicodedata.normalize("NFC", whole) == whole and "<" not in parts[0]:
            first, second = (chr(int(part, 16)) for part in parts)
            pairs[first, second] = whole
    return pairs


def composition(first: str, second: str) -> str | None:
    """The one character that two become, or None."""
    lead, vowel = ord(first) - LEAD, ord(second) - VOWEL
    if 0 <= lead < LEADS and 0 <= vowel < VOWELS:
        return chr(SYLLABLE + (lead * VOWELS + vowel) * TAILS)
    syllable, tail = ord(first) - SYLLABLE, ord(second) - TAIL
    if 0 <= syllable < LEADS * VOWELS * TAILS and syllable % TAILS == 0 and 0 < tail < TAILS:
        return chr(ord(first) + tail)
    return compositions().get((first, second))


def decomposed(text: str, form: Literal["NFD", "NFKD"]) -> Iterator[Change]:
    """Form D or KD: every character in parts, the marks after each base sorted by their class."""
    marks: list[tuple[int, Change]] = []
    known = normalizable()
    for character in text:
        unchanged = ((0, (character, 0)),)
        for part in decomposition(character, form) if character in known else unchanged:
            if part[0] == 0:
                yield from _sorted(marks)
                marks = []
                yield part[1]
            else:
                marks.append(part)
    yield from _sorted(marks)


def _sorted(marks: list[tuple[int, Change]]) -> Iterator[Change]:
    """Marks by their class; those of one class stay in order (section 1.3)."""
    return (change for _, change in sorted(marks, key=lambda mark: mark[0]))


def composed(text: str, form: Literal["NFD", "NFKD"]) -> Iterator[Change]:
    """Form C or KC: decomposed, then each mark joined to its base where the pair has a character.

    A mark is blocked, and stays, if between the base and it stands one of the same class or a
    higher one: two accents above must not change their order.
    """
    base: Change | None = None
    marks: list[Change] = []  # what stays between the base and the next
    highest = 0  # the class of the last of them
    for character, change in decomposed(text, form):
        class_ = combining_class(character)
        blocked = bool(marks) and class_ <= highest
        whole = composition(base[0], character) if base and not blocked else None
        if base and whole:
            base = (whole, base[1] + change - 1)
        elif class_ == 0:
            yield from [base] if base else []
            yield from marks
            base, marks = (character, change), []
        elif base is None:
            yield character, change
        else:
            marks.append((character, change))
            highest = class_
    yield from [base] if base else []
    yield from marks
