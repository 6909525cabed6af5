"""Sharing: several layers become one, which is used several times (chapter 18).

A Transformer's layers are alike in form. ALBERT has one set of weights for all of them (Lan et al.
2020, section 3.1), and the Universal Transformer applies one layer again and again (Dehghani et al.
2019). Here a model that was trained with layers of its own is made so: those of a group become
their mean, or the first of them:

    W = 1/n Σ_i W_i        or        W = W_1

All of it or a part may be shared, as ALBERT's "shared-attention" and "shared-FFN". The model
computes as many steps as before: it is smaller, and no faster. A shared weight learns from all of
its uses, since its gradient is their sum.
"""

from typing import Literal, cast

import torch
from torch import Tensor, nn

from lmcourse.compression.layers import Change, Compressed, M, Where, check_numbers, copy_of, whole
from lmcourse.errors import CourseError


def share_layers(
    model: M,
    layers: str | None = None,
    *,
    by: Literal["mean", "first"] = "mean",
    groups: int = 1,
    parts: Where = (),
) -> Compressed[M]:
    """A copy of the model in which layers are one.

    Args:
        layers: the name of the list of layers, as ``"bert.encoder.layers"``; None: the only one
            that there is.
        by: what they become.
        groups: how many different layers there are in the end; those of a group are neighbors.
        parts: names of the parts of a layer that are shared, as ``"attention"`` or
            ``("attention", "attention_residual")``; none: all of it.

    `lmcourse.compression.saving` writes what is shared once. The configuration says nothing of it:
    so what `Model.save` writes is as large as before, and has layers of their own when it is read.

    Raises:
        CourseError: there is no such list, or more than one; its layers are not alike; a part is
            not there; the groups do not divide the layers; the model is quantized or under
            masks; it holds NaN, or no numbers at all.
    """
    model = copy_of(model)
    name, stack = _stack(model, layers)
    check_numbers({f"{name}.{index}": layer for index, layer in enumerate(stack)})
    parts = (parts,) if isinstance(parts, str) else parts
    whole(groups, "groups", 1)
    if by not in ("mean", "first"):
        raise CourseError(f"by is {by!r}.", "Choose 'mean' or 'first'.")
    if len(stack) % groups or groups == len(stack):
        raise CourseError(
            f"{len(stack)} layers in {groups} groups: nothing is shared, or not evenly.",
            f"Give a number below {len(stack)} that divides it.",
        )
    size = len(stack) // groups
    changes = []
    for start in range(0, len(stack), size):
        members = list(stack)[start : start + size]
        for part in parts or ("",):
            changes.append(_shared_part(members, part, by, f"{name}.{start}-{start + size - 1}"))
        if not parts:
            for offset in range(size):
                stack[start + offset] = members[0]
    return Compressed(model, tuple(changes))


@torch.no_grad()
def _shared_part(members: list[nn.Module], part: str, by: str, name: str) -> Change:
    """Make a part of these layers one, where it stands in each; the whole layer if it is ""."""
    modules = [_part(member, part) for member in members]
    _check_alike(modules, f"{name} {part}".strip())
    first = modules[0]
    before = _numbers(modules)
    if by == "mean":
        for own, *theirs in zip(*(module.parameters() for module in modules), strict=True):
            own.copy_(torch.stack([own, *theirs]).mean(0))
    error = (before - _numbers([first] * len(modules))).norm() / before.norm()
    if part:
        parent, _, child = part.rpartition(".")
        for member in members:
            setattr(member.get_submodule(parent), child, first)
    kept = sum(p.numel() for p in first.parameters())
    return Change(f"{name} {part}".strip(), before.numel(), kept, error=error.item())


def _numbers(modules: list[nn.Module]) -> Tensor:
    """All weights of these modules, one after another."""
    return torch.cat([p.double().flatten() for module in modules for p in module.parameters()])


def _part(layer: nn.Module, part: str) -> nn.Module:
    try:
        return layer.get_submodule(part)
    except AttributeError as error:
        raise CourseError(
            f"A {type(layer).__name__} has no part {part!r}.",
            f"Choose among {', '.join(name for name, _ in layer.named_children())}.",
        ) from error


def _check_alike(modules: list[nn.Module], name: str) -> None:
    """See that these modules are of the same form, and none is one already."""
    first, *others = modules
    shapes = [{n: t.shape for n, t in module.state_dict().items()} for module in modules]
    if any(repr(m) != repr(first) for m in others) or any(s != shapes[0] for s in shapes):
        raise CourseError(
            f"{name}: these are not all of the same form.",
            "Share layers before heads are pruned or matrices factorized.",
        )
    if not shapes[0]:
        raise CourseError(f"{name} has no weights to share.", "Choose another part.")
    if len({id(p) for m in modules for p in m.parameters()}) < sum(
        len(list(m.parameters())) for m in modules
    ):
        raise CourseError(f"{name}: some of these are one already.", "Share what is not shared.")


def _stack(model: nn.Module, layers: str | None) -> tuple[str, nn.ModuleList]:
    """The list of layers that is meant, and its name."""
    lists = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) > 1
    }
    if layers is None and len(lists) == 1:
        layers = next(iter(lists))
    if layers not in lists:
        asked = "no name was given" if layers is None else f"none is called {layers!r}"
        raise CourseError(
            f"This {type(model).__name__} has {len(lists)} lists of layers, and {asked}.",
            f"Give one of {', '.join(lists)}." if lists else "Give a model with layers in a list.",
        )
    return cast(str, layers), lists[cast(str, layers)]
