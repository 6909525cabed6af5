"""What all readers share: bytes that are never wholly in memory, and what is said of bad ones."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from lmcourse.errors import CourseError
from lmcourse.files import expanded

OnError = Literal["raise", "skip"]

GZIP = b"\x1f\x8b"  # how every gzip file begins
CHUNK = 1 << 18  # bytes read at a time
LONGEST = 1 << 26  # bytes of a line: what has none of that length is no file of lines
_REASONS = 5  # faults that are described; the others are only counted

FETCH_AGAIN = "Download the file again: it is damaged, or its download was cut short."


class Damaged(Exception):
    """A gzip file ends too early or is wrong inside; what came before it was good."""


class Faults:
    """What is wrong with a file: the first fault raises, or all of them are counted.

    Attributes:
        skipped: how many faults there were.
        reasons: descriptions of the first few, each with its location.
    """

    def __init__(self, on_error: OnError) -> None:
        if on_error not in ("raise", "skip"):
            raise CourseError(
                f"on_error is {on_error!r}.",
                'Pass "raise" to stop at the first fault, or "skip" to leave faults out and count '
                "them.",
            )
        self._raises = on_error == "raise"
        self.skipped = 0
        self.reasons: list[str] = []

    def add(self, cause: str, remedy: str) -> None:
        """Raise a fault as a `CourseError`, or count it."""
        if self._raises:
            raise CourseError(cause, remedy)
        self.skipped += 1
        if len(self.reasons) < _REASONS:
            self.reasons.append(cause)


def check(path: str | Path) -> Path:
    """The path of a file that is there, can be opened, is not empty and is what its name says."""
    path = expanded(path)
    start = beginning(path)
    if not start:
        raise CourseError(f"The file {path} is empty.", FETCH_AGAIN)
    if path.suffix == ".gz" and not start.startswith(GZIP):
        raise CourseError(
            f"{path} is named .gz but is not gzipped: it begins with {start[:16]!r}.",
            "Download the file again; or, if it is plain text, remove .gz from its name.",
        )
    return path


def beginning(path: Path) -> bytes:
    """The first bytes of a file, as they lie on the disk."""
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> CourseError:
    """Say why a file cannot be read, and what helps."""
    if path.is_dir():
        return CourseError(f"{path} is a folder.", "Give the path of one file in it.")
    if isinstance(error, FileNotFoundError):
        return CourseError(
            f"There is no file {path}.",
            f"Check the path: it is taken from the folder {Path.cwd()} unless it begins with a "
            "slash or a drive.",
        )
    return CourseError(
        f"The file {path} cannot be read: {error.strerror or error}.",
        "Check that you may read it and that its disk is there, then try again.",
    )


def chunks(path: Path, progress: bool = False) -> Iterator[bytes]:
    """The bytes of a file, piece by piece, decompressed if it is gzipped.

    Args:
        progress: show a bar over the bytes on the disk, where somebody can see it.
    """
    packed = beginning(path).startswith(GZIP)
    try:
        total = path.stat().st_size
        with path.open("rb") as raw, bar(path.name, total, progress) as show:
            source = gzip.GzipFile(fileobj=raw) if packed else raw
            # read1, since read would lose the good bytes before the end of a truncated file.
            while chunk := source.read1(CHUNK):
                yield chunk
                show(raw.tell())
    except EOFError:
        raise Damaged("the file ends in the middle of its gzip data") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise Damaged(f"the file's gzip data are wrong ({error})") from None
    except OSError as error:
        raise unreadable(path, error) from None


def lines(source: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The lines of a file, without their ends.

    A byte order mark, which some editors put before the first line, is left out.

    Args:
        source: what `chunks` gives.
        path: how to call the file in an error.
    """
    pending = b""
    count = 0
    for chunk in source:
        whole = (pending + chunk).split(b"\n")
        pending = whole.pop()
        if whole and not count:
            whole[0] = whole[0].removeprefix(codecs.BOM_UTF8)
        yield from whole
        count += len(whole)
        if len(pending) > LONGEST:
            raise CourseError(
                f"Line {count + 1:,} of {path} is longer than {LONGEST:,} bytes.",
                "Give a file with one record a line.",
            )
    if pending:
        yield pending if count else pending.removeprefix(codecs.BOM_UTF8)


def spoiled(error: UnicodeDecodeError, data: bytes, encoding: str = "utf-8") -> str:
    """Which byte is not of an encoding: "byte 5 (0xe9) is not UTF-8"."""
    return f"byte {error.start + 1} ({data[error.start]:#04x}) is not {encoding.upper()}"


@contextmanager
def bar(name: str, total: int | None, wanted: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar over bytes, on a terminal or in a notebook; nothing in a pipe or a log.

    Yields:
        What is to be called with the bytes that are done.
    """
    if not wanted:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    seen = console.is_terminal or console.is_jupyter
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not seen
    ) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done: progress.update(task, completed=done)
