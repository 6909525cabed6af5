r"""What ``Split`` and ``Replace`` look for: a plain string, or a regular expression.

The library reads expressions with Oniguruma, whose dialect is Ruby's; here the ``regex`` package
reads them. They agree on what published tokenizers use: classes, ``\p{L}``, groups, lookaround,
possessive repeats, ``(?i:…)``, brackets within brackets. They do not agree on everything: in
Ruby, ``\h`` is a hexadecimal digit, ``(?m)`` lets a dot match a line end, and ``\x{…}`` is a
character; and classes other than ``\p{L}``, ``\p{N}``, ``\s`` and ``\w`` follow the package's
version of Unicode.
"""

from functools import cache

import regex  # type: ignore[import-untyped]

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Record
from lmcourse.tokenizers.text.normalized_string import Span
from lmcourse.tokenizers.text.unicode import CharacterSet, characters


class Pattern(Record, frozen=True, omit_defaults=True, rename="pascal"):
    """A plain string or a regular expression: one of the two.

    Raises:
        CourseError: none or both are given, or the expression cannot be read.
    """

    string: str | None = None
    regex: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.string is None) == (self.regex is None):
            raise CourseError(
                "A pattern is either a plain string or a regular expression.",
                "Give one of the two: Pattern(string=' ') or Pattern(regex=r'\\s+').",
            )
        try:
            _compiled(self.regex or "", for_ascii=True)
        except regex.error as error:
            raise CourseError(
                f"The regular expression {self.regex!r} cannot be read: {error}.",
                "Mend it where the message points; a plain string is Pattern(string=…).",
            ) from None

    def matches(self, text: str) -> list[Span]:
        """Where it matches, from left to right without overlap.

        An empty match counts, but not right after another match, nor in an empty text.
        """
        expression = regex.escape(self.string) if self.regex is None else self.regex
        search = _compiled(expression, text.isascii()).search
        found: list[Span] = []
        position = 0
        while text and position <= len(text) and (match := search(text, position)):
            start, end = match.span()
            if start == end and found and found[-1][1] == end:
                position += 1
            else:
                found.append((start, end))
                position = end
        return found


@cache
def _compiled(expression: str, for_ascii: bool) -> "regex.Pattern[str]":
    """The expression, compiled.

    As in Ruby's dialect, ^ and $ are the ends of a line, always (MULTILINE), and brackets stand
    within brackets (VERSION1).

    Args:
        for_ascii: the texts are ASCII only. About these, all versions of Unicode agree, and the
            package's own classes are faster.
    """
    expression = expression if for_ascii else _with_our_classes(expression)
    return regex.compile(expression, regex.MULTILINE | regex.VERSION1)


@cache
def _spelled_out() -> tuple[dict[str, str], dict[str, str]]:
    r"""The escapes that the library knows in another version: between brackets, and elsewhere.

    Oniguruma has two sets of word characters. Elsewhere than between brackets, ``\w`` also
    matches ² ³ ¹ ¼ ½ ¾. Neither holds the two joiners, which Rust's ``\w`` has.
    """
    word = CharacterSet.of(set(characters("word")) - {"\u200c", "\u200d"})
    word_elsewhere = CharacterSet.of({*word, *"²³¹¼½¾"})
    sets = {r"\p{L}": characters("letter"), r"\p{N}": characters("number"), r"\w": word}
    negated = {"\\" + key[1].upper() + key[2:]: chars.complement for key, chars in sets.items()}
    between = {escape: chars.expression for escape, chars in (sets | negated).items()}
    elsewhere = {escape: f"[{expression}]" for escape, expression in between.items()}
    one = f"[{word_elsewhere.expression}]"
    elsewhere |= {
        r"\w": one,
        r"\W": f"[^{word_elsewhere.expression}]",
        r"\b": f"(?:(?<={one})(?!{one})|(?<!{one})(?={one}))",
        r"\B": f"(?:(?<={one})(?={one})|(?<!{one})(?!{one}))",
    }
    return between, elsewhere


def _with_our_classes(expression: str) -> str:
    r"""The expression with ``\p{L}``, ``\p{N}``, ``\w`` and ``\b`` as the library knows them."""
    between_brackets, elsewhere = _spelled_out()
    result, depth = "", 0  # how many brackets are open
    # What counts: an escape (with its property), a bracket, or any other character.
    for part in regex.findall(r"(?s)\\[pP]\{[^}]*\}|\\.|.", expression):
        depth += (part == "[") - (part == "]" and depth > 0)
        result += (between_brackets if depth else elsewhere).get(part, part)
    return result
