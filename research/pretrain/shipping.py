"""Put a trained model among those that come with the course."""

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.hub import checkpoints
from lmcourse.hub.checkpoints import INDEX, File, Shipped, shipped
from lmcourse.hub.tokenizer import check_known
from lmcourse.models.checkpoint import Model

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


def ship(
    name: str, model: Model, tokenizer: Any, about: str, folder: Path | None = None
) -> Shipped:
    """Add a model to those that come with the course, or replace an earlier one.

    The index is written last. After an interruption, a file's digest may differ from the index's,
    and loading it says so.

    Args:
        name: to load it by: small letters, digits, hyphens.
        tokenizer: a tokenizer that can be saved as a tokenizer.json; or None.
        about: what it is and how it was trained, in a line.

    Raises:
        CourseError: the name is invalid, the tokenizer has tokens that the model does not know, or
            a file cannot be written.
    """
    folder = folder or checkpoints.home()
    if folder is None or not NAME.fullmatch(name):
        raise CourseError(f"{name!r} cannot be shipped.", "Name it as in bookworld-mlm.")
    if tokenizer is not None:
        check_known(tokenizer, model, "The tokenizer")
    written = [folder / f"{name}.safetensors"]
    model.save(written[0])
    if tokenizer is not None:
        written.append(folder / f"{name}.tokenizer.json")
        tokenizer.save(str(written[1]))
    one = Shipped(about, *map(_described, written))
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
