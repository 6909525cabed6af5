"""What the compression methods share: selecting layers, replacing them, reporting the changes.

Every method takes a model and returns a `Compressed`: a copy with the same call signature, and a
`Change` for each layer. The model passed in is never modified.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar, cast

from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.errors import CourseError

M = TypeVar("M", bound=nn.Module)
Where = str | tuple[str, ...]
LayerTypes = type[nn.Module] | tuple[type[nn.Module], ...]


@dataclass(frozen=True)
class Change:
    """The compression of one layer.

    Attributes:
        layer: its name in the model.
        weights: the number of weights before.
        kept: the number of weights that are stored and nonzero afterwards.
        bits: the bits per weight.
        error: the relative error ‖W − W'‖ / ‖W‖ in the Frobenius norm; None if the shapes differ.
    """

    layer: str
    weights: int
    kept: int
    bits: int = 32
    error: float | None = None


@dataclass(frozen=True)
class Compressed(Generic[M]):
    """A compressed model and its changes; ``print`` shows them as a table."""

    model: M
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        width = max([len(change.layer) for change in self.changes] + [len("layer")])
        rows = [f"{'layer':{width}}  {'weights':>11}  {'kept':>11}  bits  rel. error"]
        rows += [
            f"{c.layer:{width}}  {c.weights:11,}  {c.kept:11,}  {c.bits:4}  "
            + ("         –" if c.error is None else f"{c.error:10.2%}")
            for c in self.changes
        ]
        return "\n".join(rows)


class Mask(nn.Module):
    """A parametrization that masks a weight: w' = m · w, in every use and every gradient.

    (`torch.nn.utils.prune` applies its masks in a hook of the layer's call. A matrix used without
    that call, such as a tied embedding, would be out of date.)
    """

    mask: Tensor

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, weight: Tensor) -> Tensor:
        return weight * self.mask


def change_of(
    layer: str, before: Tensor, after: Tensor, kept: int | None = None, bits: int = 32
) -> Change:
    """Return the `Change` of a layer's weight; ``kept`` defaults to the number of nonzeros."""
    before, after = before.detach().double(), after.detach().double()
    norm = before.norm().item()
    error = (before - after).norm().item() / norm if norm else 0.0
    kept = int(after.count_nonzero()) if kept is None else kept
    return Change(layer, before.numel(), kept, bits, error)


def copy_model(model: M, *, masks: bool = False) -> M:
    """Return a copy to compress; arguments and errors as for `check_compressible`."""
    check_compressible(model, masks=masks)
    model = copy.deepcopy(model)
    separate_classes(model)
    return model


def check_compressible(model: nn.Module, *, masks: bool = False) -> None:
    """Check that a model is not quantized, nor parametrized except by allowed masks."""
    for name, module in model.named_modules():
        kind = type(module)
        if kind.__module__.startswith("torch.ao."):
            raise CourseError(
                f"{name or 'This model'} is quantized already: it is a {kind.__name__}.",
                "Quantize last: apply all other methods to the model before quantization.",
            )
        for part in parametrizations_of(module):
            if not isinstance(part, Mask):
                raise CourseError(
                    f"{name or 'This model'} has another parametrization than a mask.",
                    "Make it permanent with torch.nn.utils.parametrize.remove_parametrizations.",
                )
            if not masks:
                raise CourseError(
                    f"The weights of {name or 'this model'} are masked.",
                    "Call magnitude_pruning.make_permanent(model) first.",
                )


def separate_classes(model: nn.Module) -> None:
    """Give each parametrized layer of a copied model a class of its own.

    PyTorch creates a class for a parametrized layer and removes the parametrization by changing
    that class: a copy that shares it would lose its mask together with the original.
    """
    for module in model.modules():
        if parametrize.is_parametrized(module):
            kind = type(module)
            module.__class__ = type(kind.__name__, kind.__bases__, dict(vars(kind)))


def select_layers(
    model: nn.Module, types: LayerTypes, where: Where, *, untied: bool = False
) -> dict[str, Any]:
    """Return the layers of these types whose names match, by name; a shared layer only once.

    Args:
        types: one or more classes of `torch.nn`.
        where: one or more patterns of layer names, such as ``"*.attention.*"``.
        untied: whether to check that no weight is tied to another one.
    """
    types = (types,) if isinstance(types, type) else types
    patterns = (where,) if isinstance(where, str) else where
    selected: dict[nn.Module, str] = {}
    others = []
    for name, module in model.named_modules(remove_duplicate=False):
        if original_class(module) not in types:
            continue
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            selected.setdefault(module, name)
        else:
            others.append(name)
    if not selected:
        names = " or ".join(kind.__name__ for kind in types)
        present = f"It has {', '.join(others[:3])}, …" if others else "It has none"
        raise CourseError(
            f"No {names} of this {type(model).__name__} matches where={where!r}.",
            f"{present}: pass patterns of such names, '*' for all.",
        )
    layers: dict[str, Any] = {name: module for module, name in selected.items()}
    if untied:
        _check_untied(model, layers)
    return layers


def replace_modules(model: M, new: Mapping[nn.Module, nn.Module]) -> M:
    """Replace modules of a model under all their names, and return the model."""
    if model in new:
        return new[model]  # type: ignore[return-value]  # it has the same call signature
    for parent in list(model.modules()):
        for name, child in parent._modules.items():
            if child is not None and child in new:
                parent._modules[name] = new[child]
    return model


def _check_untied(model: nn.Module, layers: Mapping[str, Any]) -> None:
    """Check that no other module shares the weight of one of these layers."""
    holders: dict[int, str] = {}
    for name, module in model.named_modules():
        if module in layers.values() or isinstance(module, parametrize.ParametrizationList):
            continue
        held = dict(module.named_parameters(recurse=False))
        if parametrizations_of(module):
            held["weight"] = weight_of(module)
        holders |= {id(it): f"{name}.{own}".lstrip(".") for own, it in held.items()}
    for name, layer in layers.items():
        weight = id(weight_of(layer))
        if weight in holders:
            raise CourseError(
                f"The weight of {name} is tied to {holders[weight]}: replacing it unties them.",
                "Exclude this layer with where=….",
            )
        holders[weight] = f"{name}.weight"


def check_share(value: float, name: str, *, zero: bool = False, one: bool = False) -> None:
    """Check that a setting is between 0 and 1.

    Args:
        zero, one: whether 0 and 1 are allowed.
    """
    if not (0 < value < 1 or (zero and value == 0) or (one and value == 1)):
        allowed = f"from 0{'' if zero else ' (excluded)'} to 1{'' if one else ' (excluded)'}"
        raise CourseError(f"The {name} is {value!r}.", f"Choose a number {allowed}.")


def weight_of(layer: nn.Module) -> nn.Parameter:
    """Return the parameter of a layer's weight, without its mask."""
    if parametrizations_of(layer):
        return cast(Any, layer.parametrizations)["weight"].original
    return cast(nn.Parameter, layer.weight)


def parametrizations_of(layer: nn.Module) -> tuple[nn.Module, ...]:
    """Return the parametrizations of a layer's weight: its mask, or none."""
    if not parametrize.is_parametrized(layer, "weight"):
        return ()
    return tuple(cast(Any, layer.parametrizations)["weight"])


def original_class(module: nn.Module) -> type[nn.Module]:
    """Return a module's class; for a parametrized module, the class it had before."""
    kind = type(module)
    return kind.__bases__[0] if parametrize.is_parametrized(module) else kind
