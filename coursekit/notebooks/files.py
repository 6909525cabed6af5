"""Write what belongs to the reader: whole or not at all, never over what they wrote."""

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from coursekit import course
from lmcourse import files
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


def create(path: Path, data: bytes) -> bool:
    """Write a file whole where there is none; return False if there is one, which is left alone.

    Raises:
        CourseError: the folder or the file cannot be written.
    """
    path = Path(os.path.realpath(path))
    with _temporary(path, data) as temporary:
        return _take(temporary, path)


def replace(path: Path, data: bytes, kept: Path, unchanged: Callable[[Path], bool]) -> bool:
    """Replace a file, and keep the old one; return False if it is not what it was.

    The old file is renamed before it is judged, and the new one never takes a name that is in use:
    whatever another program saves at any moment is at one of the two paths.

    Args:
        kept: where the old file is kept; a number is added to the name.
        unchanged: judges the old file, which no longer has its name.

    Raises:
        CourseError: the folder or the file cannot be written; what was there is unchanged.
    """
    path = Path(os.path.realpath(path))
    if not path.is_file():
        return False
    with _temporary(path, data) as temporary:
        try:
            temporary.chmod(path.stat().st_mode & 0o777)
            kept = _moved(path, kept)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise trouble(error, path) from error
        replaced = False
        try:
            replaced = unchanged(kept) and _take(temporary, path)
        finally:
            if not replaced and _take(kept, path):
                kept.unlink(missing_ok=True)
    return replaced


def _moved(path: Path, kept: Path) -> Path:
    """Rename a file to a name with a number, and return that."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    target = _free(kept.parent, f"{kept.stem}-{{}}{kept.suffix}")
    try:
        return path.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A link leads to another disk: the old file stays on it.
        return path.rename(_free(path.parent, f"{path.stem}.replaced-{{}}{path.suffix}"))


@contextlib.contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    """Write a file beside another one, and remove it in the end."""
    temporary = path.with_name(files.TEMPORARY.format(path.name, f"new-{os.getpid()}"))
    write(temporary, data)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _take(source: Path, path: Path) -> bool:
    """Give a file another name, unless that is in use; return whether it has it."""
    try:
        os.link(source, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if os.path.lexists(path):
            return False
        try:
            source.rename(path)
        except OSError as error:
            raise trouble(error, path) from error
    return True


def move_aside(path: Path, pattern: str) -> Path:
    """Rename a file to the first free name of a pattern, such as ``START.yours-{}.md``.

    Raises:
        CourseError: the file cannot be renamed.
    """
    aside = _free(path.parent, pattern)
    try:
        path.rename(aside)
    except OSError as error:
        raise trouble(error, path) from error
    return aside


def _free(folder: Path, pattern: str) -> Path:
    """Return the first name of a pattern that is not in use."""
    names = (folder / pattern.replace("{}", str(number)) for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))


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
    """Remove temporary files left by a command that was killed an hour ago or earlier."""
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
