"""The course's package as one file: a wheel with what notebooks import and read.

Notebooks that leave the course (a download of the book, Colab) install it in their first cell.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from coursekit.course import INSTALL
from coursekit.install import ROOT
from lmcourse.errors import CourseError

_FOLDER = "wheel"
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
        CourseError: it cannot be built.
    """
    kept = ROOT / "_build" / _FOLDER / _digest()
    if not kept.is_dir():
        shutil.rmtree(kept.parent, ignore_errors=True)
        kept.parent.mkdir(parents=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            _build(Path(folder))
            shutil.copytree(folder, kept)
    (wheel,) = kept.glob("*.whl")
    return wheel


def _build(folder: Path) -> None:
    command = [sys.executable, *_COMMAND, "--no-build-isolation", "--wheel-dir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
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
