"""A file of word vectors, read entry by entry, with what can be wrong in it."""

import codecs
import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus import streams
from lmcourse.corpus.vector_formats import (
    OTHER_FORMAT,
    Format,
    is_number,
    recognize,
    trailing_numbers,
)
from lmcourse.errors import CourseError

_HEAD = 1 << 16  # bytes by which a format is recognized
_BLOCK = 4096  # rows by which memory grows where no header says how many there are
_LONGEST_WORD = 4096  # bytes: what has no space for so long is no word
_DENSEST = 1040  # gzip packs no more bytes than this into one

_SKIP = 'pass on_error="skip" to leave such entries out and count them.'

_parse = msgspec.json.Decoder(list[float]).decode


class _Rows:
    """Words and their vectors while they are gathered, in memory that is used once."""

    def __init__(self, width: int, expected: int | None) -> None:
        self.ids: dict[str, int] = {}
        self.matrix = np.empty((_BLOCK if expected is None else expected, width), np.float32)

    def add(self, word: str, numbers: list[float] | NDArray[np.float32]) -> bool:
        """Add a word; False if a number is not finite (as float32)."""
        index = len(self.ids)
        if index == len(self.matrix):
            grown = (index + max(_BLOCK, index // 2), self.matrix.shape[1])
            self.matrix.resize(grown, refcheck=False)
        row = self.matrix[index]
        row[:] = numbers
        # The sum of squares is the quickest look; it overflows also for finite huge numbers.
        if not math.isfinite(row.dot(row)) and not np.isfinite(row).all():
            return False
        self.ids[word] = index
        return True

    def done(self) -> tuple[list[str], NDArray[np.float32]]:
        self.matrix.resize((len(self.ids), self.matrix.shape[1]), refcheck=False)
        return list(self.ids), self.matrix


class VectorFile:
    """One reading of a file; see `lmcourse.corpus.vectors.read_vectors` for the arguments."""

    def __init__(
        self,
        path: Path,
        faults: streams.Faults,
        limit: int | None,
        wanted: frozenset[str] | None,
        encoding: str,
        errors: str,
    ) -> None:
        self.path, self.faults = path, faults
        self.limit, self.wanted = limit, wanted
        self.encoding, self.errors = encoding, errors
        try:
            codecs.lookup(encoding)
            codecs.lookup_error(errors)
        except LookupError as error:
            raise CourseError(
                f"Words cannot be read so: {error}.",
                'Pass for example encoding="latin-1", and errors="strict" or "replace".',
            ) from None

    def read(self, format: Format | None, progress: bool) -> tuple[list[str], NDArray[np.float32]]:
        """The words and their vectors, float32 [words, width]."""
        source = streams.chunks(self.path, progress)
        head = b""
        self.entry = 0
        try:
            for chunk in source:
                head += chunk
                if len(head) >= _HEAD:
                    break
        except streams.Damaged as damage:
            # What came so far is read; the damage is met again after it.
            if not head:
                raise CourseError(
                    f"{self.path} is damaged: {damage}.", streams.FETCH_AGAIN
                ) from None
            source = _raising(damage)
        self.layout = recognize(self.path, head, format)
        try:
            self.rows = _Rows(self.layout.width, self._expected())
            self._read_entries(chain([head], source))
        except streams.Damaged as damage:
            cause = f"{self.path} is damaged after word {self.entry:,}: {damage}."
            self.faults.add(cause, streams.FETCH_AGAIN)
        except MemoryError:
            raise CourseError(
                f"The vectors of {self.path}, of width {self.layout.width}, do not fit into "
                "memory.",
                "Read fewer: limit=100_000 takes the most frequent, words= those that you need.",
            ) from None
        if not self.rows.ids and self.wanted is None:
            raise CourseError(f"{self.path} has no good word vector.", OTHER_FORMAT)
        return self.rows.done()

    def _read_entries(self, source: Iterator[bytes]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.layout.format == "word2vec-binary":
                self._read_binary(source)
            else:
                self._read_text(source)

    def _expected(self) -> int | None:
        """How many rows there will be at most; no more than a file of this size can hold.

        So a first line that lies does not fill the memory.
        """
        _, count, width = self.layout
        size = self.path.stat().st_size
        if streams.beginning(self.path).startswith(streams.GZIP):
            size *= _DENSEST
        most = size // (4 * width + 2 if self.layout.format == "word2vec-binary" else 2 * width + 1)
        known = [n for n in (count, self.limit) if n is not None]
        if self.wanted is not None:
            known.append(len(self.wanted))
        return min(*known, most) if known else None

    @property
    def _enough(self) -> bool:
        """Whether all requested words were read."""
        if self.wanted is not None and len(self.rows.ids) == len(self.wanted):
            return True
        return self.limit is not None and self.entry >= self.limit

    def _read_text(self, source: Iterator[bytes]) -> None:
        _, count, width = self.layout
        lines = enumerate(streams.lines(source, self.path), 1)
        if count is not None:
            next(lines)
        # A word may have spaces; its first part is enough to pass over most lines unread.
        firsts = self.wanted and {
            first
            for word in self.wanted
            for first in word.encode(self.encoding, "replace").split(None, 1)[:1]
        }
        for number, line in lines:
            line = line.rstrip(b" \r\t")
            if not line:
                continue
            if self._enough:
                return
            if self.entry == count:
                self._lies(f"line {number:,} goes on")
                return
            self.entry += 1
            if firsts is not None and line.split(None, 1)[0] not in firsts:
                continue
            word, _, rest = line.partition(b" ")
            try:
                # msgspec reads a list of numbers four times as fast as float() or numpy do.
                numbers = _parse(b"[" + rest.replace(b" ", b",") + b"]")
            except msgspec.MsgspecError:
                numbers = []
            if len(numbers) != width or b"\t" in word:
                try:
                    word, numbers = _row(line, width)
                except ValueError as error:
                    remedy = f"Separate {width} numbers by spaces or tabs, or {_SKIP}"
                    self.faults.add(f"{self._at(number)} is no word vector: {error}.", remedy)
                    continue
            self._add(number, word, numbers)
        if count is not None and self.entry < count:
            self._lies(f"the file ends after {self.entry:,}")

    def _read_binary(self, source: Iterator[bytes]) -> None:
        _, count, width = self.layout
        assert count is not None
        data = next(source)
        start, size = data.index(b"\n") + 1, 4 * width
        while self.entry < count and not self._enough:
            space = data.find(b" ", start)
            while space < 0 or len(data) < space + 1 + size:
                if space < 0 and len(data) - start > _LONGEST_WORD:
                    self._misaligned(f"no word begins at word {self.entry + 1:,}")
                    return
                more = next(source, b"")
                if not more:
                    self._lies(f"the file ends in word {self.entry + 1:,}")
                    return
                data, start = data[start:] + more, 0
                space = data.find(b" ")
            self.entry += 1
            word = data[start:space].lstrip(b"\n")
            numbers = np.frombuffer(data, "<f4", width, space + 1)
            start = space + 1 + size
            self._add(self.entry, word, numbers)
        if self.entry == count and (data[start:] + next(source, b"")).strip():
            self._lies("the file continues after them")

    def _at(self, number: int) -> str:
        kind = "Word" if self.layout.format == "word2vec-binary" else "Line"
        return f"{kind} {number:,} of {self.path}"

    def _add(self, number: int, word: bytes, numbers: list[float] | NDArray[np.float32]) -> None:
        """Keep an entry, unless there is a fault in it or nobody wants it."""
        try:
            text = word.decode(self.encoding, self.errors)
        except UnicodeDecodeError as error:
            what = streams.spoiled(error, word, self.encoding)
            self.faults.add(
                f"{self._at(number)} begins with {word[:40]!r}: {what}.",
                f'Pass errors="replace" or the encoding of the words, or {_SKIP} If many words '
                "look like this, the header's width is wrong or the file is damaged.",
            )
            return
        if self.wanted is not None and text not in self.wanted:
            return
        if not text:
            self.faults.add(
                f"{self._at(number)} has no word before its numbers.", f"Add the word, or {_SKIP}"
            )
        elif text in self.rows.ids:
            self.faults.add(
                f"{self._at(number)} is a second vector of the word {text!r}.",
                f"Remove one of the two, or {_SKIP} Then the first one counts.",
            )
        elif not self.rows.add(text, numbers):
            self.faults.add(
                f"{self._at(number)} ({text!r}) has a number that is not finite or too large.",
                f"Correct it, or {_SKIP}",
            )

    def _lies(self, what: str) -> None:
        self.faults.add(
            f"The first line of {self.path} says {self.layout.total:,} words of width "
            f"{self.layout.width}, but {what}.",
            f'{streams.FETCH_AGAIN} on_error="skip" takes what could be read.',
        )

    def _misaligned(self, what: str) -> None:
        self.faults.add(
            f"{self.path} says a width of {self.layout.width}, but {what}.",
            f"{streams.FETCH_AGAIN} Or its first line is wrong: correct the width.",
        )


def _raising(error: Exception) -> Iterator[bytes]:
    """An iterator that has nothing to give but an error."""
    raise error
    yield b""


def _row(line: bytes, width: int) -> tuple[bytes, list[float]]:
    """A line's word, which may have spaces, and its numbers, after one or more spaces or tabs."""
    word, *numbers = line.strip().rsplit(None, width)
    found = max(len(numbers), trailing_numbers(line.split()))
    if found != width:
        raise ValueError(f"it has {found} numbers where {width} are expected")
    for number in numbers:
        if not is_number(number):
            raise ValueError(f"{number.decode('utf-8', 'replace')[:40]!r} is not a number")
    return word, [float(number) for number in numbers]
