"""The models that come with the course: ``data/checkpoints``, and an index with their digests.

The index is a JSON object: the name to load a model by, and for each

    {"about": "what it is and how it was trained, in a line",
     "model": {"file": "name.safetensors", "size": 1234, "sha256": "…"},
     "tokenizer": {"file": "name.tokenizer.json", "size": 1234, "sha256": "…"}}

where the tokenizer may be null. `ship` writes files and index together.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from lmcourse import course, files
from lmcourse.errors import CourseError
from lmcourse.hub.tokenizer_files import check_known
from lmcourse.hub.verified import Entry, is_whole
from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import Tokenizer

INDEX = "index.json"
OURS = "bookworld-"
"""How the names of the course's own models begin; none of those is looked for elsewhere."""
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


class File(msgspec.Struct, frozen=True):
    """A file beside the index, with its size in bytes."""

    file: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\w[\w.-]*", self.file) or not re.fullmatch(
            "[0-9a-f]{64}", self.sha256
        ):
            raise ValueError(f"{self.file!r} is no file's name, or has no SHA-256")


class Shipped(msgspec.Struct, frozen=True):
    """A model that comes with the course, and what is to be said of it."""

    about: str
    model: File
    tokenizer: File | None = None


def home() -> Path | None:
    """The folder of the models that come with the course; None outside of a checkout."""
    try:
        return course.root() / "data" / "checkpoints"
    except CourseError:
        return None


def shipped(folder: Path | None = None) -> dict[str, Shipped]:
    """What comes with the course, by name.

    Raises:
        CourseError: the index is damaged.
    """
    folder = folder or home()
    path = None if folder is None else folder / INDEX
    if path is None or not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Shipped])
    except (msgspec.DecodeError, RecursionError) as error:
        raise CourseError(f"{path} is damaged: {error}.", _restore(path)) from error


def verified(name: str, folder: Path | None = None) -> tuple[Path, Path | None]:
    """The files of a shipped model and of its tokenizer.

    Raises:
        CourseError: there is no model of this name; a file is not there, or is another one.
    """
    folder = folder or home()
    known = shipped(folder)
    if folder is None or name not in known:
        raise CourseError(
            f"No model {name!r} comes with this course.",
            f"There are: {', '.join(known)}." if known else "In this checkout there is none yet.",
        )
    one = known[name]
    tokenizer = None if one.tokenizer is None else _checked(folder, one.tokenizer, name)
    return _checked(folder, one.model, name), tokenizer


def _checked(folder: Path, file: File, name: str) -> Path:
    path = folder / file.file
    if not path.is_file():
        raise CourseError(f"The file {path} of the model {name!r} is not there.", _restore(path))
    if not is_whole(path, Entry(file.size, f"sha256:{file.sha256}")):
        raise CourseError(
            f"{path} is not the file that came with the course: its SHA-256 is another one.",
            _restore(path),
        )
    return path


def _restore(path: Path) -> str:
    return f"Restore it from the course's repository: git checkout -- {path}"


def ship(
    name: str, model: Model, tokenizer: Tokenizer | None, about: str, folder: Path | None = None
) -> Shipped:
    """Put a model among those that come with the course, or in place of an earlier one.

    The index is written last: until then, an interruption leaves what was there, or a file whose
    digest is not the index's, and that is said when it is loaded.

    Args:
        name: to load it by: small letters, digits, hyphens.
        about: what it is and how it was trained, in a line.

    Raises:
        CourseError: the name is none, the tokenizer has tokens that the model does not know, or a
            file cannot be written.
    """
    folder = folder or home()
    if folder is None or not NAME.fullmatch(name):
        raise CourseError(f"{name!r} cannot be shipped.", "Name it as in bookworld-mlm.")
    if tokenizer is not None:
        check_known(tokenizer, model, "The tokenizer")
    model.save(folder / f"{name}.safetensors")
    if tokenizer is not None:
        tokenizer.save(folder / f"{name}.tokenizer.json")
    one = Shipped(
        about,
        _described(folder / f"{name}.safetensors"),
        None if tokenizer is None else _described(folder / f"{name}.tokenizer.json"),
    )
    index = dict(sorted((shipped(folder) | {name: one}).items()))
    try:
        with files.replacing(folder / INDEX) as file:
            file.write(msgspec.json.format(msgspec.json.encode(index), indent=1) + b"\n")
    except OSError as error:
        raise files.trouble(error, folder / INDEX, "Ship it from a checkout of yours.") from error
    return one


def _described(path: Path) -> File:
    content = path.read_bytes()
    return File(path.name, len(content), hashlib.sha256(content).hexdigest())
