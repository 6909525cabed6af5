"""The models that come with the course: ``data/checkpoints``, and an index with their digests.

The index is a JSON object: the name to load a model by, and for each

    {"about": "what it is and how it was trained, in a line",
     "model": {"file": "name.safetensors", "size": 1234, "sha256": "…"},
     "tokenizer": {"file": "name.tokenizer.json", "size": 1234, "sha256": "…"}}

where the tokenizer may be null.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from lmcourse import checkout
from lmcourse.errors import CourseError

INDEX = "index.json"
OURS = "bookworld-"
"""The prefix of the names of the course's models; those are looked for nowhere else."""


class File(msgspec.Struct, frozen=True):
    """A file beside the index, with its size in bytes."""

    file: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        digest = re.fullmatch("[0-9a-f]{64}", self.sha256)
        if not digest or not re.fullmatch(r"\w[\w.-]*", self.file):
            raise ValueError(f"{self.file!r} is not the name of a file, or has no SHA-256")


class Shipped(msgspec.Struct, frozen=True):
    """A model that comes with the course, and a line about it."""

    about: str
    model: File
    tokenizer: File | None = None


def home() -> Path | None:
    """The folder of the models that come with the course; None without checkout and wheel."""
    try:
        return checkout.shared("data/checkpoints")
    except CourseError:
        return None


def shipped(folder: Path | None = None) -> dict[str, Shipped]:
    """The models that come with the course, by name."""
    folder = folder or home()
    path = None if folder is None else folder / INDEX
    if path is None or not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Shipped])
    except (msgspec.DecodeError, RecursionError) as error:
        raise CourseError(f"{path} is damaged: {error}.", _restore(path)) from error


def verified(name: str) -> tuple[Path, Path | None]:
    """The files of a shipped model and of its tokenizer."""
    known, folder = shipped(), home()
    if folder is None or name not in known:
        raise CourseError(
            f"No model {name!r} comes with this course.",
            f"There are: {', '.join(known)}." if known else "In this checkout there is none yet.",
        )
    for file in filter(None, (known[name].model, known[name].tokenizer)):
        path = folder / file.file
        if not path.is_file():
            raise CourseError(
                f"The file {path} of the model {name!r} is not there.", _restore(path)
            )
        with path.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:
                raise CourseError(
                    f"{path} is not the file that came with the course: its SHA-256 differs.",
                    _restore(path),
                )
    tokenizer = known[name].tokenizer
    return folder / known[name].model.file, folder / tokenizer.file if tokenizer else None


def _restore(path: Path) -> str:
    return f"Restore it from the course's repository: git checkout -- {path}"
