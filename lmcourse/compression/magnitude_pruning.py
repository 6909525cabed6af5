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
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.layers import (
    Change,
    Compressed,
    M,
    Where,
    change,
    chosen,
    copy_of,
    fraction,
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
    kinds: tuple[type[nn.Module], ...] = KINDS,
    where: Where = "*",
) -> Compressed[M]:
    """A copy of the model with the smallest weights under a mask, ready to train on.

    Args:
        sparsity: the share that is pruned, in all; 0 ≤ s < 1. What a mask has pruned already
            counts, and stays pruned.
        scope: smallest of all chosen matrices together, or of each alone.
        kinds: classes of layers whose ``weight`` is pruned; biases are few and stay.
        where: patterns of the layers' names, see `layers.chosen`.

    A matrix that several layers hold is pruned once, and theirs stays one.

    Raises:
        CourseError: the sparsity is none, or less than what is pruned already; no layer fits; the
            model is quantized.
    """
    model = copy_of(model, masks=True)
    return Compressed(model, set_masks(model, sparsity, scope=scope, kinds=kinds, where=where))


def set_masks(
    model: nn.Module,
    sparsity: float,
    *,
    scope: Scope = "global",
    kinds: tuple[type[nn.Module], ...] = KINDS,
    where: Where = "*",
) -> tuple[Change, ...]:
    """`prune_weights` on the model itself, whose optimizer goes on with it."""
    fraction(sparsity, "The sparsity", zero=True, one=False)
    layers = chosen(model, kinds, where)
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
    for layer in model.modules():
        if _mask_on(layer) is not None:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
    return model


class GradualPruning:
    """Masks that grow while the model is trained (Zhu and Gupta 2017, eq. 1).

        pruning = GradualPruning(model, 0.8, start=100, every=10, times=50)
        for batch in batches:
            …; optimizer.step()
            pruning.step()

    It prunes the model itself, as an optimizer changes it.

    Args:
        final: the share that is pruned in the end.
        initial: the share at the start.
        start: after how many steps pruning begins, t_0.
        every: how many steps lie between two prunings, Δt.
        times: how often the share grows, n.
        scope, kinds, where: as in `prune_weights`.

    Raises:
        CourseError: one of these makes no sense.
    """

    def __init__(
        self,
        model: nn.Module,
        final: float,
        *,
        initial: float = 0.0,
        start: int = 0,
        every: int = 1,
        times: int = 100,
        scope: Scope = "global",
        kinds: tuple[type[nn.Module], ...] = KINDS,
        where: Where = "*",
    ) -> None:
        self.final = fraction(final, "The final sparsity", zero=True, one=False)
        self.initial = fraction(initial, "The initial sparsity", zero=True, one=False)
        if initial > final or start < 0 or every < 1 or times < 1:
            raise CourseError(
                f"A share of {initial} to {final} from step {start}, {times} times every {every} "
                "steps, is no schedule.",
                "Give initial ≤ final, start ≥ 0, every ≥ 1 and times ≥ 1.",
            )
        chosen(model, kinds, where)
        self.model, self.scope, self.kinds, self.where = model, scope, kinds, where
        self.start, self.every, self.times = start, every, times
        self.steps = 0

    def sparsity(self, step: int) -> float:
        """The share s_t that is pruned after this step; 0 before the first."""
        if step < self.start:
            return 0.0
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


def _smallest(
    weights: Mapping[int, Tensor], masked: Mapping[int, Tensor], sparsity: float, scope: Scope
) -> dict[int, Tensor]:
    """The masks, with the smallest ⌊s·N⌉ weights at 0: of all, or of each matrix."""
    if scope == "layer":
        return {key: _one_mask(w, masked[key], sparsity) for key, w in weights.items()}
    if scope != "global":
        raise CourseError(f"The scope is {scope!r}.", "Choose 'global' or 'layer'.")
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
    keep[order.topk(amount, largest=False).indices] = 0
    return keep.view_as(weight)


def _parameter(layer: nn.Module) -> Tensor:
    """The matrix itself, below its mask."""
    parts = _parametrizations(layer)
    if parts is None:
        return cast(Tensor, layer.weight)
    if not all(isinstance(part, Mask) for part in parts):
        raise CourseError(
            f"A weight of this {type(layer).__name__} is under another parametrization than a "
            "mask.",
            "Make it permanent (torch.nn.utils.parametrize.remove_parametrizations), then prune.",
        )
    return parts.original


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
