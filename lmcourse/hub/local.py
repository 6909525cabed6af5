"""Models in files and folders of the reader's own."""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from lmcourse.errors import CourseError
from lmcourse.hub.kinds import class_named
from lmcourse.hub.loaded import Loaded, from_parts
from lmcourse.hub.parts import CONFIG, WEIGHTS, find_parts
from lmcourse.hub.tokenizer_files import fitted
from lmcourse.hub.undrawn import Undrawn
from lmcourse.models.checkpoint import Model, read_tensors
from lmcourse.tokenizers import Tokenizer

_HALF = torch.float16, torch.bfloat16


def from_path(path: Path, kind: type[Model] | None) -> Loaded[Any]:
    """What `Model.save` wrote, alone or in a folder with a tokenizer; or what transformers saved.

    Raises:
        CourseError: there is none, it is damaged, or it is none of ours or of this class.
    """
    if not path.is_dir():
        return Loaded(own(path, kind), None, str(path))
    try:
        names = {each.name for each in path.iterdir() if each.is_file()}
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read: {error.strerror}.", "Check its rights."
        ) from error
    if CONFIG in names or WEIGHTS not in names:
        return from_parts(find_parts(names, lambda name: path / name, str(path)), kind, str(path))
    beside = path / "tokenizer.json"
    return own_pair(path / WEIGHTS, beside if beside.name in names else None, kind, str(path))


def own_pair(
    weights: Path, tokenizer: Path | None, kind: type[Model] | None, source: str
) -> Loaded[Any]:
    """A model that `Model.save` wrote, with the tokenizer in another file.

    Raises:
        CourseError: as `own`; the tokenizer cannot be read, or has tokens that the model lacks.
    """
    model = own(weights, kind)
    if tokenizer is None:
        return Loaded(model, None, source)
    return Loaded(model, fitted(Tokenizer.from_file(tokenizer), model, str(tokenizer)), source)


def own(path: Path, kind: type[Model] | None) -> Model:
    """The model in a file that `Model.save` wrote, of the class that the file names.

    From half precision it comes in single precision, as from the hub: a CPU computes in that.

    Raises:
        CourseError: it is no such file, is damaged, or holds a model of another class.
    """
    if kind is None:
        architecture = _metadata(path).get("architecture", "")
        kind = class_named(architecture) if architecture else None
        if kind is None:
            raise CourseError(
                f"{path} holds {architecture or 'no model of the course'}, which is no class of "
                "lmcourse.models.",
                "Give a file that model.save(path) wrote. What the transformers library saved is "
                "loaded by the path of its folder, since the configuration is in another file.",
            )
    with Undrawn():
        model = kind.load(path)
    for parameter in (*model.parameters(), *model.buffers()):
        if parameter.dtype in _HALF:
            parameter.data = parameter.data.float()
    return model


def _metadata(path: Path) -> dict[str, str]:
    try:
        with safe_open(path, "pt") as file:
            return dict(file.metadata() or {})
    except (SafetensorError, OSError, ValueError):
        read_tensors(path)  # which says why not
        raise
