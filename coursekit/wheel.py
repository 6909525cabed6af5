"""The course's package as one file: a wheel with what notebooks import and read.

Notebooks that leave the course (a download of the book, Colab) install it in their first cell.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from coursekit.course import INSTALL
from coursekit.install import ROOT
from lmcourse.errors import CourseError
from lmcourse.files import trouble

_ELSEWHERE = "Make it writable, or work in a checkout of your own."
_FOLDER = "wheel"
_BUILDING = "building-"  # how the folder of a build in progress begins
_STALE_AFTER = 3600  # seconds: such a folder this old belongs to no running command
_SOURCES = (
    "lmcourse",
    "labs",
    "data",
    "pyproject.toml",
    "hatch_build.py",
    "references.bib",
    "README.md",
)
_COMMAND = ("-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")


def build_wheel() -> Path:
    """Build ``_build/wheel/lmcourse-VERSION-py3-none-any.whl``, unless it is there and current.

    Raises:
        CourseError: it cannot be built, or not be written; no half of it is taken for a whole.
    """
    kept = ROOT / "_build" / _FOLDER / _digest()
    if wheel := _wheel(kept):
        return wheel
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=kept.parent, prefix=_BUILDING))
        try:
            _build(folder)
            folder.chmod(0o755)
            _publish(folder, kept)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise trouble(error, kept.parent, _ELSEWHERE) from error
    for other in kept.parent.iterdir():  # what earlier sources gave, and a killed build left
        if other != kept and (not other.name.startswith(_BUILDING) or _is_old(other)):
            shutil.rmtree(other, ignore_errors=True)
    wheel = _wheel(kept)
    assert wheel is not None
    return wheel


def _wheel(folder: Path) -> Path | None:
    """Return the wheel in a folder; None: there is none."""
    return next(folder.glob("*.whl"), None)


def _publish(folder: Path, kept: Path) -> None:
    """Rename a folder with a wheel, unless another command has built the same in the meantime."""
    if kept.exists() and _wheel(kept) is None:  # an empty folder is no wheel
        shutil.rmtree(kept)
    try:
        folder.rename(kept)
    except OSError:
        if _wheel(kept) is None:
            raise


def _is_old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > _STALE_AFTER
    except FileNotFoundError:  # its command has ended
        return False


def _build(folder: Path) -> None:
    command = [sys.executable, *_COMMAND, "--no-build-isolation", "--wheel-dir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    if done.returncode and os.strerror(errno.ENOSPC) in done.stderr + done.stdout:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if done.returncode:
        raise CourseError(
            f"pip cannot build the course's wheel:\n{(done.stderr or done.stdout).strip()}",
            f"{INSTALL} Then try again.",
        )


def _digest() -> str:
    """Return a digest of the names, sizes and times of the files that a wheel is built from."""
    digest = hashlib.sha256()
    for path in sorted(file for name in _SOURCES for file in _files(ROOT / name)):
        status = path.stat()
        line = f"{path.relative_to(ROOT)} {status.st_size} {status.st_mtime_ns}\n"
        digest.update(line.encode())
    return digest.hexdigest()[:12]


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for each in path.rglob("*"):
        if each.is_file() and "__pycache__" not in each.parts:
            yield each
