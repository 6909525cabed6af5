"""Layers that `torch.nn` has too: `from_torch` and `to_torch`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.weights import load_strictly

T = TypeVar("T", bound="FromTorch")


@runtime_checkable
class Naming(Protocol):
    """The names of tensors in the course and in `torch.nn`."""

    def to_ours(self, theirs: Mapping[str, Tensor], /) -> dict[str, Tensor]: ...
    def to_theirs(self, ours: Mapping[str, Tensor], /) -> dict[str, Tensor]: ...


@dataclass(frozen=True)
class TorchLayer:
    """How a layer of the course and its counterpart in `torch.nn` become each other.

    Attributes:
        renaming: the tensors' names.
        to_torch: a layer of `torch.nn` of the same sizes, from ours.
        counterparts: the classes of `torch.nn` that ours is built from.
        arguments: the constructor arguments of our layer, from a layer of `torch.nn`.
    """

    renaming: Naming
    to_torch: Callable[[Any], nn.Module]
    counterparts: tuple[type[nn.Module], ...] = ()
    arguments: Callable[[Any], dict[str, Any]] = lambda reference: {}


class TorchCounterpart(nn.Module):
    """A layer that `torch.nn` has too."""

    torch_layer: ClassVar[TorchLayer]

    def to_torch(self) -> nn.Module:
        """Return a copy as a layer of `torch.nn` (batch first), in the same mode."""
        layer = self.torch_layer
        theirs = layer.to_torch(self)
        state = layer.renaming.to_theirs(self.state_dict())
        load_strictly(theirs, state, f"this {type(self).__name__}")
        return theirs.train(self.training)


class FromTorch(TorchCounterpart):
    """A layer that is also built from one of `torch.nn`."""

    @classmethod
    def from_torch(cls: type[T], reference: nn.Module) -> T:
        """Return a copy of a layer of `torch.nn`, in its mode.

        Inputs are (batch, time, width) whether or not the reference has ``batch_first``.
        """
        layer = cls.torch_layer
        if type(reference) not in layer.counterparts:
            names = " or ".join(f"torch.nn.{one.__name__}" for one in layer.counterparts)
            raise CourseError(
                f"{cls.__name__} cannot be built from a {type(reference).__name__}.",
                f"Give a {names}.",
            )
        ours = cls(**layer.arguments(reference))
        state = layer.renaming.to_ours(reference.state_dict())
        load_strictly(ours, state, f"this {type(reference).__name__}")
        return ours.train(reference.training)
