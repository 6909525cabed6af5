"""Sharing: several layers use the same weights (chapter 18).

The layers of a Transformer have the same form. ALBERT uses one set of weights for all of them (Lan
et al. 2020, section 3.1), and the Universal Transformer applies one layer repeatedly (Dehghani et
al. 2019). Here the layers of a trained model are merged in groups, into their mean or their first:

    W = 1/n Σ_i W_i        or        W = W_1

Whole layers can be shared, or parts of them, like ALBERT's "shared-attention" and "shared-FFN".
The model becomes smaller, but not faster. The gradient of a shared weight is the sum over its uses.
"""

from typing import Literal, cast

import torch
from torch import Tensor, nn

from lmcourse.compression.layers import Change, Compressed, M, Where, copy_model
from lmcourse.errors import CourseError


def share_layers(
    model: M,
    layers: str | None = None,
    *,
    by: Literal["mean", "first"] = "mean",
    groups: int = 1,
    parts: Where = (),
) -> Compressed[M]:
    """Return a copy of the model in which groups of layers share their weights.

    Args:
        layers: the name of the list of layers, such as ``"bert.encoder.layers"``; None: the only
            list.
        by: the shared weights: the mean of the group, or its first layer.
        groups: the number of groups of consecutive layers.
        parts: the submodules of a layer to share, such as ``"attention"`` or
            ``("attention", "attention_residual")``; empty: the whole layer.
    """
    model = copy_model(model)
    name, stack = _stack(model, layers)
    parts = (parts,) if isinstance(parts, str) else parts
    if not 1 <= groups < len(stack) or len(stack) % groups:
        raise CourseError(
            f"{len(stack)} layers cannot be shared in {groups} groups of equal size.",
            f"Choose a number below {len(stack)} that divides it.",
        )
    size = len(stack) // groups
    changes = []
    for start in range(0, len(stack), size):
        members = list(stack)[start : start + size]
        for part in parts or ("",):
            changes.append(_share_part(members, part, by, f"{name}.{start}-{start + size - 1}"))
        if not parts:
            for offset in range(size):
                stack[start + offset] = members[0]
    return Compressed(model, tuple(changes))


@torch.no_grad()
def _share_part(members: list[nn.Module], part: str, by: str, name: str) -> Change:
    """Share one submodule of these layers; ``""`` is the whole layer, which the caller replaces."""
    label = f"{name} {part}".strip()
    modules = [member.get_submodule(part) for member in members]
    first, before = modules[0], _flat(modules)
    if by == "mean":
        for own, *others in zip(*(module.parameters() for module in modules), strict=True):
            own.copy_(torch.stack([own, *others]).mean(0))
    error = (before - _flat([first] * len(modules))).norm() / before.norm()
    if part:
        parent, _, child = part.rpartition(".")
        for member in members:
            setattr(member.get_submodule(parent), child, first)
    kept = sum(p.numel() for p in first.parameters())
    return Change(label, before.numel(), kept, error=error.item())


def _flat(modules: list[nn.Module]) -> Tensor:
    """Return all weights of these modules in one vector."""
    return torch.cat([p.double().flatten() for module in modules for p in module.parameters()])


def _stack(model: nn.Module, layers: str | None) -> tuple[str, nn.ModuleList]:
    """Return the name of the list of layers, and the list."""
    lists = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) > 1
    }
    if layers is None and len(lists) == 1:
        layers = next(iter(lists))
    if layers not in lists:
        what = "layers= is None" if layers is None else f"none is called {layers!r}"
        raise CourseError(
            f"This {type(model).__name__} has {len(lists)} lists of layers, and {what}.",
            f"Choose among {', '.join(lists)}." if lists else "Pass a model with a ModuleList.",
        )
    return cast(str, layers), lists[cast(str, layers)]
