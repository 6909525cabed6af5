"""Layers that share weights by kind, and the gradient of a shared weight."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown

Sublayer = Callable[[Tensor], Tensor]


def shared_layers(
    x: Tensor, attentions: list[Sublayer], networks: list[Sublayer], sharing: str, groups: int
) -> tuple[Tensor, list[tuple[int, int]]]:
    L = len(attentions)
    group = [layer * groups // L for layer in range(L)]
    first = [group.index(each) for each in group]
    own = [*range(L)]
    a = first if sharing in ("all", "attention") else own
    f = first if sharing in ("all", "ffn") else own
    for i, j in zip(a, f, strict=True):
        x = attentions[i](x)
        x = networks[j](x)
    return x, [*zip(a, f, strict=True)]


class _Sublayer:
    """A sublayer with its residual connection and a normalization, of fixed random weights."""

    def __init__(self, kind: str, number: int, width: int) -> None:
        self.name = f"{kind} {number}"
        self.weights = normal(2, width, width, seed=(kind, number, width))

    def __repr__(self) -> str:
        return self.name

    def __call__(self, x: Tensor) -> Tensor:
        A, B = self.weights
        if self.name.startswith("attention"):
            change = (x @ A @ x.mT / len(A)).softmax(-1) @ x @ B
        else:
            change = (x @ A).tanh() @ B
        x = x + change
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)


def _stack(layers: int, time: int, width: int, sharing: str, groups: int) -> Example:
    x = normal(time, width, seed=(layers, time, sharing))
    attentions, networks = (
        [_Sublayer(kind, number, width) for number in range(layers)]
        for kind in ("attention", "network")
    )
    return x, attentions, networks, sharing, groups


def _which(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first layer with other weights."""
    found = one_value(SHARING, arguments, value, wanted)
    ours, right = (each.parts[1].long() for each in (value, wanted))
    if found or ours.shape != right.shape or bool((ours == right).all()):
        return found
    at = int((ours != right).any(1).nonzero()[0])
    *_, sharing, groups = arguments
    return (
        f"With {len(right)} layers, sharing = {sharing!r} and groups = {groups}, layer {at} uses "
        f"{shown(ours[at])}; expected: {shown(right[at])}."
    )


SHARING: Task = Task(
    shared_layers,
    examples=[
        *(_stack(6, 3, 4, "all", 1), _stack(6, 4, 5, "attention", 2), _stack(7, 3, 6, "ffn", 3)),
        *(_stack(5, 2, 4, "none", 1), _stack(5, 3, 4, "all", 2), _stack(9, 3, 5, "attention", 3)),
        *(_stack(4, 4, 6, "none", 2), _stack(8, 2, 5, "ffn", 2)),
    ],
    edge_cases={
        "if each layer is a group": _stack(4, 3, 4, "all", 4),
        "for one layer": _stack(1, 3, 4, "all", 1),
    },
    slips="""
What is shared is exchanged, or the two numbers of a pair: `"ffn"` shares the feed-forward networks,
and only these, and attention comes first.
    a = first if sharing in ("all", "attention") -> a = first if sharing in ("all", "ffn")
    f = first if sharing in ("all", "ffn") -> f = first if sharing in ("all", "attention")
Both kinds are shared wherever one is. Only what `sharing` names is shared; `"all"` shares both.
    sharing in ("all", "attention") -> sharing != "none"
    sharing in ("all", "ffn") -> sharing != "none"
The groups have no effect: all layers use the weights of layer 0.
    group.index(each) for each in group -> 0 for each in group
Nothing is shared: each layer uses its own weights.
    a = first if sharing in ("all", "attention") else own -> a = own
    f = first if sharing in ("all", "ffn") else own -> f = own
Even with `"none"`, or for the kind that is not shared, layers share within their group.
    a = first if sharing in ("all", "attention") else own -> a = first
    f = first if sharing in ("all", "ffn") else own -> f = first
    or
    first if sharing in ("all", "attention") else own -> first
    or
    first if sharing in ("all", "ffn") else own -> first
    or
    own = -> own = first if sharing == "none" else
`"all"` is one of the four settings, and shares both.
    sharing in ("all", "attention") -> sharing == "attention"
    sharing in ("all", "ffn") -> sharing == "ffn"
    or
    sharing in ("all", "attention") -> sharing == "all"
    sharing in ("all", "ffn") -> sharing == "all"
These are the numbers of the groups. A group uses the sublayers of its first *layer*.
    group.index(each) for each in group -> each for each in group
A group uses the sublayers of another layer than its first one.
    group.index(each) for each in group -> L - 1 - group[::-1].index(each) for each in group ||
        max(group.index(each) - 1, 0) for each in group
The groups have other borders: layers alternate between groups, or there are too many groups. A
group is a number of consecutive layers, and the text states which.
    layer * groups // L for -> layer % groups for || layer // (L // groups) for ||
        layer // groups for || min(layer // (L // groups), groups - 1) for ||
        layer // -(-L // groups) for || round(layer * groups / L) for
Shared weights are applied once. Each layer is still computed: sharing saves weights, not work.
    in zip(a, f, strict=True): -> in dict.fromkeys(zip(a, f)):
    or
    in zip(a, f, strict=True): -> in [(i, j) for l, (i, j) in enumerate(zip(a, f)) if l == first[l]
        or sharing != "all"]:
    or
    in zip(a, f, strict=True): -> in [(i, j) for i in dict.fromkeys(a) for j in dict.fromkeys(f)]:
The sublayers are applied in another order: a layer is attention, then the feed-forward network.
    x = attentions[i](x) -> x = attentions[i](networks[j](x))
    x = networks[j](x) -> pass
    or
    in zip(a, f, strict=True): -> in [*((i, -1) for i in a), *((-1, j) for j in f)]:
    x = attentions[i](x) -> x = attentions[i](x) if i >= 0 else x
    x = networks[j](x) -> x = networks[j](x) if j >= 0 else x
A sublayer has the wrong input: both sublayers have the same, a sum is added once more, or every
layer has the input of the first one.
    x = attentions[i](x) -> y = attentions[i](x)
    x = networks[j](x) -> x = y + networks[j](x)
    or
    x = attentions[i](x) -> x = x + attentions[i](x)
    x = networks[j](x) -> x = x + networks[j](x)
    or
    L = len(attentions) -> L, start = len(attentions), x
    x = attentions[i](x) -> x = attentions[i](start)
    or
    x = networks[j](x) -> networks[j](x)
    or
    x = attentions[i](x) -> attentions[i](x)
""",
    names=("The output", "The numbers of the sublayers"),
    cause=_which,
    note="ALBERT's number of layers is a number of computations. It has one set of weights.",
)


def shared_gradients(
    weights: Tensor, group_of: list[int], loss: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    layers = weights[group_of].detach().clone().requires_grad_()
    (uses,) = torch.autograd.grad(loss(layers), layers)
    member = torch.tensor(group_of) == torch.arange(len(weights))[:, None]  # [group, layer]
    member = member.to(uses.dtype)
    total = torch.einsum("gl,lij->gij", member, uses)
    lengths = member @ uses.flatten(1).norm(dim=1)
    return uses, total, total.flatten(1).norm(dim=1) / lengths


class _Chain:
    """The squared error of a stack of layers, each with its own matrix."""

    def __init__(self, seed: int, width: int) -> None:
        self.x, self.y = normal(2, 5, width, seed=(seed, "data"))

    def __call__(self, layers: Tensor) -> Tensor:
        h = self.x
        for W in layers:
            h = h + (h @ W.to(h.dtype)).tanh()
        return (h - self.y).square().mean()


def _chain(seed: int, width: int, *group_of: int) -> Example:
    weights = normal(max(group_of) + 1, width, width, seed=(seed, "W")) / width**0.5
    return weights, [*group_of], _Chain(seed, width)


GRADIENTS: Task = Task(
    shared_gradients,
    examples=[
        *(_chain(0, 3, 0, 0, 1, 1, 1), _chain(1, 4, 0, 1, 0, 1, 0, 0), _chain(2, 2, 2, 0, 0, 1, 1)),
        *(_chain(3, 3, 1, 1, 0, 0, 0), _chain(4, 3, 0, 0, 0, 0)),
    ],
    edge_cases={"if each weight is used once": _chain(5, 3, 2, 0, 1)},
    slips="""
The gradient of a shared weight is the mean over its uses. It is their sum: each use adds a term of
the chain rule.
    total = torch.einsum("gl,lij->gij", member, uses) ->
        total = torch.einsum("gl,lij->gij", member / member.sum(1, keepdim=True), uses)
    lengths = member @ uses.flatten(1).norm(dim=1) -> lengths = member @ uses.flatten(1).norm(dim=1)
        / member.sum(1)
    or
    "gl,lij->gij", member, uses -> "gl,lij->gij", member / member.sum(1, keepdim=True), uses
    or
    "gl,lij->gij", member, uses -> "gl,lij->gij", member / len(group_of), uses
Only one use has an effect: the last or the first one of each group. All of them add up.
    "gl,lij->gij", member, uses -> "gl,lij->gij", member * (member.cumsum(1) == 1), uses ||
        "gl,lij->gij", member * (member.flip(1).cumsum(1).flip(1) == 1), uses
The uses have the gradient of their shared weight. If each layer has its own copy, each copy has a
gradient of its own.
    return uses, total -> return total[group_of], total
    or
    return uses, total -> return total[group_of] / member.sum(1)[group_of][:, None, None], total
    or
    lengths = member @ uses.flatten(1).norm(dim=1) -> uses = total[group_of]; lengths = member @
        uses.flatten(1).norm(dim=1)
The groups are taken in another order, or as equal runs of layers. `group_of` states the group
of each layer.
    torch.tensor(group_of) == torch.arange(len(weights))[:, None] ->
        torch.tensor(sorted(group_of)) == torch.arange(len(weights))[:, None] ||
        torch.arange(len(group_of)) * len(weights) // len(group_of) ==
        torch.arange(len(weights))[:, None] ||
        torch.tensor([[*dict.fromkeys(group_of)].index(g) for g in group_of]) ==
        torch.arange(len(weights))[:, None]
All uses are added up, whatever their group is.
    member = member.to(uses.dtype) -> member = torch.ones_like(member, dtype=uses.dtype)
    or
    "gl,lij->gij", member, uses -> "gl,lij->gij", torch.ones_like(member), uses
The layers use other weights than they should: layer l uses the weight of group `group_of[l]`.
    weights[group_of].detach() -> weights[sorted(group_of)].detach() ||
        weights[torch.arange(len(group_of)) % len(weights)].detach() ||
        weights[:1].expand(len(group_of), -1, -1).detach() ||
        weights[torch.arange(len(group_of)) * len(weights) // len(group_of)].detach()
The agreement divides by another number than the sum of the lengths of the uses.
    .norm(dim=1) / lengths -> .norm(dim=1) || .norm(dim=1) / member.sum(1) ||
        .norm(dim=1) / (member @ uses.flatten(1).square().sum(1)).sqrt() ||
        .norm(dim=1) / (member @ uses.flatten(1).square().sum(1)) ||
        .norm(dim=1) / (lengths / member.sum(1)) || .norm(dim=1) / lengths.sum() ||
        .norm(dim=1) / uses.norm() || .norm(dim=1) / total.norm()
The agreement is inverted: it is at most 1, where all uses have the same direction.
    total.flatten(1).norm(dim=1) / lengths -> lengths / total.flatten(1).norm(dim=1) ||
        1 - total.flatten(1).norm(dim=1) / lengths
This is another norm. The length is that of all entries of the matrix in one vector.
    lengths = member @ uses.flatten(1).norm(dim=1) -> lengths = member @
        torch.linalg.matrix_norm(uses, 2)
    total.flatten(1).norm(dim=1) / lengths -> torch.linalg.matrix_norm(total, 2) / lengths
    or
    lengths = member @ uses.flatten(1).norm(dim=1) -> lengths = member @ uses.abs().sum((1, 2))
    total.flatten(1).norm(dim=1) / lengths -> total.abs().sum((1, 2)) / lengths
    or
    total.flatten(1).norm(dim=1) / lengths -> total.flatten(1).square().sum(1) / (member @
        uses.flatten(1).square().sum(1))
There is one agreement for each group, not one for all of them or for each layer.
    total.flatten(1).norm(dim=1) / lengths -> (total.flatten(1).norm(dim=1) / lengths).mean() ||
        total.norm() / lengths.sum() || (total.flatten(1).norm(dim=1) / lengths)[group_of]
The sign is reversed. Return the gradient, not the step of gradient descent.
    loss(layers), layers) -> -loss(layers), layers)
The gradients are multiplied by the weights.
    return uses, total, -> return uses * layers.detach(), total,
    or
    return uses, total, -> return uses, total * weights,
    or
    return uses, total, -> return uses * layers.detach(), total * weights,
""",
    names=("The gradients of the uses", "The gradients of the weights", "The agreement"),
    cause=lambda *call: one_value(GRADIENTS, *call),
    note="Autograd adds up the gradients of a shared tensor's uses by itself. The copies show what "
    "each use contributes.",
)
