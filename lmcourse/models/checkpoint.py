"""`Model`: a module with a configuration, which can be saved, loaded and converted.

A model is saved as one safetensors file, with its tensors by name, and the architecture and the
configuration as metadata. Pickles are refused, since they can run code when they are opened.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast, get_type_hints

import msgspec
from torch import Tensor, nn

from lmcourse.errors import CourseError, check_sizes
from lmcourse.files import expanded, replacing, require_own, trouble
from lmcourse.models.conversion import conversion_of
from lmcourse.models.weights import (
    check_shapes,
    load_strictly,
    meta_device,
    on_meta,
    read_header,
    read_tensors,
)

_MARK = b'"architecture"'  # in the header of each file that is saved

_SIZES = (
    *("vocab_size", "embedding_size", "hidden_size", "intermediate_size"),
    *("num_layers", "num_attention_heads", "max_position_embeddings"),
)
M = TypeVar("M", bound="Model")
C = TypeVar("C")


class Model(nn.Module):
    """A module built from a configuration alone.

    Attributes:
        config: the configuration, a dataclass of the class ``Config``.
        Config: that class.
    """

    Config: ClassVar[type]

    def __init__(self, config: Any) -> None:
        super().__init__()
        _check_kind(type(self).__name__, config, self.Config)
        sizes = {it.name: getattr(config, it.name) for it in fields(config)}
        check_sizes(**{name: sizes[name] for name in _SIZES if isinstance(sizes.get(name), int)})
        check_sizes(0, num_hidden_layers=sizes.get("num_hidden_layers"))
        for name, kind in get_type_hints(self.Config).items():
            if isinstance(kind, type) and is_dataclass(kind):
                _check_kind(f"{self.Config.__name__}'s {name}", getattr(config, name), kind)
        self.config = config

    def save(self, path: str | Path) -> None:
        """Write the weights and the configuration into one safetensors file."""
        from safetensors.torch import save

        check_as_configured(self)
        metadata = {
            "architecture": type(self).__name__,
            "config": config_as_json(self.config),
            "format": "pt",
        }
        path = expanded(path)
        require_own(path, _MARK, "Save it under another name, or remove the file first.")
        content = save(_apart(self.state_dict()), metadata)
        try:
            with replacing(path) as file:
                file.write(content)
        except OSError as error:
            raise trouble(error, path, "Or save it under another path.") from error

    @classmethod
    def load(cls: type[M], path: str | Path) -> M:
        """Load a model that `save` wrote, in evaluation mode."""
        path = expanded(path)
        metadata, shapes = read_header(path)
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
        config: Any = config_from_json(cls.Config, metadata.get("config", ""), path)
        model = on_meta(lambda: cls(config), len(shapes), str(path))
        check_shapes(model, shapes, str(path))
        load_strictly(model, read_tensors(path)[1], str(path))
        return model.eval()

    @classmethod
    def from_transformers(cls: type[M], reference: nn.Module) -> M:
        """Convert a model of the `transformers` library, with a copy of its weights."""
        return cast(M, conversion_of(cls, type(reference).__name__).to_ours(cls, reference))

    def to_transformers(self) -> nn.Module:
        """Convert to a model of the `transformers` library, with a copy of the weights."""
        check_as_configured(self)
        return conversion_of(type(self), config=self.config).to_theirs(self)


def check_as_configured(model: Model, remedy: str = "") -> None:
    """Check that a model has the tensors of its configuration, so that a file could be loaded.

    Args:
        remedy: the error's advice, if it is not about saving.
    """
    with meta_device():
        wanted = type(model)(model.config)
    shapes = _shapes(model)
    if shapes != _shapes(wanted):
        if any("parametrizations." in name or "fake_quant" in name for name in shapes):
            what = "some weights are masked, or quantized in training"
            default = (
                "Call lmcourse.compression.magnitude_pruning.make_permanent or "
                "lmcourse.compression.quantization_aware.convert first."
            )
        else:
            what = "layers were pruned, factorized, quantized or replaced"
            default = "Save the original model; load and compress it again where it is needed."
        raise CourseError(
            f"This {type(model).__name__} no longer matches its configuration: {what}.",
            remedy or default,
        )


def _shapes(model: nn.Module) -> dict[str, Any]:
    """Return each tensor's shape, and the type of other entries, as in quantized layers."""
    state = model.state_dict()
    return {name: t.shape if isinstance(t, Tensor) else type(t) for name, t in state.items()}


def _check_kind(what: str, config: Any, kind: type) -> None:
    if type(config) is not kind:  # a subclass has settings that this one would ignore
        raise CourseError(
            f"{what} got {config!r:.80} as its configuration.", f"Give {kind.__name__}(…)."
        )


def _apart(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors without shared memory, which a safetensors file cannot have."""
    apart: dict[str, Tensor] = {}
    known: set[int] = set()
    for name, tensor in state.items():
        memory = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if memory in known else tensor.contiguous()
        known.add(memory)
    return apart


def config_as_json(config: Any) -> str:
    """Return a configuration as JSON, or raise `CourseError` if a setting would be lost."""
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


def config_from_json(kind: type[C], content: str, path: str | Path) -> C:
    """Return the configuration from its JSON; settings added later have their defaults."""
    try:
        config = msgspec.json.decode(content, type=kind)
        if msgspec.json.decode(msgspec.json.encode(config)) != msgspec.json.decode(content):
            raise msgspec.DecodeError(f"it has more than a {kind.__name__}")
        return cast(C, replace(cast(Any, config)))  # validates the settings
    except (msgspec.DecodeError, CourseError) as error:
        raise CourseError(
            f"The configuration in {path} cannot be read: {error}",
            "The file is damaged or of another version of the course: fetch or save it again.",
        ) from error
