"""What commands record in ``data``: the results of their runs, and pages that are made of them."""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from lmcourse import files
from lmcourse.errors import CourseError
from research.pretrain.records import Machine

RESULTS, PAGE = "results.json", "README.md"
ELSEWHERE = "Make the checkout writable, or work in a checkout of your own."
T = TypeVar("T")


@runtime_checkable
class Timed(Protocol):
    """A result that says how long its run took, in seconds of the CPU, and where."""

    @property
    def cpu_seconds(self) -> float: ...

    @property
    def scoring_seconds(self) -> float: ...

    @property
    def machine(self) -> Machine: ...


def digest_of(content: Any) -> str:
    """An identification of what JSON can express, such as everything that decides a run."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path, kind: type[T]) -> T | None:
    """The results in a file, if it is there.

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


def write(contents: Mapping[str, bytes | msgspec.Struct], folder: Path) -> None:
    """Write files, each at once or not at all.

    Args:
        contents: by the files' names; a structure is written as JSON.

    Raises:
        CourseError: they cannot be written.
    """
    for name, content in contents.items():
        data = content if isinstance(content, bytes) else _json(content)
        try:
            with files.replacing(folder / name) as file:
                file.write(data)
        except OSError as error:
            raise files.trouble(error, folder / name, ELSEWHERE) from error


def cost(runs: Collection[Timed]) -> str:
    """A sentence on the number of runs, their time and their machines."""
    hours = sum(it.cpu_seconds + it.scoring_seconds for it in runs) / 3600
    machines = sorted({machine_said(it.machine) for it in runs})
    return f"{len(runs)} runs, {hours:.1f} hours of one core in all ({'; '.join(machines)})."


def machine_said(one: Machine) -> str:
    """A machine in a line: "cpu, 1 thread, Python 3.11.7, PyTorch 2.13.0"."""
    threads = f"{one.threads} thread{'s' * (one.threads != 1)}"
    return f"{one.device}, {threads}, Python {one.python}, PyTorch {one.pytorch}"


def _json(content: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
