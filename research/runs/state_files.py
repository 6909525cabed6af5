"""A state on disk: its tensors in a safetensors file, the rest in a JSON file.

A PyTorch ``state_dict`` is a tree of dictionaries, lists, numbers and tensors. `torch.save` would
pickle it, and loading a pickle can run any code. Here the tensors are taken out of the tree and
named by their paths; the rest is JSON.

The JSON file is written last and contains the digest of the tensors. So a state is complete once
that file exists, and any change to either file is detected.
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
    """A file of a state is not what was written; the message names it and explains how."""


def write_state(folder: Path, name: str, state: Any) -> None:
    """Write ``name.safetensors``, then ``name.json``.

    Raises:
        CourseError: a part of the state is neither tensor, number, string nor a collection.
        OSError: a file cannot be written. Then there is no ``name.json``.
    """
    from safetensors.torch import save

    tensors = _Tensors()
    tree = tensors.extract(state, "state")
    data = save(tensors.named)
    entry = {"tensors": {"bytes": len(data), "sha256": _sha256(data)}, "state": tree}
    text = json.dumps({"sha256": _sha256(_canonical(entry)), **entry}, indent=1)
    with replacing(folder / f"{name}.safetensors") as file:
        file.write(data)
    with replacing(folder / f"{name}.json") as file:
        file.write(text.encode())


def read_state(folder: Path, name: str) -> Any:
    """The state that `write_state` wrote, with tensors on the CPU.

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
    written = {"bytes": len(data), "sha256": _sha256(data)}
    if written != entry["tensors"]:
        raise Damaged(f"{path} has another size or SHA-256 than when it was written{_kind(data)}")
    return _insert(entry["state"], load(data))


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
    """A remark if a file is a pickle, or an archive with one, as `torch.save` writes it."""
    if data[:2] == b"PK" or (data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05"):
        return "; it is a pickle, which can run any code when it is loaded, and was not loaded"
    return ""


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _canonical(entry: dict[str, Any]) -> bytes:
    """The same text for the same value, however the file is formatted."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()


class _Tensors:
    """The tensors of a tree by their paths in it; those that share memory are stored once."""

    def __init__(self) -> None:
        self.named: dict[str, Tensor] = {}
        self._names: dict[tuple[Any, ...], str] = {}  # by the memory of a tensor

    def extract(self, value: Any, path: str) -> Any:
        """The tree in JSON, with the names of tensors instead of them."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Tensor):
            key = (value.data_ptr(), value.device, value.dtype, tuple(value.shape), value.stride())
            if not value.numel() or key not in self._names:
                self._names[key] = self._stored(value.detach().cpu().contiguous(), path)
            return {"tensor": self._names[key]}
        if isinstance(value, np.ndarray):
            return {"array": self._stored(torch.from_numpy(np.ascontiguousarray(value)), path)}
        if isinstance(value, list | tuple):
            parts = [self.extract(part, f"{path}.{at}") for at, part in enumerate(value)]
            return parts if isinstance(value, list) else {"tuple": parts}
        if isinstance(value, dict):
            pairs = [
                [self.extract(key, f"{path}.key"), self.extract(part, f"{path}.{key}")]
                for key, part in value.items()
            ]
            if isinstance(value, Counter):
                return {"counter": pairs}
            plain = all(isinstance(key, str) for key in value) and not set(value) & set(_TAGS)
            return dict(pairs) if plain else {"dict": pairs}
        raise CourseError(
            f"A checkpoint cannot contain {path}: {value!r:.80} has the type "
            f"{type(value).__name__}.",
            "Use only tensors, numbers, strings, and lists, tuples and dictionaries of them.",
        )

    def _stored(self, tensor: Tensor, path: str) -> str:
        """Store the tensor under a unique name, and return it."""
        while path in self.named:  # "a.b", and "b" in "a"
            path += "'"
        self.named[path] = tensor
        return path


def _insert(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree that `_Tensors.extract` converted."""
    if isinstance(tree, list):
        return [_insert(part, tensors) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1 or next(iter(tree)) not in _TAGS:
        return {key: _insert(part, tensors) for key, part in tree.items()}
    (tag, content), *_ = tree.items()
    if tag == "tensor":
        return tensors[content].clone()  # an optimizer may change it in place
    if tag == "array":
        return tensors[content].numpy().copy()
    parts = _insert(content, tensors)
    if tag == "tuple":
        return tuple(parts)
    return Counter(dict(parts)) if tag == "counter" else dict(parts)


def differences(there: Any, here: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Where two trees without tensors differ: each path, and a sentence with both values."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}, key=str):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(there.get(key), here.get(key), inner)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for at, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from differences(one, other, f"{path}[{at}]")
    elif there != here:
        one, other = repr(there), repr(here)
        pairs = enumerate(zip(one, other, strict=False))
        at = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
        yield path, f"{path} was {_around(one, at)} and is {_around(other, at)}"


def _around(text: str, at: int) -> str:
    """Some 60 characters of the text around a position."""
    start = max(0, at - 30) if len(text) > 60 else 0
    end = start + 60
    return "…" * (start > 0) + text[start:end] + "…" * (len(text) > end)
