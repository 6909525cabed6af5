"""Magnitude pruning: the smallest weights become zero (Han et al. 2015; chapter 18).

A weight that is nearly zero adds nearly nothing. So a share s of the weights, those of the least
magnitude, gets the mask 0, and training goes on with what is left:

    w' = m · w        m = 0 where |w| is among the ⌊s·N⌉ smallest of N, else 1

"Smallest" is meant either of each matrix alone (``scope="layer"``: as Gordon et al. 2020 prune
BERT) or of all chosen matrices together (``"global"``: a layer of small weights may lose them all).
The gradient with respect to w is m times that with respect to w', so what is pruned stays pruned.

Pruning little by little, with training in between, hurts less than at once. The share grows fast
while there is much to spare, and slowly at the end (Zhu and Gupta 2017, eq. 1):

    s_t = s_f + (s_0 − s_f) (1 − (t − t_0) / (n Δt))³        t = t_0, t_0 + Δt, …, t_0 + n Δt

The matrices are as large as before and as slow: zeros save nothing until they are stored or
multiplied in another form (`lmcourse.compression.size` counts it).
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.layers import (
    Change,
    Compressed,
    Kinds,
    M,
    Where,
    change,
    check_numbers,
    check_open,
    chosen,
    copy_of,
    fraction,
    matrix_of,
    whole,
)
from lmcourse.errors import CourseError

Scope = Literal["global", "layer"]
KINDS = (nn.Linear, nn.Embedding)


class Mask(nn.Module):
    """Zero where a weight is pruned: w' = m · w, at every use and so in every gradient.

    (`torch.nn.utils.prune` puts its masks on in a hook of the layer's call. A matrix that is read
    without that call, as tied embeddings are, would then be an old one.)
    """

    mask: Tensor

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, weight: Tensor) -> Tensor:
        return weight * self.mask


def prune_weights(
    model: M,
    sparsity: float,
    *,
    scope: Scope = "global",
    kinds: Kinds = KINDS,
    where: Where = "*",
) -> Compressed[M]:
    """A copy of the model with the smallest weights under a mask, ready to train on.

    Args:
        sparsity: the share that is pruned, in all; 0 ≤ s < 1. What a mask has pruned already
            counts, and stays pruned.
        scope: smallest of all chosen matrices together, or of each alone.
        kinds: class or classes of layers whose ``weight`` is pruned; biases are few and stay.
        where: patterns of the layers' names, see `layers.chosen`.

    A matrix that several layers hold is pruned once, and theirs stays one.

    Raises:
        CourseError: the sparsity is none, or less than what is pruned already; no layer fits; the
            model is quantized, or prepared for it; a weight is NaN, or on the meta device.
    """
    model = copy_of(model, masks=True)
    return Compressed(model, set_masks(model, sparsity, scope=scope, kinds=kinds, where=where))


def set_masks(
    model: nn.Module,
    sparsity: float,
    *,
    scope: Scope = "global",
    kinds: Kinds = KINDS,
    where: Where = "*",
) -> tuple[Change, ...]:
    """`prune_weights` on the model itself, whose optimizer goes on with it."""
    sparsity = fraction(sparsity, "The sparsity", zero=True, one=False)
    layers = _layers(model, scope, kinds, where)
    before = {name: layer.weight.detach().clone() for name, layer in layers.items()}
    parameters = {id(_parameter(layer)): layer for layer in layers.values()}
    weights = {key: layer.weight.detach() for key, layer in parameters.items()}
    masked = {key: _mask(layer) for key, layer in parameters.items()}
    masks = _smallest(weights, masked, sparsity, scope)
    for layer in model.modules():  # whoever holds the matrix, chosen or not
        own = getattr(layer, "weight", None)
        if isinstance(own, Tensor) and id(_parameter(layer)) in masks:
            _put_on(layer, masks[id(_parameter(layer))])
    return tuple(change(name, before[name], layer.weight) for name, layer in layers.items())


def make_permanent(model: M) -> M:
    """A copy in which pruned weights are zero and no mask is left: a plain model, which can be
    saved, and trained on without mercy for the zeros.
    """
    model = copy_of(model, masks=True)
    take_off(model)
    return model


def take_off(model: nn.Module) -> None:
    """`make_permanent` on the model itself."""
    for layer in model.modules():
        if _mask_on(layer) is not None:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)


class GradualPruning:
    """Masks that grow while the model is trained (Zhu and Gupta 2017, eq. 1).

        pruning = GradualPruning(model, 0.8, start=100, every=10, times=50)
        for batch in batches:
            …; optimizer.step()
            pruning.step()

    It prunes the model itself, as an optimizer changes it.

    Args:
        final: the share that is pruned in the end.
        initial: the share at the start, s_0; None: what is pruned already.
        start: after how many steps pruning begins, t_0.
        every: how many steps lie between two prunings, Δt.
        times: how often the share grows, n. With the first pruning, to ``initial``, the model is
            pruned n + 1 times.
        scope, kinds, where: as in `prune_weights`.

    Raises:
        CourseError: one of these makes no sense; the rest as `prune_weights`.
    """

    def __init__(
        self,
        model: nn.Module,
        final: float,
        *,
        initial: float | None = None,
        start: int = 0,
        every: int = 1,
        times: int = 100,
        scope: Scope = "global",
        kinds: Kinds = KINDS,
        where: Where = "*",
    ) -> None:
        pruned = _pruned_already(_layers(model, scope, kinds, where), scope)
        self.before = max(zeros / of for zeros, of in pruned)
        initial = self.before if initial is None else initial
        self.initial = fraction(initial, "The initial sparsity", zero=True, one=False)
        self.final = fraction(final, "The final sparsity", zero=True, one=False)
        fewer = any(round(self.initial * of) < zeros for zeros, of in pruned)
        if fewer or self.initial > self.final:
            raise CourseError(
                f"From {initial:.1%} to {final:.1%} is no schedule for what is pruned to "
                f"{self.before:.1%} already.",
                "Give shares that grow: what is pruned does not come back.",
            )
        self.start, self.every = whole(start, "start", 0), whole(every, "every", 1)
        self.times = whole(times, "times", 1)
        self.model, self.scope, self.kinds, self.where = model, scope, kinds, where
        self.steps = 0

    def sparsity(self, step: int) -> float:
        """The share s_t that is pruned after this step; before the first, what was already."""
        if step < self.start:
            return self.before
        done = min((step - self.start) // self.every, self.times) / self.times
        return self.final + (self.initial - self.final) * (1 - done) ** 3

    def step(self) -> tuple[Change, ...]:
        """Call it after each step of the optimizer; what changed, if it was time to prune."""
        step, self.steps = self.steps, self.steps + 1
        since = step - self.start
        if since < 0 or since % self.every or since > self.every * self.times:
            return ()
        options = {"scope": self.scope, "kinds": self.kinds, "where": self.where}
        return set_masks(self.model, self.sparsity(step), **options)  # type: ignore[arg-type]


def _layers(model: nn.Module, scope: Scope, kinds: Kinds, where: Where) -> dict[str, Any]:
    """The layers that are meant, seen to be such as can be pruned."""
    if scope not in ("global", "layer"):
        raise CourseError(f"The scope is {scope!r}.", "Choose 'global' or 'layer'.")
    check_open(model, masks=True)
    layers = chosen(model, kinds, where)
    check_numbers(layers)
    return layers


def _pruned_already(layers: Mapping[str, nn.Module], scope: Scope) -> list[tuple[int, int]]:
    """How many weights are under masks of how many: of each matrix, or of all together."""
    masks = {id(_parameter(layer)): _mask(layer) for layer in layers.values()}.values()
    counts = [(int((mask == 0).sum()), mask.numel()) for mask in masks]
    if scope == "layer":
        return counts
    return [(sum(zeros for zeros, _ in counts), sum(of for _, of in counts))]


def check_masks(model: nn.Module) -> None:
    """See that no weight is under another parametrization than a mask.

    Raises:
        CourseError: one is.
    """
    for layer in model.modules():
        if parametrize.is_parametrized(layer, "weight"):
            _parameter(layer)


def _smallest(
    weights: Mapping[int, Tensor], masked: Mapping[int, Tensor], sparsity: float, scope: Scope
) -> dict[int, Tensor]:
    """The masks, with the smallest ⌊s·N⌉ weights at 0: of all, or of each matrix."""
    if scope == "layer":
        return {key: _one_mask(w, masked[key], sparsity) for key, w in weights.items()}
    every = torch.cat([w.flatten() for w in weights.values()])
    mask = _one_mask(every, torch.cat([masked[key].flatten() for key in weights]), sparsity)
    parts = mask.split([w.numel() for w in weights.values()])
    return {key: part.view_as(weights[key]) for key, part in zip(weights, parts, strict=True)}


def _one_mask(weight: Tensor, masked: Tensor, sparsity: float) -> Tensor:
    amount, already = round(sparsity * weight.numel()), int((masked == 0).sum())
    if amount < already:
        raise CourseError(
            f"{already / weight.numel():.1%} are pruned already, and {sparsity:.1%} are to be.",
            "Give a sparsity that is no less: what is pruned does not come back.",
        )
    # What is pruned already comes first, before zeros that are there by chance.
    order = torch.where(masked == 0, -1.0, weight.abs()).flatten()
    keep = torch.ones_like(order)
    if amount:
        edge = order.kthvalue(amount).values  # faster than topk, which would sort them as well
        smaller = order < edge
        keep[smaller] = 0
        equal = (order == edge).nonzero().flatten()
        keep[equal[: amount - int(smaller.sum())]] = 0
    return keep.view_as(weight)


def _parameter(layer: nn.Module) -> Tensor:
    """The matrix itself, below its mask."""
    if not all(isinstance(part, Mask) for part in _parametrizations(layer) or ()):
        raise CourseError(
            f"A weight of this {type(layer).__name__} is under another parametrization than a "
            "mask.",
            "Make it permanent (torch.nn.utils.parametrize.remove_parametrizations), then prune.",
        )
    return matrix_of(layer)


def _parametrizations(layer: nn.Module) -> parametrize.ParametrizationList | None:
    """What stands between a layer's matrix and its use."""
    if not parametrize.is_parametrized(layer, "weight"):
        return None
    return cast(
        parametrize.ParametrizationList, cast(nn.ModuleDict, layer.parametrizations)["weight"]
    )


def _mask_on(layer: nn.Module) -> Mask | None:
    parts = _parametrizations(layer) or ()
    return next((part for part in parts if isinstance(part, Mask)), None)


def _mask(layer: nn.Module) -> Tensor:
    mask = _mask_on(layer)
    return torch.ones_like(_parameter(layer)) if mask is None else mask.mask


def _put_on(layer: nn.Module, mask: Tensor) -> None:
    there = _mask_on(layer)
    if there is not None:
        there.mask.copy_(mask)
    else:
        parametrize.register_parametrization(layer, "weight", Mask(mask.clone()), unsafe=True)
