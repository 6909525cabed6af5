"""`Model`: what has a configuration, and so can be saved, loaded and converted.

A model is saved as one safetensors file: its tensors by name, and beside them, as metadata, the
architecture and the configuration. A safetensors file holds numbers only; a pickle, which can run
any code when it is opened, is refused.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast, get_type_hints

import msgspec
import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.files import replacing, trouble

M = TypeVar("M", bound="Model")
T = TypeVar("T", bound="TorchCounterpart")
C = TypeVar("C")

COMPRESSED = "lmcourse compressed"
"""Beside what `lmcourse.compression.saving` wrote, how to read it."""


class Model(nn.Module):
    """A module that is made from a configuration alone.

    Attributes:
        config: the configuration, a dataclass of the class ``Config``.
        Config: that class.
    """

    Config: ClassVar[type]

    def __init__(self, config: Any) -> None:
        super().__init__()
        _check_kind(type(self).__name__, config, self.Config)
        for name, kind in get_type_hints(self.Config).items():
            if isinstance(kind, type) and is_dataclass(kind):
                _check_kind(f"{self.Config.__name__}'s {name}", getattr(config, name), kind)
        self.config = config

    def save(self, path: str | Path) -> None:
        """Write the weights and the configuration into one safetensors file.

        Raises:
            CourseError: it cannot be written, and a file that was there before is unchanged; or the
                weights or a setting cannot; or the model is not what its configuration makes.
        """
        from safetensors.torch import save

        check_as_configured(self)
        metadata = {
            "architecture": type(self).__name__,
            "config": config_as_json(self.config),
            "format": "pt",
        }
        path = Path(path)
        content = save(_apart(self.state_dict()), metadata)
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
        metadata, state = read_tensors(Path(path))
        if COMPRESSED in metadata:
            raise CourseError(
                f"{path} holds a compressed model.",
                f"lmcourse.compression.saving.load(path, {cls.__name__}) reads it.",
            )
        named = metadata.get("architecture")
        if named != cls.__name__:
            through = f", and call {cls.__name__}.on_top_of with what it becomes"
            through = through if hasattr(cls, "on_top_of") else ""
            raise CourseError(
                f"{path} holds {named if named else 'no model of the course'}, not {cls.__name__}.",
                f"Load it as what it is, {named}.load(…){through}."
                if named
                else f"A file of another library comes in by {cls.__name__}.from_transformers.",
            )
        model = cls(config_from_json(cls.Config, metadata.get("config", ""), path))
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
        """The same model of the `transformers` library, with a copy of the weights.

        Raises:
            CourseError: that one cannot be such a model.
        """
        from lmcourse.models.conversion import conversion_of

        check_as_configured(self)
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


def check_as_configured(model: Model, remedy: str = "") -> None:
    """See that a model has the tensors that its configuration gives it.

    Args:
        remedy: what to do instead, if it is not to write a file.

    Raises:
        CourseError: it was changed: a file of it could not be read back.
    """
    with torch.device("meta"):
        wanted = type(model)(model.config)
    shapes = _shapes(model)
    if shapes != _shapes(wanted):
        if any("parametrizations." in name or "fake_quant" in name for name in shapes):
            what = "weights of it are under masks, or round in training"
            default = (
                "Call lmcourse.compression.magnitude_pruning.make_permanent or "
                "lmcourse.compression.quantization_aware.convert first."
            )
        else:
            what = "layers of it were pruned, factorized, quantized or replaced"
            default = (
                "lmcourse.compression.saving writes and reads what lmcourse.compression made of it."
            )
        raise CourseError(
            f"This {type(model).__name__} is no longer what its configuration makes: {what}.",
            remedy or default,
        )


def _shapes(model: nn.Module) -> dict[str, Any]:
    """Each tensor's shape, and a type for what is none, as a layer in eight bits holds."""
    state = model.state_dict()
    return {name: t.shape if isinstance(t, Tensor) else type(t) for name, t in state.items()}


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
    for name, tensor in model.state_dict(keep_vars=True).items():
        tensor.data = tensor.data.to(state[name].device, state[name].dtype)  # they may be mixed
    model.load_state_dict(dict(state))


def _check_kind(what: str, config: Any, kind: type) -> None:
    if type(config) is not kind:  # a subclass has settings that this one would ignore
        raise CourseError(
            f"{what} was given {config!r:.80} for its configuration.", f"Give {kind.__name__}(…)."
        )


def _apart(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, each in memory of its own: a file has no two names for one."""
    apart: dict[str, Tensor] = {}
    known: set[int] = set()
    for name, tensor in state.items():
        if tensor.is_meta:
            raise CourseError(
                f"{name} is on the meta device, where a tensor has a shape and no numbers.",
                "Build the model on a real device, such as the CPU, to save it.",
            )
        memory = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if memory in known else tensor.contiguous()
        known.add(memory)
    return apart


def config_as_json(config: Any) -> str:
    """A configuration as JSON that gives it back.

    Raises:
        CourseError: a setting of it has no place in JSON.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        try:
            again = msgspec.json.decode(msgspec.json.encode(value), type=type(value))
            same = bool(again == value)
        except (TypeError, ValueError):
            same = False
        if not same:
            raise CourseError(
                f"The setting {field.name}={value!r:.80} cannot be saved.",
                "Build the configuration with numbers, text and tuples of Python's own.",
            )
    return msgspec.json.encode(config).decode()


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and tensors of a safetensors file.

    Raises:
        CourseError: it is not there, is damaged, or is another kind of file.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise CourseError(f"The file {path} {what}.", "Check it; `model.save(path)` writes one.")
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


def config_from_json(kind: type[C], content: str, path: str | Path) -> C:
    """The configuration from its JSON; what was added to it later has its default.

    Raises:
        CourseError: it is no such configuration's.
    """
    try:
        config = msgspec.json.decode(content, type=kind)
        if msgspec.json.decode(msgspec.json.encode(config)) != msgspec.json.decode(content):
            raise msgspec.DecodeError(f"it has more than a {kind.__name__}")
        return cast(C, replace(cast(Any, config)))  # now with every default written down
    except (msgspec.DecodeError, CourseError) as error:
        raise CourseError(
            f"The configuration in {path} cannot be read: {error}",
            "The file is damaged or of another version of the course: fetch or save it again.",
        ) from error
