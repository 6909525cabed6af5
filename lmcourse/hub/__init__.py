"""One way to get weights: `load` takes a name or a path and gives a model with its tokenizer.

    hub.load("bookworld-mlm")           # comes with the course
    hub.load("model.safetensors")       # what model.save wrote
    hub.load("folder")                  # that beside a tokenizer.json; or what transformers saved
    hub.load("bert-base-uncased")       # the Hugging Face hub's, in our class

Wherever weights come from, they are read from safetensors files, which hold numbers and no code,
and what was published with a digest is held against it at every load.
"""

import os
import sys
from pathlib import Path
from typing import Any, TypeVar, overload

import torch

from lmcourse import devices
from lmcourse.errors import CourseError
from lmcourse.hub.cached import downloaded, parts_of
from lmcourse.hub.checkpoints import OURS, ship, shipped, verified
from lmcourse.hub.loaded import Loaded, from_parts
from lmcourse.hub.local import from_path, own_pair
from lmcourse.hub.repository import Address
from lmcourse.models.checkpoint import Model

__all__ = ["Loaded", "downloaded", "load", "ship", "shipped"]

M = TypeVar("M", bound=Model)


@overload
def load(
    name: str | Path,
    kind: type[M],
    *,
    revision: str | None = None,
    device: str | torch.device | None = None,
    offline: bool | None = None,
    update: bool = False,
    progress: bool = True,
) -> Loaded[M]: ...


@overload
def load(
    name: str | Path,
    kind: None = None,
    *,
    revision: str | None = None,
    device: str | torch.device | None = None,
    offline: bool | None = None,
    update: bool = False,
    progress: bool = True,
) -> Loaded[Any]: ...


def load(
    name: str | Path,
    kind: type[Model] | None = None,
    *,
    revision: str | None = None,
    device: str | torch.device | None = None,
    offline: bool | None = None,
    update: bool = False,
    progress: bool = True,
) -> Loaded[Any]:
    """A model and its tokenizer, by one name or path.

    A name is looked for in this order: among what comes with the course, as a file or folder, on
    the Hugging Face hub (at ``HF_ENDPOINT``, if that is set). A model of the hub is downloaded
    once; later calls make no request, and give the same version until ``update`` is asked for.
    Weights in half precision are given in single precision.

    Args:
        name: as ``bookworld-mlm``; a path; ``bert-base-uncased``, ``organization/name``, or either
            with ``@revision``.
        kind: our class that is to take the weights in, such as `BertForPreTraining`; None: the one
            that they were saved from. A head that they lack is not made up: ``kind.on_top_of`` puts
            a new one on what was loaded.
        revision: a branch, tag, commit or pull request of the hub's repository.
        device: where the model goes; None: it stays on the CPU.
        offline: make no request; None: only if ``HF_HUB_OFFLINE`` is set.
        update: ask the hub whether there is a newer version.
        progress: show a bar while something is downloaded, on a terminal or in a notebook.

    Raises:
        CourseError: ``kind`` is no class of ours; there is no such model, or no network to get it
            through; a file is damaged, is not what it was announced to be, or has weights as a
            pickle only; it is no model of ours, or not of this class.
    """
    _check_device(device)
    _check_kind(kind)
    found = _load(name, kind, revision, offline, update, progress)
    if device is not None:
        found.model.to(device)
    return found


def _load(
    name: str | Path,
    kind: type[Model] | None,
    revision: str | None,
    offline: bool | None,
    update: bool,
    progress: bool,
) -> Loaded[Any]:
    if not isinstance(name, str | Path) or not str(name):
        raise CourseError(f"{name!r} is no name and no path.", 'Give one: "bert-base-uncased".')
    if isinstance(name, str) and _is_shipped(name):
        return own_pair(*verified(name), kind, name)
    path = Path(os.path.expanduser(name))  # noqa: PTH111 (which leaves what names no user)
    if path.exists() or _is_path(name):
        if revision is not None:
            raise CourseError(
                f"{path} is a path, and only repositories on the hub have a revision.",
                "Leave revision out; for a repository of this name, load it from another folder.",
            )
        return _from_path(name, path, kind)
    if str(name).startswith(OURS):
        verified(str(name))  # which says what there is
    from huggingface_hub import is_offline_mode

    address = Address.of(str(name), revision)
    offline = is_offline_mode() if offline is None else offline
    parts, commit = parts_of(address, offline=offline, update=update, progress=progress)
    return from_parts(parts, kind, str(address), commit)


def _is_shipped(name: str) -> bool:
    """Whether a model comes with the course; where the index is damaged, none but its own does."""
    try:
        return name in shipped()
    except CourseError as error:
        if name.startswith(OURS):
            raise
        print(error, file=sys.stderr)
        return False


def _from_path(name: str | Path, path: Path, kind: type[Model] | None) -> Loaded[Any]:
    """A path's model; where a model of the hub may have been meant, an error says so."""
    try:
        return from_path(path, kind)
    except CourseError as error:
        if _is_path(name):
            raise
        hidden = f"A model of the hub named {str(name)!r} is hidden by {path.absolute()}"
        raise CourseError(
            error.cause, f"{error.remedy} {hidden}; load that from another folder."
        ) from error


def _is_path(name: str | Path) -> bool:
    """Whether a name that no file has can be nothing else than a path."""
    text = str(name)
    path = isinstance(name, Path) or Path(text).is_absolute() or text.startswith((".", "~"))
    return path or text.endswith(".safetensors")


def _check_kind(kind: Any) -> None:
    """See that a class is one that can be loaded, before anything is downloaded.

    Raises:
        CourseError: it is none of ours.
    """
    ours = isinstance(kind, type) and issubclass(kind, Model) and hasattr(kind, "Config")
    if kind is not None and not ours:
        told = kind.__qualname__ if isinstance(kind, type) else f"{kind!r:.60}"
        raise CourseError(
            f"kind={told} is no class of lmcourse.models.",
            "Give the class itself, such as BertForMaskedLM, or leave it out.",
        )


def _check_device(device: str | torch.device | None) -> None:
    """See that a device is there, before anything is downloaded.

    Raises:
        CourseError: it is not, or is none.
    """
    try:
        kind = "cpu" if device is None else torch.device(device).type
    except (RuntimeError, TypeError) as error:
        raise CourseError(f"{device!r} is no device.", 'Give "cpu", "cuda" or "mps".') from error
    if kind not in (*devices.available(), "meta"):
        raise CourseError(
            f"There is no device {kind!r} here.",
            f"Give one of {', '.join(devices.available())}, or none.",
        )
