"""Plain text: a file, or a folder of them, one document after the other."""

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


def read_texts(
    path: str | Path, pattern: str = "**/*.txt", encoding: str = "utf-8"
) -> Iterator[Document]:
    """Read plain text from a file, or from all files of a folder that match a pattern.

    Line ends come as a newline, whatever they are in the file; a byte order mark is left out.

    Args:
        path: a file or a folder.
        pattern: which files of the folder; "**" means any depth.
        encoding: how their letters are written as bytes.

    Returns:
        The documents in the order of their paths, the same on every system.

    Raises:
        CourseError: there is no such file or folder, or no file matches; and, while iterating, a
            file cannot be read or is of another encoding.
    """
    path = Path(path)
    found = [path]
    if not path.is_dir():
        streams.beginning(path)
    elif not (found := [each for each in path.glob(pattern) if each.is_file()]):
        raise CourseError(
            f"The folder {path} has no file that matches {pattern!r}.",
            'Check the folder, or pass another pattern, for example pattern="**/*.md".',
        )
    found.sort(key=lambda each: each.relative_to(path).parts)
    return (Document(each, _text(each, encoding)) for each in found)


def _text(path: Path, encoding: str) -> str:
    """The text of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise streams.unreadable(path, error) from None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CourseError(
            f"Line {line:,} of {path}: {streams.spoiled(error, data, encoding)}.",
            'Pass its encoding, for example encoding="cp1252" or "utf-16".',
        ) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
