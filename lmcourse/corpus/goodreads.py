"""Book reviews in the layout of the Goodreads spoiler data: JSON lines, one review each.

Wan, Misra, Nakashole, McAuley, "Fine-Grained Spoiler Detection from Large-Scale Review Corpora"
(ACL 2019): 1.4 million reviews, each sentence labeled as spoiler or not. BookWorld writes its
reviews in the same layout, so one reader serves both.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, get_args

import msgspec

from lmcourse.corpus import streams
from lmcourse.corpus.records import LAYOUT_IN_WORDS, Layout, ReviewRecord, in_words
from lmcourse.errors import CourseError

Split = Literal["train", "validation", "test"]

_SKIP = 'Mend the line, or pass on_error="skip" to leave such lines out and count them.'


def split_of(book_id: str) -> Split:
    """The split that a book belongs to: 80 % train, 10 % validation, 10 % test.

    All reviews of a book fall in one split, so that what a model remembers of a book does not
    help it on held-out reviews. It is the same in every process and on every machine.
    """
    digest = hashlib.sha256(book_id.encode("utf-8", "surrogatepass")).digest()
    tenth = int.from_bytes(digest[:8], "big") % 10
    return "train" if tenth < 8 else "validation" if tenth == 8 else "test"


class Reviews:
    """The reviews of a file, read anew with each iteration and never wholly in memory.

    Attributes:
        read: how many good records the last iteration met so far.
        kept: how many of them passed the filters.
        skipped: how many faulty lines it left out (``on_error="skip"``).
        reasons: the first few faults in words, each with its line.
    """

    def __init__(
        self,
        path: Path,
        passes: Callable[[ReviewRecord], bool],
        limit: int | None,
        on_error: streams.OnError,
        progress: bool,
    ) -> None:
        self.path = path
        self._passes = passes
        self._limit = limit
        self._on_error: streams.OnError = on_error
        self._progress = progress
        self.read = self.kept = 0
        self._faults = streams.Faults(on_error)

    @property
    def skipped(self) -> int:
        return self._faults.skipped

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._faults.reasons)

    def __repr__(self) -> str:
        counts = f"{self.read:,} read, {self.kept:,} kept, {self.skipped:,} skipped"
        return f"<Reviews of {self.path}: {counts}>"

    def __iter__(self) -> Iterator[ReviewRecord]:
        self.read = self.kept = 0
        self._faults = streams.Faults(self._on_error)
        passes, limit = self._passes, self._limit
        if limit == 0:
            return
        for record in self._records():
            self.read += 1
            if passes(record):
                self.kept += 1
                yield record
                if self.kept == limit:
                    return
        if not self.read and not self.skipped:
            raise CourseError(f"The file {self.path} has only blank lines.", streams.FETCH_AGAIN)

    def _records(self) -> Iterator[ReviewRecord]:
        """The good records of the file; each fault is raised or counted."""
        decode = msgspec.json.Decoder(Layout).decode
        number = 0
        try:
            source = streams.chunks(self.path, self._progress)
            for number, line in enumerate(streams.lines(source, self.path), 1):
                try:
                    record = decode(line).record()
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    if line.strip():
                        self._faults.add(*_fault(self.path, number, line, error))
                    continue
                yield record
        except streams.Damaged as damage:
            self._faults.add(
                f"{self.path} is damaged after line {number:,}: {damage}.",
                f'{streams.FETCH_AGAIN} on_error="skip" takes what comes before.',
            )


def read_reviews(
    path: str | Path,
    *,
    where: Callable[[ReviewRecord], bool] | None = None,
    split: Split | None = None,
    limit: int | None = None,
    on_error: streams.OnError = "raise",
    progress: bool = False,
) -> Reviews:
    """Read reviews in the Goodreads layout, JSON lines, gzipped or not, one after the other.

    Args:
        path: the file, such as ``goodreads_reviews_spoiler.json.gz`` of the UCSD Book Graph.
        where: keep the records for which it is true, such as those with a spoiler.
        split: keep the books of one split; see `split_of`.
        limit: stop after so many kept records.
        on_error: "raise" at the first bad line, or "skip" bad lines and count them. Gzip data that
            are cut short end the reading and count as one.
        progress: show a bar over the bytes on the disk, on a terminal or in a notebook.

    Returns:
        An iterable of `ReviewRecord`; after an iteration it has the counts of records read, kept
        and skipped.

    Raises:
        CourseError: the file is missing, a folder, empty or not what its name says; there is no
            such split; and, while iterating, a line is not a review.
    """
    if split is not None and split not in get_args(Split):
        raise CourseError(
            f"There is no split {split!r}.", f"Pass one of {', '.join(get_args(Split))}."
        )

    def passes(record: ReviewRecord) -> bool:
        of_split = split is None or split_of(record.book_id) == split
        return of_split and (where is None or where(record))

    return Reviews(streams.check(path), passes, limit, on_error, progress)


def _fault(path: Path, number: int, line: bytes, error: Exception) -> tuple[str, str]:
    """What is wrong with a line, and what helps."""
    where = f"Line {number:,} of {path}"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        what = streams.spoiled(wrong, line)
        return f"{where}: {what}.", f"Save the file as UTF-8. {_SKIP}"
    if isinstance(error, msgspec.ValidationError):
        words = in_words(error, lambda: msgspec.json.decode(line))
        return f"{where} is not a review: {words}.", f"{LAYOUT_IN_WORDS} {_SKIP}"
    start = line[:40].decode("utf-8", "replace")
    return f"{where} is not JSON ({error}): it begins with {start!r}.", f"{LAYOUT_IN_WORDS} {_SKIP}"
