"""One way to get weights: `load` takes a name or a path and returns a model with its tokenizer.

    hub.load("bookworld-mlm")           # comes with the course
    hub.load("model.safetensors")       # what model.save wrote
    hub.load("folder")                  # that beside a tokenizer.json; or what transformers saved
    hub.load("bert-base-uncased")       # the Hugging Face hub's, in the course's class
    hub.load("minilm")                  # pretrained on English, if `lmcourse real install` was run
    hub.vectors("glove-6b-50d")         # likewise: word vectors
    hub.real("a tagger", "brown")       # either of these or a corpus; None if it is not installed

All weights are read from safetensors files, which hold numbers and no code, and files that were
published with a digest are checked against it at every load.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lmcourse import devices, releases
from lmcourse.corpus.brown import Brown
from lmcourse.corpus.mails import Mails
from lmcourse.corpus.vectors import WordVectors
from lmcourse.errors import CourseError
from lmcourse.hub.checkpoints import OURS, shipped, verified
from lmcourse.hub.contents import CONFIG, SETTINGS, WEIGHTS, needed
from lmcourse.hub.loaded import Loaded
from lmcourse.hub.repository import Address, downloaded, snapshot
from lmcourse.hub.tokenizer import from_file, from_folder
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion.published import class_named, read_model
from lmcourse.models.weights import read_header
from lmcourse.releases import RELEASES

__all__ = ["Loaded", "downloaded", "load", "real", "shipped", "vectors"]

WORDS, VECTORS = "words.txt", "vectors.npy"  # a release with word vectors has these files
CORPORA: dict[str, type[Brown | Mails]] = {"brown": Brown, "mails": Mails}


def load(
    name: str | Path,
    kind: type[Model] | None = None,
    *,
    revision: str | None = None,
    device: str | torch.device | None = None,
    offline: bool | None = None,
    update: bool = False,
    progress: bool = True,
) -> Loaded:
    """A model and its tokenizer, by one name or path.

    A name is looked for in this order: among the models that come with the course, as a file or
    folder, among those of `lmcourse.releases`, on the Hugging Face hub (at ``HF_ENDPOINT``, if
    that is set). A model of the hub is
    downloaded once; later calls make no request, and return the same version until ``update``.
    Weights in half precision are converted to single precision.

    Args:
        name: as ``bookworld-mlm``; a path; ``bert-base-uncased``, ``organization/name``, or either
            with ``@revision``.
        kind: the course's class for the weights, such as `BertForPreTraining`; None: the one that
            they were saved from. A head that they lack is not initialized: ``kind.on_top_of`` adds
            a new one to what was loaded.
        revision: a branch, tag, commit or pull request of the hub's repository.
        device: where the model goes; None: it stays on the CPU.
        offline: make no request; None: only if ``HF_HUB_OFFLINE`` is set.
        update: ask the hub for a newer version.
        progress: show a progress bar for downloads, on a terminal or in a notebook.

    Raises:
        CourseError: ``kind`` is not a class of the course; there is no such model, or no network to
            download it; a file is damaged, is not what was announced, or has its weights as a
            pickle only; the model is not one of the course's, or not of this class.
    """
    _check(name, kind, device)
    text, path = str(name), Path(os.path.expanduser(name))  # noqa: PTH111 (leaves unknown users)
    a_path = isinstance(name, Path) or path.is_absolute() or text.startswith((".", "~"))
    if text.startswith(OURS) and not a_path and (text in shipped() or not path.exists()):
        found = _own(*verified(text), kind, text)
    elif a_path or text.endswith(".safetensors") or path.exists():
        if revision is not None:
            cause = f"{path} is a path, and only repositories on the hub have a revision."
            raise CourseError(cause, "Leave revision out, or load from another folder.")
        found = _at(path, kind)
    elif text in CORPORA or _is_vectors(text):
        remedy = f'hub.real("what the cell shows", "{text}") reads it.'
        raise CourseError(f"{text} is no model, but {RELEASES[text].about}.", remedy)
    elif text in RELEASES:
        found = _published(releases.verified(text), kind, text)
    else:
        from huggingface_hub import is_offline_mode

        address = Address.of(text, revision)
        offline = is_offline_mode() if offline is None else offline
        folder, commit = snapshot(address, offline=offline, update=update, progress=progress)
        found = _published(folder, kind, str(address), commit)
    if device is not None:
        found.model.to(device)
    return found


def vectors(name: str = "glove-6b-50d") -> WordVectors:
    """Pretrained word vectors by name, float32 of shape (words, width), mapped from the disk.

    The most frequent words are first. Files of your own are read by
    `lmcourse.corpus.vectors.read_vectors`.

    Raises:
        CourseError: there are no such vectors, they are not installed, or a file is damaged.
    """
    if not _is_vectors(name):
        known = ", ".join(filter(_is_vectors, RELEASES))
        remedy = f"There are: {known}. A file of yours: lmcourse.corpus.vectors.read_vectors(path)."
        raise CourseError(f"There are no word vectors called {name!r}.", remedy)
    folder = releases.verified(name)
    words = (folder / WORDS).read_text(encoding="utf-8").split("\n")[:-1]
    return WordVectors(words, np.load(folder / VECTORS, mmap_mode="r"))


def real(shows: str, name: str | None = None) -> Any:
    """What the course's cells on real English use: an encoder, word vectors, or a corpus.

    Where it is not installed or is hidden (``LMCOURSE_REAL=off``), a line says what the cell leaves
    out, and the result is None.

    Args:
        shows: what the cell shows, for that line.
        name: word vectors or a corpus of `lmcourse.releases`, such as ``brown``; None: the model
            that ``LMCOURSE_MODEL`` names, such as ``bert-base-uncased``, or ``minilm``.
    """
    name = name or os.environ.get("LMCOURSE_MODEL") or "minilm"
    if releases.hidden() or (name in RELEASES and not releases.installed(name)):
        print(f"Left out: {shows}. {releases.REMEDY}")
        return None
    if name in CORPORA:
        return CORPORA[name]()
    return vectors(name) if _is_vectors(name) else load(name)


def _is_vectors(name: str) -> bool:
    return name in RELEASES and VECTORS in RELEASES[name].files


def _check(name: Any, kind: Any, device: Any) -> None:
    """Check the arguments before anything is downloaded."""
    if not isinstance(name, str | Path) or not str(name):
        raise CourseError(f"{name!r} is neither a name nor a path.", 'Give "bert-base-uncased".')
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, Model)):
        given = getattr(kind, "__qualname__", f"{kind!r:.60}")
        remedy = "Give the class itself, such as BertForMaskedLM, or leave it out."
        raise CourseError(f"kind={given} is not a class of lmcourse.models.", remedy)
    try:
        known = torch.device(device or "cpu").type in (*devices.available(), "meta")
    except (RuntimeError, TypeError):
        known = False
    if not known:
        remedy = f"Give one of {', '.join(devices.available())}, or none."
        raise CourseError(f"There is no device {device!r} here.", remedy)


def _at(path: Path, kind: type[Model] | None) -> Loaded:
    """The model in a file or folder of the reader's."""
    if not path.is_dir():
        return _own(path, None, kind, str(path))
    if (path / CONFIG).is_file() or not (path / WEIGHTS).is_file():
        return _published(path, kind, str(path))
    tokenizer = path / "tokenizer.json"
    return _own(path / WEIGHTS, tokenizer if tokenizer.is_file() else None, kind, str(path))


def _own(weights: Path, tokenizer: Path | None, kind: type[Model] | None, source: str) -> Loaded:
    """A model that `Model.save` wrote, and the tokenizer in another file."""
    architecture = read_header(weights)[0].get("architecture", "")
    if (kind := kind or class_named(architecture)) is None:
        raise CourseError(
            f"{weights} holds {architecture or 'no model of the course'}, and no class of "
            "lmcourse.models.",
            "Give a file that model.save(path) wrote. What the transformers library saved is "
            "loaded by the path of its folder, since the configuration is in another file.",
        )
    model: Any = kind.load(weights)
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.dtype in (torch.float16, torch.bfloat16):
            tensor.data = tensor.data.float()  # which a CPU computes in
    if tokenizer is None:
        return Loaded(model, None, (), source)
    files = [each.name for each in tokenizer.parent.iterdir()]
    if {*SETTINGS} & {*files}:
        read, names = from_folder(tokenizer.parent, files, model)
    else:
        read, names = from_file(tokenizer, model)
    return Loaded(model, read, names, source)


def _published(
    folder: Path, kind: type[Model] | None, source: str, commit: str | None = None
) -> Loaded:
    """A model that the `transformers` library saved, with its tokenizer."""
    files = needed({path.name for path in folder.iterdir() if path.is_file()}, source)
    weights = [folder / name for name in files if name.endswith(".safetensors")]
    model, labels, unused = read_model(folder / CONFIG, weights, kind, source)
    tokenizer, names = from_folder(folder, files, model)
    return Loaded(model, tokenizer, names, source, commit, labels, unused)
