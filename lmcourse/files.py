"""Write files so that an interruption, a full disk or a read-only folder loses nothing."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lmcourse.errors import CourseError

TEMPORARY = ".lmcourse-{}-{}.tmp"  # the file's name, the process


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of another when all of it is written, or never.

    It stands beside that other one until the block ends well; then it is renamed. Where the path is
    a link, what it points to is replaced.

    Raises:
        OSError: the folder or the file cannot be written, or what is there is no ordinary file (a
            folder, a device); it is unchanged.
    """
    path = _ordinary(path)
    temporary = path.with_name(TEMPORARY.format(path.name, os.getpid()))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _ordinary(path: Path) -> Path:
    """Where a file is, or will be, links followed.

    Raises:
        OSError: something else is there, or no file can have this name.
    """
    try:
        real = Path(os.path.realpath(path))
        other = real.exists() and not real.is_file()
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, f"no file can have this name ({error})") from error
    if other or not real.name:
        raise OSError(errno.EINVAL, "that is no ordinary file, but a folder or a device")
    return real


def trouble(error: OSError, path: Path, elsewhere: str) -> CourseError:
    """Say in words what went wrong with writing a file or folder, and what helps.

    Args:
        elsewhere: the sentence that says where the reader may write instead.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CourseError(
            f"The disk is full: {path} could not be written, and what was there is unchanged.",
            "Free some space and run the command again.",
        )
    if isinstance(error, FileExistsError | NotADirectoryError):
        blocking = next((p for p in (path, *path.parents) if p.exists() and not p.is_dir()), path)
        return CourseError(
            f"A folder is needed where the file {blocking} stands.",
            f"Rename that file and run the command again. {elsewhere}",
        )
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return CourseError(f"You may not write {path}.", elsewhere)
    return CourseError(f"{path} could not be written: {error.strerror or error}.", elsewhere)
