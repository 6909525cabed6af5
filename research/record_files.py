"""Results that a command records: read with their errors, written at once, and where they ran."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from lmcourse import files
from lmcourse.errors import CourseError
from research.pretrain.records import Machine

ELSEWHERE = "Make the checkout writable, or work in a checkout of your own."
R = TypeVar("R")


def read(path: Path, kind: type[R]) -> R | None:
    """The record in a file, if there is one.

    Raises:
        CourseError: the file cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(
            f"The results {path} cannot be read: {error}.",
            f"Restore the file (git checkout -- {path}), or move it away.",
        ) from error


def write(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write files by their names, each at once or not at all.

    Raises:
        CourseError: they cannot be written.
    """
    for name, data in contents.items():
        try:
            with files.replacing(folder / name) as file:
                file.write(data)
        except OSError as error:
            raise files.trouble(error, folder / name, ELSEWHERE) from error


def as_json(content: msgspec.Struct) -> bytes:
    """A record as it is written."""
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def machine_said(one: Machine) -> str:
    """A machine in a line: "cpu, 1 thread, Python 3.11.7, PyTorch 2.13.0"."""
    threads = f"{one.threads} thread{'s' * (one.threads != 1)}"
    return f"{one.device}, {threads}, Python {one.python}, PyTorch {one.pytorch}"
