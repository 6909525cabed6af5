"""A state on disk: its tensors in a safetensors file, all else as JSON beside it.

What PyTorch's objects give as their ``state_dict`` is a tree of dictionaries, lists, numbers and
tensors. `torch.save` would pickle it, and a pickle can run any code when it is opened. Here the
tensors are taken out of the tree and named by their places in it; what is left is JSON.

The JSON is written last, and it has the digest of the tensors. So a state is whole once its JSON is
there, and a byte that changes later, in either file, is noticed.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.files import replacing

_TAGS = ("tensor", "array", "tuple", "dict", "counter")


class Damaged(Exception):
    """A file of a state is not what was written; the message says which, and how one sees it."""


def write_state(folder: Path, name: str, state: Any) -> None:
    """Write ``name.safetensors``, then ``name.json``.

    Raises:
        CourseError: something in the state is neither tensor, number, text nor a collection.
        OSError: a file cannot be written. Then there is no ``name.json``.
    """
    from safetensors.torch import save

    apart = _Tensors()
    tree = apart.taken_out(state, "state")
    data = save(apart.tensors)
    entry = {"tensors": {"bytes": len(data), "sha256": _sha256(data)}, "state": tree}
    text = json.dumps({"sha256": _sha256(_canonical(entry)), **entry}, indent=1)
    with replacing(folder / f"{name}.safetensors") as file:
        file.write(data)
    with replacing(folder / f"{name}.json") as file:
        file.write(text.encode())


def read_state(folder: Path, name: str) -> Any:
    """What `write_state` wrote, tensors on the CPU.

    Raises:
        Damaged: a file is missing, or is not what was written.
        OSError: a file cannot be read.
    """
    from safetensors.torch import load

    entry = _entry(folder / f"{name}.json")
    path = folder / f"{name}.safetensors"
    if not path.is_file():
        raise Damaged(f"{path} is missing")
    data = path.read_bytes()
    said = entry["tensors"]
    if len(data) != said["bytes"]:
        raise Damaged(
            f"{path} has {len(data):,} bytes, and {said['bytes']:,} were written{_kind(data)}"
        )
    if _sha256(data) != said["sha256"]:
        raise Damaged(f"{path} has another SHA-256 than what was written{_kind(data)}")
    return _put_back(entry["state"], load(data))


def _entry(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    try:
        entry = json.loads(content)
        digest = entry.pop("sha256")
        if digest == _sha256(_canonical(entry)):
            return entry
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        pass
    raise Damaged(f"{path} is not what was written{_kind(content)}")


def _kind(data: bytes) -> str:
    """Say it where a file is a pickle, or the archive of one that `torch.save` writes."""
    if data[:2] == b"PK" or (data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05"):
        return "; it is a pickle, which can run any code when it is opened, and was not opened"
    return ""


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _canonical(entry: dict[str, Any]) -> bytes:
    """One text for one value, however it is laid out in the file."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()


class _Tensors:
    """The tensors of a tree by their places in it; what memory two of them share is stored once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._names: dict[tuple[Any, ...], str] = {}  # of each piece of memory

    def taken_out(self, value: Any, place: str) -> Any:
        """The tree as JSON has it."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Tensor):
            key = (value.data_ptr(), value.device, value.dtype, tuple(value.shape), value.stride())
            if not value.numel() or key not in self._names:
                self._names[key] = self._stored(value.detach().cpu().contiguous(), place)
            return {"tensor": self._names[key]}
        if isinstance(value, np.ndarray):
            return {"array": self._stored(torch.from_numpy(np.ascontiguousarray(value)), place)}
        if isinstance(value, list | tuple):
            parts = [self.taken_out(part, f"{place}.{at}") for at, part in enumerate(value)]
            return parts if isinstance(value, list) else {"tuple": parts}
        if isinstance(value, dict):
            pairs = [
                [self.taken_out(key, f"{place}.key"), self.taken_out(part, f"{place}.{key}")]
                for key, part in value.items()
            ]
            if isinstance(value, Counter):
                return {"counter": pairs}
            plain = all(isinstance(key, str) for key in value) and not set(value) & set(_TAGS)
            return dict(pairs) if plain else {"dict": pairs}
        raise CourseError(
            f"A checkpoint cannot hold {place}: {value!r:.80} is of the type "
            f"{type(value).__name__}.",
            "Keep there only tensors, numbers, text, and lists, tuples and dictionaries of them.",
        )

    def _stored(self, tensor: Tensor, place: str) -> str:
        """Store the tensor under a name of its own, and say which."""
        while place in self.tensors:  # "a.b", and "b" in "a"
            place += "'"
        self.tensors[place] = tensor
        return place


def _put_back(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree that `_Tensors` took apart."""
    if isinstance(tree, list):
        return [_put_back(part, tensors) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1 or next(iter(tree)) not in _TAGS:
        return {key: _put_back(part, tensors) for key, part in tree.items()}
    (tag, content), *_ = tree.items()
    if tag == "tensor":
        return tensors[content].clone()  # in memory of its own, which an optimizer may change
    if tag == "array":
        return tensors[content].numpy().copy()
    parts = _put_back(content, tensors)
    if tag == "tuple":
        return tuple(parts)
    return Counter(dict(parts)) if tag == "counter" else dict(parts)


def differences(there: Any, here: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Where two trees without tensors differ: each place, and what stands there in both."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}, key=str):
            inner = f"{place}.{key}" if place else str(key)
            yield from differences(there.get(key), here.get(key), inner)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for at, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from differences(one, other, f"{place}[{at}]")
    elif there != here:
        one, other = repr(there), repr(here)
        same = (first == second for first, second in zip(one, other, strict=False))
        at = next((at for at, equal in enumerate(same) if not equal), min(len(one), len(other)))
        yield place, f"{place} was {_around(one, at)} and is {_around(other, at)}"


def _around(text: str, at: int) -> str:
    """Some 60 characters of the text around a place in it."""
    start = max(0, at - 30) if len(text) > 60 else 0
    end = start + 60
    return "…" * (start > 0) + text[start:end] + "…" * (len(text) > end)
