"""Write what belongs to the reader: whole or not at all, never over what they wrote."""

import itertools
import os
import time
from pathlib import Path

from lmcourse import course, files
from lmcourse.errors import CourseError

_STALE_AFTER = 3600  # seconds: a temporary file this old belongs to no running command


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a temporary file beside it, then a rename.

    Raises:
        CourseError: the folder or the file cannot be written; what was there is unchanged.
    """
    try:
        with files.replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise trouble(error, path) from error


def move_aside(path: Path, pattern: str) -> Path:
    """Rename a file to the first free name of a pattern, such as ``START.yours-{}.md``.

    Raises:
        CourseError: the file cannot be renamed.
    """
    names = (path.with_name(pattern.format(number)) for number in itertools.count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    try:
        path.rename(aside)
    except OSError as error:
        raise trouble(error, path) from error
    return aside


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner can read (mode 0700), and return it.

    Raises:
        CourseError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise trouble(error, folder) from error
    return folder


def sweep(folder: Path) -> None:
    """Remove temporary files that a killed command left behind, an hour ago or earlier."""
    for left in folder.glob(files.TEMPORARY.format("*", "*")):
        try:
            if time.time() - left.stat().st_mtime > _STALE_AFTER:
                left.unlink()
        except OSError:
            continue  # another command swept it, or the folder is read-only: it does no harm


def trouble(error: OSError, path: Path) -> CourseError:
    """Say in words what went wrong with a file or folder of the reader's, and what helps."""
    elsewhere = (
        "Set LMCOURSE_WORKBOOK to a folder of your own, for example "
        "`make lab LMCOURSE_WORKBOOK=~/lmcourse-workbook`."
    )
    if path.absolute().is_relative_to(course.products()):
        elsewhere = "Make it writable, or work in a checkout of your own."
    return files.trouble(error, path, elsewhere)
