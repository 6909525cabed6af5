"""Magnitude pruning: set the smallest weights to zero (Han et al. 2015; chapter 18).

Weights near zero contribute little. Pruning masks the fraction s of smallest magnitude, and
training continues with the others:

    w' = m · w        m = 0 where |w| is among the ⌊s·N⌉ smallest of N, else 1

The smallest are taken per matrix (``scope="layer"``, as Gordon et al. 2020 prune BERT) or over all
selected matrices (``"global"``: a layer of small weights may lose them all). The gradient with
respect to w is m times that with respect to w', so pruned weights stay pruned.

The matrices keep their size and speed: zeros save nothing until they are stored or multiplied in a
sparse form (see `lmcourse.compression.size`).
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.layers import (
    Compressed,
    LayerTypes,
    M,
    Mask,
    Where,
    change_of,
    check_share,
    copy_model,
    parametrizations_of,
    select_layers,
    weight_of,
)
from lmcourse.errors import CourseError

Scope = Literal["global", "layer"]
TYPES = (nn.Linear, nn.Embedding)


def prune_weights(
    model: M,
    sparsity: float,
    *,
    scope: Scope = "global",
    types: LayerTypes = TYPES,
    where: Where = "*",
) -> Compressed[M]:
    """Return a copy of the model whose smallest weights are masked; it can be trained further.

    A weight shared by several layers is pruned once and remains shared.

    Args:
        sparsity: the fraction of pruned weights, 0 ≤ s < 1. Weights that are masked already count,
            and stay masked.
        scope: whether the smallest weights are taken from all selected matrices, or from each.
        types: the layer types whose ``weight`` is pruned; biases are not.
        where: one or more patterns of layer names, see `layers.select_layers`.
    """
    check_share(sparsity, "sparsity", zero=True)
    model = copy_model(model, masks=True)
    layers = select_layers(model, types, where)
    before = {name: layer.weight.detach().clone() for name, layer in layers.items()}
    parameters = {id(weight_of(layer)): layer for layer in layers.values()}
    weights = {key: layer.weight.detach() for key, layer in parameters.items()}
    masks = _masks(weights, {key: _mask(it) for key, it in parameters.items()}, sparsity, scope)
    for layer in model.modules():  # also layers that were not selected, if they share the weight
        own = getattr(layer, "weight", None)
        if isinstance(own, Tensor) and id(weight_of(layer)) in masks:
            _apply_mask(layer, masks[id(weight_of(layer))])
    changes = [change_of(name, before[name], layer.weight) for name, layer in layers.items()]
    return Compressed(model, tuple(changes))


def make_permanent(model: M) -> M:
    """Return a copy without masks whose pruned weights are zero.

    It can be saved. Further training changes the zeros.
    """
    model = copy_model(model, masks=True)
    remove_masks(model)
    return model


def remove_masks(model: nn.Module) -> None:
    """`make_permanent` in place."""
    for layer in model.modules():
        if _mask_module(layer) is not None:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)


def _masks(
    weights: Mapping[int, Tensor], masked: Mapping[int, Tensor], sparsity: float, scope: Scope
) -> dict[int, Tensor]:
    """Return the masks of the smallest ⌊s·N⌉ weights, per matrix or over all."""
    if scope == "layer":
        return {key: _smallest(w, masked[key], sparsity) for key, w in weights.items()}
    flat = torch.cat([w.flatten() for w in weights.values()])
    mask = _smallest(flat, torch.cat([masked[key].flatten() for key in weights]), sparsity)
    parts = mask.split([w.numel() for w in weights.values()])
    return {key: part.view_as(weights[key]) for key, part in zip(weights, parts, strict=True)}


def _smallest(weight: Tensor, masked: Tensor, sparsity: float) -> Tensor:
    """Return a mask that is 0 for the smallest ⌊s·N⌉ weights; ``masked`` is the present mask."""
    amount, present = round(sparsity * weight.numel()), int((masked == 0).sum())
    if amount < present:
        raise CourseError(
            f"{present / weight.numel():.1%} of the weights are pruned already, which is more "
            f"than {sparsity:.1%}.",
            "Choose a higher sparsity: pruned weights stay pruned.",
        )
    # Masked weights come first, before weights that happen to be zero.
    magnitude = torch.where(masked == 0, -1.0, weight.abs()).flatten()
    keep = torch.ones_like(magnitude)
    if amount:
        threshold = magnitude.kthvalue(amount).values  # faster than topk, which also sorts
        smaller = magnitude < threshold
        keep[smaller] = 0
        equal = (magnitude == threshold).nonzero().flatten()
        keep[equal[: amount - int(smaller.sum())]] = 0
    return keep.view_as(weight)


def _mask_module(layer: nn.Module) -> Mask | None:
    return next((part for part in parametrizations_of(layer) if isinstance(part, Mask)), None)


def _mask(layer: nn.Module) -> Tensor:
    module = _mask_module(layer)
    return torch.ones_like(weight_of(layer)) if module is None else module.mask


def _apply_mask(layer: nn.Module, mask: Tensor) -> None:
    module = _mask_module(layer)
    if module is not None:
        module.mask.copy_(mask)
    else:
        parametrize.register_parametrization(layer, "weight", Mask(mask.clone()), unsafe=True)
