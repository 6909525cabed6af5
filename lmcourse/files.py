"""Where files are kept, and how: interruptions, full disks, read-only folders lose nothing."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lmcourse.errors import CourseError

TEMPORARY = ".lmcourse-{}-{}.tmp"  # name of the file, process id
HTML_MARK = b'<meta name="generator" content="lmcourse">'  # in the head of each page that is saved
_NEAR = 8192  # bytes at either end of a file in which its mark is


def cache_folder() -> Path:
    """The folder of downloads: ``LMCOURSE_CACHE``, or the user's cache folder."""
    import pooch

    chosen = os.environ.get("LMCOURSE_CACHE")
    return expanded(chosen) if chosen else Path(pooch.os_cache("lmcourse"))


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with ``~`` and ``~user`` replaced by that folder.

    A shell leaves them as they are in ``--output=~/page.html`` and within quotes.

    Raises:
        CourseError: there is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise CourseError(
            f"The path {path} begins with the folder of a user who is not known here.",
            f"Write the whole path, or ./{path} for a file of that name.",
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces another one when the block ends without an error.

    If the path is a link, its target is replaced. The new file has the old one's permissions.

    Raises:
        OSError: the folder or the file cannot be written, or the path is not a regular file (but a
            folder or a device); it is unchanged.
    """
    path = _ordinary(path)
    temporary = path.with_name(TEMPORARY.format(path.name, os.getpid()))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def require_own(path: Path, mark: bytes, remedy: str) -> None:
    """Raise if a file is there that the course did not write: an output never replaces it.

    Args:
        path: where something is to be written. An empty file may be replaced.
        mark: what files of this kind that the course wrote have near their beginning or end.
        remedy: a sentence on what to do.
    """
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            start = file.read(_NEAR)
            file.seek(max(0, path.stat().st_size - _NEAR))
            end = file.read()
    except (OSError, ValueError):  # writing it fails as well, and says why
        return
    if start and mark not in start and mark not in end:
        raise CourseError(
            f"{path} is a file that this course did not write; it is unchanged.", remedy
        )


def require_writable(path: Path, elsewhere: str) -> None:
    """Raise if a file cannot be written: before the work whose result it is to hold.

    Args:
        elsewhere: see `trouble`.
    """
    try:
        folder = next(each for each in _ordinary(path).parents if each.exists())
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise trouble(error, path, elsewhere) from error


def _ordinary(path: Path) -> Path:
    """Return the path with links resolved."""
    try:
        real = Path(os.path.realpath(path))
        other = real.exists() and not real.is_file()
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, f"this is not a valid file name ({error})") from error
    if other or not real.name:
        raise OSError(errno.EINVAL, "this is not a regular file, but a folder or a device")
    return real


def trouble(error: OSError, path: Path, elsewhere: str) -> CourseError:
    """Return the error for a file or folder that could not be written.

    Args:
        elsewhere: a sentence on where to write instead.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CourseError(
            f"The disk is full: {path} could not be written and is unchanged.",
            "Free some space and run the command again.",
        )
    if isinstance(error, FileExistsError | NotADirectoryError):
        blocking = next((p for p in (path, *path.parents) if p.exists() and not p.is_dir()), path)
        return CourseError(
            f"{blocking} is a file, but a folder is needed there.",
            f"Rename that file and run the command again. {elsewhere}",
        )
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return CourseError(f"You may not write {path}.", elsewhere)
    return CourseError(f"{path} could not be written: {error.strerror or error}.", elsewhere)
