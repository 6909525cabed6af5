"""Text that remembers where it came from: every normalized character knows its original ones."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise, repeat

import msgspec

from lmcourse.errors import CourseError

Span = tuple[int, int]  # characters from … to, the end excluded


def checked_text(text: object, remedy: str = "Give a string.") -> str:
    """The text itself, if it is one.

    Args:
        remedy: what to do where something else was given.

    Raises:
        CourseError: it is no string, or holds half of a surrogate pair, which is no character
            and cannot be written as UTF-8.
    """
    if not isinstance(text, str):
        if isinstance(text, bytes):
            remedy = "Decode it first: text.decode('utf-8')."
        raise CourseError(f"A text must be a string, not {type(text).__name__}.", remedy)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CourseError(
            f"Character {error.start} of the text is a lone surrogate, "
            f"U+{ord(text[error.start]):04X}: half of a pair that never was a character.",
            "Find where the text was cut or decoded wrongly, or replace such halves with "
            "text.encode('utf-8', 'replace').decode().",
        ) from None
    return text


class NormalizedString(msgspec.Struct, frozen=True, gc=False):
    """A text as a normalizer left it, and where each of its characters came from.

    (A struct and not a dataclass, because a corpus makes millions of them: one for each word.)

    Attributes:
        normalized: the text now.
        spans: for each character of ``normalized``, the characters of the original text that it
            stands for. They never fall from left to right.
        span: the characters of the original text that the whole stands for. Normalizing leaves it
            alone: if spaces are stripped from the ends, they still lie in this span.
    """

    normalized: str
    spans: tuple[Span, ...]
    span: Span

    @classmethod
    def of(cls, text: str) -> "NormalizedString":
        """The text itself: each character stands for itself."""
        return cls(text, tuple(pairwise(range(len(text) + 1))), (0, len(text)))

    def __len__(self) -> int:
        return len(self.normalized)

    def __getitem__(self, part: slice) -> "NormalizedString":
        """Some of its characters, which keep their places in the original text."""
        spans = self.spans[part]
        span = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        return type(self)(self.normalized[part], spans, span)

    def filter(self, keep: Callable[[str], bool]) -> "NormalizedString":
        """The characters for which ``keep`` holds."""
        kept = [
            (char, at) for char, at in zip(self.normalized, self.spans, strict=True) if keep(char)
        ]
        return type(self)("".join(char for char, _ in kept), tuple(at for _, at in kept), self.span)

    def expand(self, parts: Sequence[str]) -> "NormalizedString":
        """Each character becomes one or several.

        Args:
            parts: what becomes of each character, never nothing. All that a character became
                stands for what the character stood for.
        """
        normalized = "".join(parts)
        if len(normalized) == len(parts):
            return type(self)(normalized, self.spans, self.span)
        spans = chain.from_iterable(map(repeat, self.spans, map(len, parts)))
        return type(self)(normalized, tuple(spans), self.span)

    def prepend(self, text: str) -> "NormalizedString":
        """With ``text`` before it, which shares the first character's place. Empty stays empty."""
        if not self.normalized:
            return self
        spans = self.spans[:1] * len(text) + self.spans
        return type(self)(text + self.normalized, spans, self.span)

    def replace(self, matches: Iterable[Span], content: str) -> "NormalizedString":
        """With ``content`` in the place of each match, standing for its last character.

        Args:
            matches: where they are in ``normalized``, from left to right without overlap. In the
                place of an empty match, ``content`` stands for the character before it.
        """
        pieces: list[str] = []
        spans: list[Span] = []
        done = 0
        for start, end in matches:
            pieces += [self.normalized[done:start], content]
            spans += self.spans[done:start]
            spans += [self._span_before(end)] * len(content)
            done = end
        pieces.append(self.normalized[done:])
        spans += self.spans[done:]
        return type(self)("".join(pieces), tuple(spans), self.span)

    def transform(self, changes: Iterable[tuple[str, int]]) -> "NormalizedString":
        """A new text, told character by character.

        Args:
            changes: each new character, and how it came there: ``0``, it takes the place of the
                next one of the old text; ``-n``, it does so and the ``n`` after that vanish;
                ``1``, it is added and stands for the same as the old character passed last.
        """
        characters: list[str] = []
        spans: list[Span] = []
        position = 0
        for character, change in changes:
            characters.append(character)
            if change > 0:
                spans.append(self._span_before(position))
            else:
                spans.append(self.spans[position])
                position += 1 - change
        return type(self)("".join(characters), tuple(spans), self.span)

    def _span_before(self, position: int) -> Span:
        """What the character before a place stands for; at the beginning, nothing."""
        return self.spans[position - 1] if position else (self.span[0], self.span[0])
