"""Magnitude pruning: set the smallest weights to zero (Han et al. 2015; chapter 18).

Weights near zero contribute little. Pruning masks the fraction s of smallest magnitude, and
training continues with the others:

    w' = m · w        m = 0 where |w| is among the ⌊s·N⌉ smallest of N, else 1

The smallest are taken per matrix (``scope="layer"``, as Gordon et al. 2020 prune BERT) or over all
selected matrices (``"global"``: a layer of small weights may lose them all). The gradient with
respect to w is m times that with respect to w', so pruned weights stay pruned.

Gradual pruning during training hurts less than pruning at once. The sparsity grows fast at first
and slowly in the end (Zhu and Gupta 2017, eq. 1):

    s_t = s_f + (s_0 − s_f) (1 − (t − t_0) / (n Δt))³        t = t_0, t_0 + Δt, …, t_0 + n Δt

The matrices keep their size and speed: zeros save nothing until they are stored or multiplied in a
sparse form (see `lmcourse.compression.size`).
"""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.layers import (
    Change,
    Compressed,
    LayerTypes,
    M,
    Mask,
    Where,
    change_of,
    check_compressible,
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
    model = copy_model(model, masks=True)
    return Compressed(model, set_masks(model, sparsity, scope=scope, types=types, where=where))


def set_masks(
    model: nn.Module,
    sparsity: float,
    *,
    scope: Scope = "global",
    types: LayerTypes = TYPES,
    where: Where = "*",
) -> tuple[Change, ...]:
    """`prune_weights` in place, so that the model's optimizer can be used further."""
    check_share(sparsity, "sparsity", zero=True)
    layers = _layers(model, scope, types, where)
    before = {name: layer.weight.detach().clone() for name, layer in layers.items()}
    parameters = {id(weight_of(layer)): layer for layer in layers.values()}
    weights = {key: layer.weight.detach() for key, layer in parameters.items()}
    masks = _masks(weights, {key: _mask(it) for key, it in parameters.items()}, sparsity, scope)
    for layer in model.modules():  # also layers that were not selected, if they share the weight
        own = getattr(layer, "weight", None)
        if isinstance(own, Tensor) and id(weight_of(layer)) in masks:
            _apply_mask(layer, masks[id(weight_of(layer))])
    return tuple(change_of(name, before[name], layer.weight) for name, layer in layers.items())


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


class GradualPruning:
    """Pruning in place with a sparsity that grows during training (Zhu and Gupta 2017, eq. 1).

        pruning = GradualPruning(model, 0.8, start=100, every=10, updates=50)
        for batch in batches:
            …; optimizer.step()
            pruning.step()

    Args:
        final: the final sparsity, s_f.
        initial: the initial sparsity, s_0; None: the present one.
        start: the step of the first pruning, t_0.
        every: the number of steps between two prunings, Δt.
        updates: the number of increases of the sparsity, n. With the first pruning, to
            ``initial``, the model is pruned n + 1 times.
        scope, types, where: as for `prune_weights`.
    """

    def __init__(
        self,
        model: nn.Module,
        final: float,
        *,
        initial: float | None = None,
        start: int = 0,
        every: int = 1,
        updates: int = 100,
        scope: Scope = "global",
        types: LayerTypes = TYPES,
        where: Where = "*",
    ) -> None:
        pruned = _pruned(_layers(model, scope, types, where), scope)
        self.present = max(zeros / size for zeros, size in pruned)
        self.initial = self.present if initial is None else initial
        self.final = final
        check_share(self.initial, "initial sparsity", zero=True)
        check_share(self.final, "final sparsity", zero=True)
        fewer = any(round(self.initial * size) < zeros for zeros, size in pruned)
        if fewer or self.initial > self.final:
            raise CourseError(
                f"The sparsity cannot go from {self.initial:.1%} to {self.final:.1%}: "
                f"{self.present:.1%} of the weights are pruned already.",
                "Choose a sparsity that grows: pruned weights stay pruned.",
            )
        self.start, self.every, self.updates = start, every, updates
        self.model, self.scope, self.types, self.where = model, scope, types, where
        self.steps = 0

    def sparsity(self, step: int) -> float:
        """Return the sparsity s_t after this step; before ``start``, the present one."""
        if step < self.start:
            return self.present
        progress = min((step - self.start) // self.every, self.updates) / self.updates
        return self.final + (self.initial - self.final) * (1 - progress) ** 3

    def step(self) -> tuple[Change, ...]:
        """Prune if it is time to, and return the changes; call it after ``optimizer.step()``."""
        step, self.steps = self.steps, self.steps + 1
        since = step - self.start
        if since < 0 or since % self.every or since > self.every * self.updates:
            return ()
        return set_masks(
            self.model, self.sparsity(step), scope=self.scope, types=self.types, where=self.where
        )


def _layers(model: nn.Module, scope: Scope, types: LayerTypes, where: Where) -> dict[str, Any]:
    """Return the selected layers after checking that they can be pruned."""
    if scope not in ("global", "layer"):
        raise CourseError(f"The scope is {scope!r}.", "Choose 'global' or 'layer'.")
    check_compressible(model, masks=True)
    return select_layers(model, types, where)


def _pruned(layers: Mapping[str, nn.Module], scope: Scope) -> list[tuple[int, int]]:
    """Return the number of masked weights and of all, per matrix or for all together."""
    masks = {id(weight_of(layer)): _mask(layer) for layer in layers.values()}.values()
    counts = [(int((mask == 0).sum()), mask.numel()) for mask in masks]
    if scope == "layer":
        return counts
    return [(sum(zeros for zeros, _ in counts), sum(size for _, size in counts))]


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
