"""Texts of one length: cut what is too long, fill up what is too short.

A batch is a rectangle of ids, but texts have many lengths. *Truncation* cuts a text to
``max_length`` tokens and keeps the rest as overflowing parts, which may share ``stride`` tokens
with the part before, so that an answer at the cut is whole in one of them (BERT's SQuAD code cuts
documents so). *Padding* adds a token that says nothing, which the attention mask hides.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Count, Id, Positive, Record
from lmcourse.tokenizers.encoding import COLUMNS, Encoding
from lmcourse.tokenizers.text.normalized_string import checked_text

Direction = Literal["Left", "Right"]
Strategy = Literal["LongestFirst", "OnlyFirst", "OnlySecond"]
Written = TypeVar("Written")

# What the arguments are called in Python, and in tokenizer.json.
DIRECTIONS: Mapping[str, Direction] = {"left": "Left", "right": "Right"}
STRATEGIES: Mapping[str, Strategy] = {
    "longest_first": "LongestFirst",
    "only_first": "OnlyFirst",
    "only_second": "OnlySecond",
}


class Truncation(Record, frozen=True):
    """How to cut, as tokenizer.json writes it.

    Attributes:
        direction: the side that is cut off.
        max_length: the most tokens that an encoding may have, special tokens included.
        strategy: which text of a pair to cut: the longer one first, or always the same.
        stride: how many tokens an overflowing part shares with the part before it.

    Raises:
        CourseError: a number is none from 0 on, or the stride is not smaller than max_length.
    """

    direction: Direction = "Right"
    max_length: Count = 512
    strategy: Strategy = "LongestFirst"
    stride: Count = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stride(self, self.max_length)

    @classmethod
    def of(cls, max_length: int, stride: int, strategy: str, direction: str) -> "Truncation":
        """From what ``Tokenizer.enable_truncation`` is called with.

        Raises:
            CourseError: one of these is not known, or see the class.
        """
        known = _choice("strategy", strategy, STRATEGIES)
        return cls(_choice("direction", direction, DIRECTIONS), max_length, known, stride)

    def arguments(self) -> dict[str, Any]:
        """What ``Tokenizer.enable_truncation`` was called with."""
        return {
            "max_length": self.max_length,
            "stride": self.stride,
            "strategy": _called(self.strategy, STRATEGIES),
            "direction": _called(self.direction, DIRECTIONS),
        }


class Fixed(Record, frozen=True, rename={"length": "Fixed"}):
    """Pad every text to this many tokens."""

    length: Positive


class Padding(Record, frozen=True):
    """How to fill up, as tokenizer.json writes it.

    Attributes:
        strategy: to the longest text of the batch, or to a fixed length.
        direction: the side that is filled.
        pad_to_multiple_of: round the length up to a multiple of this (some hardware is faster so).
        pad_id: the id of the padding token.
        pad_type_id: its segment.
        pad_token: the token itself.

    Raises:
        CourseError: a number is none from 0 on, or a length none from 1 on.
    """

    strategy: Literal["BatchLongest"] | Fixed = "BatchLongest"
    direction: Direction = "Right"
    pad_to_multiple_of: Positive | None = None
    pad_id: Id = 0
    pad_type_id: Id = 0
    pad_token: str = "[PAD]"

    @classmethod
    def of(
        cls,
        direction: str,
        pad_id: int,
        pad_type_id: int,
        pad_token: str,
        length: int | None,
        multiple: int | None,
    ) -> "Padding":
        """From what ``Tokenizer.enable_padding`` is called with.

        Raises:
            CourseError: one of these is not known, or see the class.
        """
        return cls(
            strategy="BatchLongest" if length is None else Fixed(length),
            direction=_choice("direction", direction, DIRECTIONS),
            pad_to_multiple_of=multiple,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=checked_text(pad_token),
        )

    def arguments(self) -> dict[str, Any]:
        """What ``Tokenizer.enable_padding`` was called with."""
        return {
            "length": self.strategy.length if isinstance(self.strategy, Fixed) else None,
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_token": self.pad_token,
            "pad_type_id": self.pad_type_id,
            "direction": _called(self.direction, DIRECTIONS),
        }


def _choice(name: str, called: str, known: Mapping[str, Written]) -> Written:
    if not isinstance(called, str) or called not in known:
        names = ", ".join(map(repr, known))
        raise CourseError(f"There is no {name} {called!r}.", f"Choose one of these: {names}.")
    return known[called]


def _called(written: str, known: Mapping[str, str]) -> str:
    return next(called for called, value in known.items() if value == written)


def room_beside(added: int, truncation: Truncation) -> int:
    """How many tokens the texts may have beside ``added`` special tokens.

    Raises:
        CourseError: there is no room even for the special tokens.
    """
    room = truncation.max_length - added
    if room < 0:
        raise CourseError(
            f"The post-processor adds {added} special tokens, but max_length is "
            f"{truncation.max_length}.",
            f"Truncate to at least {added + 1} tokens, or encode with add_special_tokens=False.",
        )
    return room


def check_stride(truncation: Truncation, length: int) -> None:
    """Check that parts of ``length`` tokens move on through the text.

    Raises:
        CourseError: they would share as many tokens as they have.
    """
    if truncation.stride and truncation.stride >= length:
        raise CourseError(
            f"The stride is {truncation.stride}, but a part has room for only {length} tokens of "
            f"the text (max_length {truncation.max_length}, less special tokens and a second "
            "text).",
            "Choose a stride that is smaller than that room, or a greater max_length.",
        )


def truncate(encoding: Encoding, length: int, truncation: Truncation) -> Encoding:
    """The first (or last) ``length`` tokens; the others follow as overflowing parts.

    Raises:
        CourseError: the stride is not smaller than the length.
    """
    if length >= len(encoding):
        return encoding
    if length == 0:
        return Encoding(overflowing=[encoding])
    check_stride(truncation, length)
    step = length - truncation.stride
    # Parts are laid at every `step` tokens until one reaches the other end.
    starts = range(0, len(encoding) - length + step, step)
    parts = [(start, min(start + length, len(encoding))) for start in starts]
    if truncation.direction == "Left":  # the same, seen from the end
        parts = [(len(encoding) - end, len(encoding) - start) for start, end in parts]
    first, *others = (encoding.part(*part) for part in parts)
    return replace(first, overflowing=others)


def truncate_all(encodings: list[Encoding], truncation: Truncation, room: int) -> list[Encoding]:
    """A text or a pair of texts, cut so that together they have at most ``room`` tokens.

    Raises:
        CourseError: the text that may be cut is too short to make room, or is not there.
    """
    if room == 0:
        return [truncate(encoding, 0, truncation) for encoding in encodings]
    excess = sum(map(len, encodings)) - room
    if excess <= 0:
        return encodings
    if truncation.strategy == "LongestFirst":
        lengths = _longest_first([len(encoding) for encoding in encodings], room)
    else:
        lengths = _only_one([len(encoding) for encoding in encodings], truncation, excess)
    return [truncate(*cut, truncation) for cut in zip(encodings, lengths, strict=True)]


def _longest_first(lengths: list[int], room: int) -> list[int]:
    """Cut the longer text down to the shorter one, then both to a half."""
    if len(lengths) == 1:
        return [room]
    short, long = sorted(lengths)
    long = max(short, room - short)
    if short + long > room:
        short, long = room // 2, room - room // 2
    return [short, long] if lengths[0] <= lengths[1] else [long, short]


def _only_one(lengths: list[int], truncation: Truncation, excess: int) -> list[int]:
    which = 0 if truncation.strategy == "OnlyFirst" else 1
    if which >= len(lengths):
        raise CourseError(
            "Only the second text may be truncated, but there is no second text, and the first "
            f"is {excess} tokens too long.",
            'Enable truncation with strategy="longest_first", or encode a pair.',
        )
    if lengths[which] <= excess:
        raise CourseError(
            f"The {('first', 'second')[which]} text has {lengths[which]} tokens, of which {excess} "
            "would have to go: none would be left.",
            'Enable truncation with strategy="longest_first" or with a greater max_length.',
        )
    return [length - excess * (place == which) for place, length in enumerate(lengths)]


def pad(encoding: Encoding, length: int, padding: Padding) -> Encoding:
    """The encoding and its overflowing parts, filled up to ``length`` tokens."""
    overflowing = [pad(part, length, padding) for part in encoding.overflowing]
    missing = length - len(encoding)
    if missing <= 0:
        return replace(encoding, overflowing=overflowing)
    filling = Encoding.special([(padding.pad_token, padding.pad_id)] * missing, padding.pad_type_id)
    filling = replace(filling, attention_mask=[0] * missing)
    left = padding.direction == "Left"
    first, second = (filling, encoding) if left else (encoding, filling)
    columns = {name: getattr(first, name) + getattr(second, name) for name in COLUMNS}
    shift = missing if left else 0
    ranges = {
        sequence: (start + shift, end + shift)
        for sequence, (start, end) in encoding.sequence_ranges.items()
    }
    return Encoding(**columns, overflowing=overflowing, sequence_ranges=ranges)


def check_padding(padding: Padding, token_to_id: Callable[[str], int | None]) -> None:
    """Check that the padding token has its id in the vocabulary: models know it by that.

    Raises:
        CourseError: it has another, or is not there.
    """
    found = token_to_id(padding.pad_token)
    if found != padding.pad_id:
        known = "lacks it" if found is None else f"gives it the id {found}"
        raise CourseError(
            f"Padding fills up with {padding.pad_token!r} as the id {padding.pad_id}, but the "
            f"vocabulary {known}.",
            "Call enable_padding with a pad_token of the vocabulary and its pad_id (token_to_id); "
            "add_special_tokens adds one.",
        )


def pad_all(encodings: list[Encoding], padding: Padding) -> list[Encoding]:
    """A batch of encodings, all filled up to one length."""
    if isinstance(padding.strategy, Fixed):
        length = padding.strategy.length
    else:
        length = max(map(len, encodings), default=0)
    if padding.pad_to_multiple_of:
        length += -length % padding.pad_to_multiple_of
    return [pad(encoding, length, padding) for encoding in encodings]
