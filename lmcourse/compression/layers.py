"""Which layers of a model a compression works on, and what it says it did.

Every compression of this package takes a model and gives a `Compressed`: a copy that is called as
before, and a `Change` for each layer. The model that was given stays as it is.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from numbers import Integral, Real
from typing import Any, Generic, TypeVar, cast

from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.errors import CourseError

M = TypeVar("M", bound=nn.Module)
Where = str | tuple[str, ...]
Kinds = type[nn.Module] | tuple[type[nn.Module], ...]


@dataclass(frozen=True)
class Change:
    """What was done to one layer.

    Attributes:
        layer: its name in the model.
        weights: how many numbers it had.
        kept: how many are left, that is, stored and not zero.
        bits: how many each of them takes.
        error: how far its matrix moved: ‖W − W'‖ / ‖W‖, by the Frobenius norm; None where there is
            no matrix of the same size to compare.
    """

    layer: str
    weights: int
    kept: int
    bits: int = 32
    error: float | None = None


@dataclass(frozen=True)
class Compressed(Generic[M]):
    """A compressed model, and what was done to it; printed, it is a table of that."""

    model: M
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        width = max([len(change.layer) for change in self.changes] + [len("layer")])
        rows = [f"{'layer':{width}}  {'weights':>11}  {'kept':>11}  bits  moved by"]
        rows += [
            f"{c.layer:{width}}  {c.weights:11,}  {c.kept:11,}  {c.bits:4}  "
            + ("       –" if c.error is None else f"{c.error:8.2%}")
            for c in self.changes
        ]
        return "\n".join(rows)


def change(
    layer: str, before: Tensor, after: Tensor, kept: int | None = None, bits: int = 32
) -> Change:
    """What became of one layer's matrix; ``kept`` is counted if it is not given."""
    before, after = before.detach().double(), after.detach().double()
    norm = before.norm().item()
    error = (before - after).norm().item() / norm if norm else 0.0
    kept = int(after.count_nonzero()) if kept is None else kept
    return Change(layer, before.numel(), kept, bits, error)


def copy_of(model: M, *, masks: bool = False) -> M:
    """A copy to work on.

    Args:
        masks: whether weights may be under a mask (see `magnitude_pruning`).

    Raises:
        CourseError: the model is quantized already, or prepared for it; or weights are under masks.
    """
    check_open(model, masks=masks)
    model = copy.deepcopy(model)
    own_classes(model)
    return model


def check_open(model: nn.Module, *, masks: bool = False) -> None:
    """See that a model can still be changed.

    Args:
        masks: whether weights may be under a mask.

    Raises:
        CourseError: as `copy_of`.
    """
    for name, module in model.named_modules():
        kind = type(module)
        if kind.__module__.startswith("torch.ao."):
            raise CourseError(
                f"{name or 'This model'} is quantized already: it is a {kind.__name__}.",
                "Quantize last: do everything else to the model as it was before.",
            )
        if not masks and parametrize.is_parametrized(module):
            raise CourseError(
                f"The weights of {name or 'this model'} are under a mask or another "
                "parametrization.",
                "Call magnitude_pruning.make_permanent(model) first.",
            )


def own_classes(model: nn.Module) -> None:
    """Give each layer under a mask in a copied model a class of its own."""
    for module in model.modules():
        if parametrize.is_parametrized(module):
            # PyTorch makes a class for it, and takes a mask off by changing that class: a copy
            # without one of its own would lose its mask with the original.
            kind = type(module)
            module.__class__ = type(kind.__name__, kind.__bases__, dict(vars(kind)))


def chosen(model: nn.Module, kinds: Kinds, where: Where) -> dict[str, Any]:
    """The layers of these kinds whose name fits, each once, however many names it has.

    Args:
        kinds: classes of `torch.nn`.
        where: patterns of a layer's name in the model, as ``"*.attention.*"``; one is enough.

    Raises:
        CourseError: there is none.
    """
    kinds = (kinds,) if isinstance(kinds, type) else kinds
    patterns = (where,) if isinstance(where, str) else where
    found: dict[nn.Module, str] = {}
    others = []
    for name, module in model.named_modules(remove_duplicate=False):
        if kind_of(module) not in kinds:
            continue
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            found.setdefault(module, name)
        else:
            others.append(name)
    if not found:
        names = " or ".join(kind.__name__ for kind in kinds)
        here = f"It has {', '.join(others[:3])}, …" if others else "It has none at all"
        raise CourseError(
            f"No {names} of this {type(model).__name__} fits where={where!r}.",
            f"{here}: give patterns of such names, '*' for all.",
        )
    return {name: module for module, name in found.items()}


def replaced(model: M, new: Mapping[nn.Module, nn.Module]) -> M:
    """The model with these modules in place of those, under every name that they have."""
    if model in new:
        return new[model]  # type: ignore[return-value]  # it does what the model did
    for parent in list(model.modules()):
        for name, child in parent._modules.items():
            if child is not None and child in new:
                parent._modules[name] = new[child]
    return model


def check_untied(model: nn.Module, layers: Mapping[str, Any]) -> None:
    """See that no other module holds the weight of one of these layers.

    Raises:
        CourseError: one does: a copy in another form would untie the two.
    """
    holders: dict[int, str] = {}
    for name, module in model.named_modules():
        if module in layers.values() or isinstance(module, parametrize.ParametrizationList):
            continue
        held = dict(module.named_parameters(recurse=False))
        if parametrize.is_parametrized(module, "weight"):
            held["weight"] = matrix_of(module)
        for own, parameter in held.items():
            holders[id(parameter)] = f"{name}.{own}".lstrip(".")
    seen: dict[int, str] = {}
    for name, layer in layers.items():
        weight = id(matrix_of(layer))
        other = holders.get(weight) or seen.get(weight)
        if other is not None:
            raise CourseError(
                f"The weight of {name} is also {other}: in another form the two would part.",
                "Leave this layer out, by where=….",
            )
        seen[weight] = f"{name}.weight"


def check_numbers(layers: Mapping[str, nn.Module]) -> None:
    """See that these layers hold numbers, all of them finite.

    Raises:
        CourseError: they do not.
    """
    for name, layer in layers.items():
        for tensor in layer.parameters():
            if tensor.is_meta:
                raise CourseError(
                    f"{name or 'The layer'} is on the meta device, where a tensor has a shape and "
                    "no numbers.",
                    "Build the model on a real device, such as the CPU.",
                )
            if tensor.is_floating_point() and not tensor.isfinite().all():
                raise CourseError(
                    f"{name or 'The layer'} holds numbers that are infinite or NaN.",
                    "Look for where training failed: what is made of them is worth nothing.",
                )


def fraction(value: float, name: str, *, zero: bool, one: bool) -> float:
    """See that a setting is a share of something.

    Args:
        zero, one: whether 0 and 1 are among what it may be.

    Raises:
        CourseError: it is none.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1 or (value == 0 and not zero) or (value == 1 and not one):
        low, high = "from 0" if zero else "above 0", "to 1" if one else "to below 1"
        raise CourseError(f"{name} is {value!r}.", f"Give a number {low} {high}.")
    return float(value)


def whole(value: int, name: str, least: int) -> int:
    """See that a setting is a whole number.

    Raises:
        CourseError: it is none, or less than the least that there may be.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise CourseError(f"{name} is {value!r}.", f"Give a whole number, {least} or more.")
    return int(value)


def matrix_of(layer: nn.Module) -> nn.Parameter:
    """A layer's weight as it is trained: below its mask, if it has one."""
    if parametrize.is_parametrized(layer, "weight"):
        return cast(Any, layer.parametrizations)["weight"].original
    return cast(nn.Parameter, layer.weight)


def kind_of(module: nn.Module) -> type[nn.Module]:
    """A module's class; that of what is under a mask is the class without it."""
    kind = type(module)
    return kind.__bases__[0] if parametrize.is_parametrized(module) else kind
