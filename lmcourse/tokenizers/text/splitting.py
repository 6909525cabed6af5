"""Splitting a text at what a pattern matches, and what becomes of the matches.

The five behaviors on ``the-final--countdown``, split at ``-``:

- Removed: the, final, countdown
- Isolated: the, -, final, -, -, countdown
- Contiguous: the, -, final, --, countdown
- MergedWithPrevious: the-, final-, -, countdown
- MergedWithNext: the, -final, -, -countdown
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Literal

from lmcourse.tokenizers.text.normalized_string import NormalizedString, Span
from lmcourse.tokenizers.text.unicode import characters

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
Piece = tuple[int, int, bool]  # from … to, and whether it is a match


class Finder:
    """A regular expression over the library's classes of characters.

    It is compiled twice: with every character of a class, and, for texts that are ASCII only,
    with the ASCII ones. For those the two find the same, the second several times faster.

    Args:
        template: the expression. Between brackets, ``{letter}`` stands for the characters of
            that class (see ``unicode.characters``).
        names: the classes that occur in it.
    """

    def __init__(self, template: str, *names: str) -> None:
        self.template = template
        self.names = names

    def spans(self, text: str) -> Iterator[Span]:
        """Where it matches, from left to right without overlap."""
        expression = self._ascii if text.isascii() else self._any
        return (match.span() for match in expression.finditer(text))

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(
            self.template.format(**{name: characters(name).expression for name in self.names})
        )

    @cached_property
    def _ascii(self) -> re.Pattern[str]:
        return re.compile(
            self.template.format(**{name: characters(name).ascii_expression for name in self.names})
        )


def pieces(length: int, matches: Iterable[Span]) -> Iterator[Piece]:
    """A text of this length as matches and what lies between them, from left to right."""
    done = 0
    for start, end in matches:
        if done < start:
            yield done, start, False
        yield start, end, True
        done = end
    if done < length:
        yield done, length, False


def split(
    text: NormalizedString, matches: Iterable[Span], behavior: Behavior, invert: bool = False
) -> list[NormalizedString]:
    """The parts of a text that is split at some matches, without empty ones.

    Args:
        invert: what is not matched counts as match, and the matches as what lies between.
    """
    found = [(start, end, hit != invert) for start, end, hit in pieces(len(text), matches)]
    parts = [text[start:end] for start, end in BEHAVIORS[behavior](found)]
    return [part for part in parts if part.normalized]


def _removed(found: list[Piece]) -> list[Span]:
    return [(start, end) for start, end, hit in found if not hit]


def _isolated(found: list[Piece]) -> list[Span]:
    return [(start, end) for start, end, _ in found]


def _contiguous(found: list[Piece]) -> list[Span]:
    return _merge(found, lambda hit, before: hit == before)


def _merged_with_previous(found: list[Piece]) -> list[Span]:
    return _merge(found, lambda hit, before: hit and not before)


def _merged_with_next(found: list[Piece]) -> list[Span]:
    """The same from right to left."""
    mirrored = [(-end, -start, hit) for start, end, hit in reversed(found)]
    merged = _merge(mirrored, lambda hit, before: hit and not before)
    return [(-end, -start) for start, end in reversed(merged)]


def _merge(found: list[Piece], joins: Callable[[bool, bool], bool]) -> list[Span]:
    """Each piece joins the one before it, or begins a new span.

    Args:
        joins: does it join, given whether it and the piece before are matches?
    """
    merged: list[Span] = []
    before = False
    for start, end, hit in found:
        if merged and joins(hit, before):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
        before = hit
    return merged


BEHAVIORS: dict[Behavior, Callable[[list[Piece]], list[Span]]] = {
    "Removed": _removed,
    "Isolated": _isolated,
    "MergedWithPrevious": _merged_with_previous,
    "MergedWithNext": _merged_with_next,
    "Contiguous": _contiguous,
}
