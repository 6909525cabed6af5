"""`Model`: what has a configuration, and so can be saved, loaded and converted.

A model is saved as one safetensors file: its tensors by name, and beside them, as metadata, the
architecture and the configuration. A safetensors file holds numbers only; a pickle, which can run
any code when it is opened, is refused.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import msgspec
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.files import replacing, trouble

M = TypeVar("M", bound="Model")
T = TypeVar("T", bound="TorchCounterpart")
C = TypeVar("C")


class Model(nn.Module):
    """A module that is made from a configuration alone.

    Attributes:
        config: the configuration, a dataclass of the class ``Config``.
        Config: that class.
    """

    Config: ClassVar[type]

    def __init__(self, config: Any) -> None:
        super().__init__()
        if not isinstance(config, self.Config):
            raise CourseError(
                f"{type(self).__name__} was given {config!r:.80} for its configuration.",
                f"Give a {self.Config.__name__}.",
            )
        self.config = config

    def save(self, path: str | Path) -> None:
        """Write the weights and the configuration into one safetensors file.

        Raises:
            CourseError: it cannot be written; a file that was there before is unchanged.
        """
        from safetensors.torch import save

        metadata = {
            "architecture": type(self).__name__,
            "config": msgspec.json.encode(self.config).decode(),
            "format": "pt",
        }
        path = Path(path)
        content = save({name: t.contiguous() for name, t in self.state_dict().items()}, metadata)
        try:
            with replacing(path) as file:
                file.write(content)
        except OSError as error:
            raise trouble(error, path, "Or save it under another path.") from error

    @classmethod
    def load(cls: type[M], path: str | Path) -> M:
        """The model that `save` wrote, in evaluation mode.

        Raises:
            CourseError: the file is not there, is none of ours, is damaged, or holds another
                architecture; a tensor is missing, left over, or of another shape.
        """
        metadata, state = _read(Path(path))
        named = metadata.get("architecture")
        if named != cls.__name__:
            raise CourseError(
                f"{path} holds {f'a {named}' if named else 'no model of the course'}, "
                f"not a {cls.__name__}.",
                f"Load it as what it is: {named}.load(…)."
                if named
                else f"A file of another library comes in by {cls.__name__}.from_transformers.",
            )
        model = cls(_config(cls.Config, metadata.get("config", ""), path))
        load_strictly(model, state, str(path))
        return model.eval()

    @classmethod
    def from_transformers(cls: type[M], reference: nn.Module) -> M:
        """The same model as one of the `transformers` library, with a copy of its weights.

        Raises:
            CourseError: it is of another architecture, or has a setting that ours lacks.
        """
        from lmcourse.models.conversion import conversion_of

        return cast(M, conversion_of(cls, type(reference).__name__).to_ours(cls, reference))

    def to_transformers(self) -> nn.Module:
        """The same model of the `transformers` library, with a copy of the weights."""
        from lmcourse.models.conversion import conversion_of

        return conversion_of(type(self), config=self.config).to_theirs(self)


class TorchCounterpart(nn.Module):
    """A layer that `torch.nn` has too."""

    @classmethod
    def from_torch(cls: type[T], reference: nn.Module) -> T:
        """The same layer as one of `torch.nn`, with a copy of its weights.

        Raises:
            CourseError: it is of another class, or has more than ours can hold.
        """
        from lmcourse.models.conversion import torch_layers

        return torch_layers.from_torch(cls, reference)

    def to_torch(self) -> nn.Module:
        """The same layer of `torch.nn` (batch first), with a copy of the weights.

        Raises:
            CourseError: that one cannot hold what this layer has.
        """
        from lmcourse.models.conversion import torch_layers

        return torch_layers.to_torch(self)


def load_strictly(model: nn.Module, state: Mapping[str, Tensor], source: str) -> None:
    """Copy every tensor into the model, which takes on their device and type of number.

    Raises:
        CourseError: a tensor is missing, left over, or of another shape; the model is unchanged.
    """
    wanted = model.state_dict()
    problems = [f"{name} is missing" for name in wanted if name not in state]
    problems += [f"{name} has no place in it" for name in state if name not in wanted]
    problems += [
        f"{name} has the shape {tuple(state[name].shape)} there and {tuple(tensor.shape)} here"
        for name, tensor in wanted.items()
        if name in state and state[name].shape != tensor.shape
    ]
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise CourseError(
            f"The weights of {source} do not fit {type(model).__name__}: "
            f"{'; '.join(problems[:5])}{more}.",
            "Give the weights of the same architecture in the same size.",
        )
    floating = next((tensor for tensor in state.values() if tensor.is_floating_point()), None)
    if floating is not None:
        model.to(floating.device, floating.dtype)
    model.load_state_dict(dict(state))


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and tensors of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CourseError(
            f"There is no file {path}.", "Check the path; `model.save(path)` writes one."
        )
    try:
        with safe_open(path, "pt") as file:
            names = list(file.keys())
            return dict(file.metadata() or {}), {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError, ValueError) as error:
        raise CourseError(
            f"{path} is no safetensors file, or it is damaged: {error}.",
            "Fetch or save it again. A file that torch.save wrote (.pt, .bin) is a pickle, which "
            "can run any code when it is opened: convert it with safetensors where you trust it.",
        ) from error


def _config(kind: type[C], content: str, path: str | Path) -> C:
    """The configuration from its JSON."""
    try:
        config = msgspec.json.decode(content, type=kind)
        if msgspec.json.decode(msgspec.json.encode(config)) != msgspec.json.decode(content):
            raise msgspec.DecodeError(f"it has more than a {kind.__name__}")
        return config
    except msgspec.DecodeError as error:
        raise CourseError(
            f"The configuration in {path} cannot be read: {error}.",
            "The file is damaged or of another version of the course: fetch or save it again.",
        ) from error
