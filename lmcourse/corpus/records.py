"""One review, and its layout on a line of a file."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

LAYOUT_IN_WORDS = (
    "The file must have one JSON object a line, with user_id, timestamp, "
    "review_sentences [[0 or 1, text], …], rating 0 to 5, has_spoiler, book_id and review_id."
)


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One review.

    Attributes:
        user_id: who wrote it.
        timestamp: the day, such as "2017-08-30".
        sentences: each sentence's label (1: it spoils the plot) and text.
        rating: 1 to 5 stars; 0: the reviewer gave none.
        has_spoiler: whether the review contains a spoiler.
        book_id: the book it is about.
        review_id: its own id.
    """

    user_id: str
    timestamp: str
    sentences: tuple[tuple[int, str], ...]
    rating: int
    has_spoiler: bool
    book_id: str
    review_id: str

    @property
    def text(self) -> str:
        """The sentences, joined by spaces."""
        return " ".join([text for _, text in self.sentences])

    def as_dict(self) -> dict[str, Any]:
        """The record in the layout of the file, as JSON has it (lists, no tuples)."""
        return {
            "user_id": self.user_id,
            "timestamp": self.timestamp,
            "review_sentences": [[label, text] for label, text in self.sentences],
            "rating": self.rating,
            "has_spoiler": self.has_spoiler,
            "book_id": self.book_id,
            "review_id": self.review_id,
        }


class Layout(msgspec.Struct, gc=False):
    """The layout of a line; msgspec checks a line against it while it parses it."""

    user_id: str
    timestamp: str
    review_sentences: tuple[tuple[Literal[0, 1], str], ...]
    rating: Annotated[int, msgspec.Meta(ge=0, le=5)]
    has_spoiler: bool
    book_id: str
    review_id: str

    def record(self) -> ReviewRecord:
        return ReviewRecord(
            self.user_id,
            self.timestamp,
            self.review_sentences,
            self.rating,
            self.has_spoiler,
            self.book_id,
            self.review_id,
        )


def in_words(error: Exception, read: Callable[[], Any]) -> str:
    """Return msgspec's message with the path in Python's notation, and the value there.

    "Expected `int` <= 5 - at `$.rating`" becomes "rating is 9, expected `int` <= 5".

    Args:
        read: returns the record that the error is about.
    """
    message, _, path = str(error).partition(" - at `$")
    message = message[:1].lower() + message[1:]
    path = path.strip(".`")
    if not path:
        return message
    try:
        value = read()
        for step in re.findall(r"\w+", path):
            value = value[int(step) if step.isdigit() else step]
        return f"{path} is {str(value)[:60]!r}, {message}"
    except (msgspec.MsgspecError, RecursionError, LookupError, ValueError):
        # What follows the value is no JSON, a repeated key hides it, or its digits are too many.
        return f"{path}: {message}"
