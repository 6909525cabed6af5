"""Plain text: a file, or a folder of them, one document after the other."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmcourse.corpus import streams
from lmcourse.errors import CourseError


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and the file that it was read from."""

    path: Path
    text: str


class Texts:
    """The documents of a folder, read anew with each iteration, one at a time.

    Attributes:
        paths: the files, in the order of their names.
        read: how many documents the last iteration gave so far.
        skipped: how many faulty files it left out (``on_error="skip"``).
        reasons: the first few faults in words.
    """

    def __init__(self, paths: list[Path], encoding: str, on_error: streams.OnError) -> None:
        self.paths = paths
        self._encoding = encoding
        self._on_error: streams.OnError = on_error
        self.read = 0
        self._faults = streams.Faults(on_error)

    @property
    def skipped(self) -> int:
        return self._faults.skipped

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._faults.reasons)

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        counts = f"{self.read:,} read, {self.skipped:,} skipped"
        return f"<Texts of {len(self.paths):,} files: {counts}>"

    def __iter__(self) -> Iterator[Document]:
        self.read = 0
        self._faults = streams.Faults(self._on_error)
        for path in self.paths:
            try:
                text = _text(path, self._encoding)
            except CourseError as error:
                self._faults.add(error.cause, error.remedy)
                continue
            self.read += 1
            yield Document(path, text)


def read_texts(
    path: str | Path,
    pattern: str = "**/*.txt",
    encoding: str = "utf-8",
    on_error: streams.OnError = "raise",
) -> Texts:
    """Read plain text from a file, or from all files of a folder that match a pattern.

    Line ends come as a newline, whatever they are in the file; a byte order mark is left out.

    Args:
        path: a file or a folder.
        pattern: which files of the folder; "**" means any depth.
        encoding: how their letters are written as bytes.
        on_error: "raise" at the first bad file, or "skip" bad files and count them.

    Returns:
        An iterable of `Document` in the order of their paths, the same on every system; after an
        iteration it says what was read and skipped.

    Raises:
        CourseError: there is no such file or folder, no file matches, the encoding is not known;
            and, while iterating, a file is empty, cannot be read or is of another encoding.
    """
    path = Path(path)
    try:
        "".encode(encoding)
    except LookupError:
        raise CourseError(
            f"There is no text encoding called {encoding!r}.",
            'Pass "utf-8", or for older files for example "latin-1", "cp1252" or "utf-16".',
        ) from None
    if not path.is_dir():
        streams.beginning(path)
        return Texts([path], encoding, on_error)
    try:
        found = [each for each in path.glob(pattern) if each.is_file()]
    except (ValueError, NotImplementedError) as error:
        raise CourseError(
            f"The pattern {pattern!r} cannot be used: {error}.",
            'Pass one such as "**/*.txt", relative to the folder.',
        ) from None
    if not found:
        raise CourseError(
            f"The folder {path} has no file that matches {pattern!r}.",
            'Check the folder, or pass another pattern, for example pattern="**/*.md".',
        )
    return Texts(sorted(found, key=lambda each: each.relative_to(path).parts), encoding, on_error)


def _text(path: Path, encoding: str) -> str:
    """The text of a file.

    Raises:
        CourseError: it is empty, cannot be read or is not of this encoding.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise streams.unreadable(path, error) from None
    if not data:
        raise CourseError(f"The file {path} is empty.", "Remove it, or put its text back.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = streams.spoiled(error, data, encoding)
        guess = (
            "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "cp1252"
        )
        raise CourseError(
            f"Line {line:,} of {path}: {what}.",
            f'Pass its encoding, perhaps encoding="{guess}"; or on_error="skip" to leave such '
            "files out and count them.",
        ) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
