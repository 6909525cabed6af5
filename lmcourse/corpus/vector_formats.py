"""The formats of word vectors, and how they are distinguished.

- ``word2vec``: a line with the number of words and the width; then a line for each word: the word
  and its numbers, separated by spaces or tabs.
- ``word2vec-binary``: the same first line; then, for each word, the word, a space, its numbers as
  little-endian float32, and sometimes a line end.
- ``glove``: as ``word2vec``, without the first line. Words may contain spaces.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from lmcourse.errors import CourseError

Format = Literal["word2vec", "word2vec-binary", "glove"]
FORMATS = get_args(Format)

NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_NOT_FINITE = (b"nan", b"inf", b"infinity")  # as programs write it
_SEPARATOR = re.compile(rb"[ \t]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")

OTHER_FORMAT = (
    "Check that this is a file of word vectors (unpack an archive first), or say its format: "
    f"format= one of {', '.join(FORMATS)}."
)


class Layout(NamedTuple):
    """What the beginning of a file says of it."""

    format: Format
    total: int | None  # words; None: it does not say
    width: int


def is_number(field: bytes) -> bool:
    """Whether a field is a number, finite or not."""
    return bool(NUMBER.fullmatch(field)) or field.lower().strip(b"+-") in _NOT_FINITE


def trailing_numbers(fields: list[bytes]) -> int:
    """How many fields at the end of a line are numbers, NaN and infinity among them.

    The first field is always the word.
    """
    count = 0
    for field in reversed(fields[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def recognize(path: Path, head: bytes, format: Format | None) -> Layout:
    """Tell a file's format, number of words and width from its beginning."""
    first, newline, after = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    fields = first.split()
    if format != "glove" and newline and len(fields) == 2 and all(f.isdigit() for f in fields):
        count, width = int(fields[0]), int(fields[1])
        if not count or not 0 < width < 1 << 20:
            raise CourseError(
                f"The first line of {path} says {count:,} words of width {width:,}.", OTHER_FORMAT
            )
        if format is None:
            format = "word2vec" if _is_text(after, width) else "word2vec-binary"
        return Layout(format, count, width)
    lines = head.split(b"\n")
    rows = [_SEPARATOR.split(line.rstrip()) for line in (lines[:-1] or lines)[:100] if line.strip()]
    widths = Counter(map(trailing_numbers, rows)) or Counter([0])
    width = max(widths, key=lambda each: (widths[each], -each))
    if format not in (None, "glove") or not width:
        start = head[:24]
        raise CourseError(f"{path} is not word vectors: it begins with {start!r}.", OTHER_FORMAT)
    return Layout("glove", None, width)


def _is_text(after: bytes, width: int) -> bool:
    """Whether what follows the first line is lines of numbers."""
    for line in after.split(b"\n")[:3]:
        fields = line.rsplit(None, width)
        if len(fields) > width and all(NUMBER.fullmatch(field) for field in fields[1:]):
            return True
    if _CONTROL.search(after[:4096]):
        return False
    try:
        after[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(after[:4096]) - 4  # a letter may be cut at the end
    return True
