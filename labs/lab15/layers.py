"""Mask-self-attention, and what reaches a state through several layers."""

import math

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown


def mask_self_attention(Q: Tensor, K: Tensor, V: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
    width = Q.shape[-1]
    mask = visible[:, None]
    scores = Q @ K.mT / width**0.5
    M = torch.zeros_like(scores).masked_fill(~mask, -math.inf)
    weights = (scores + M).softmax(-1)
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return weights @ V, weights


def _attention(
    seed: int, batch: int, heads: int, time: int, width: int, values: int, padding: int
) -> Example:
    """A batch whose first sequence ends in padding; if the seed is odd, hidden scores are large."""
    Q, K = normal(2, batch, heads, time, width, seed=(seed, "QK")) * 1.5
    V = normal(batch, heads, time, values, seed=(seed, "V"))
    visible = normal(batch, time, time, seed=(seed, "visible")) > 0.3
    visible |= torch.eye(time, dtype=torch.bool)
    if seed % 2:  # one key has large scores, and is visible to its own token only
        loud = time - padding - 1
        Q[..., 0] = Q[..., 0].abs() + 1
        K[:, :, loud, 0] = 1e7
        visible[:, torch.arange(time) != loud, loud] = False
        K[..., 1], Q[..., 1] = 1e7, 0.0  # and the visible keys of token 0 have very small ones
        K[:, :, loud, 1], Q[:, :, 0, 1] = 0.0, -1.0
    if padding:
        visible[0, time - padding :] = False
        visible[0, :, time - padding :] = False
    return Q, K, V, visible


def _where(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first row of weights that differs."""
    found = one_value(ATTENTION, arguments, value, wanted)
    ours, right = value.parts[1], wanted.parts[1]
    if found or ours.shape != right.shape:
        return found
    bad = ~torch.isclose(ours, right, atol=1e-6).all(-1)
    if not bool(bad.any()):
        (ours, _), (right, _) = value.parts, wanted.parts
        b, h, i = (~torch.isclose(ours, right, atol=1e-6).all(-1)).nonzero()[0].tolist()
        return (
            f"The weights are right. Sequence {b}, head {h}: the output of token {i} is "
            f"{shown(ours[b, h, i])}; expected: {shown(right[b, h, i])}."
        )
    b, h, i = bad.nonzero()[0].tolist()
    row = arguments[3][b, i].long()
    return (
        f"Sequence {b}, head {h}: the weights of token {i} are {shown(ours[b, h, i])}; expected: "
        f"{shown(right[b, h, i])}. Its row of the visible matrix is {shown(row)}."
    )


ATTENTION: Task = Task(
    mask_self_attention,
    examples=[
        *(_attention(0, 2, 2, 6, 4, 3, 2), _attention(1, 3, 2, 5, 3, 4, 1)),
        *(_attention(2, 3, 3, 7, 8, 5, 2), _attention(3, 1, 2, 6, 2, 6, 0)),
    ],
    edge_cases={"for one token": _attention(4, 2, 1, 1, 3, 2, 0)},
    slips="""
The visible matrix has no effect, or only its padding has: BERT's mask hides the same columns from
all tokens. Here, each token has a row of its own.
    ~mask, -math.inf -> ~mask, 0.0
    or
    masked_fill(~mask, -math.inf) -> masked_fill(mask & ~mask, -math.inf)
    or
    mask = visible[:, None] -> mask = visible.any(1)[:, None, None]
The visible matrix is inverted or transposed: row i is True at the tokens that are visible to token
i, and the scores of the others become −∞.
    masked_fill(~mask, -math.inf) -> masked_fill(mask, -math.inf)
    or
    mask = visible[:, None] -> mask = ~visible[:, None]
    or
    mask = visible[:, None] -> mask = visible.mT[:, None]
Hidden scores become −∞. A score of 0 has the weight e⁰ = 1 before the division, and with a large
negative number, a hidden score can still be the largest.
    (scores + M).softmax(-1) -> (scores * mask).softmax(-1)
    or
    ~mask, -math.inf -> ~mask, -1.0 || ~mask, -10.0 || ~mask, -100.0 || ~mask, -1e4 ||
        ~mask, -1000.0 || ~mask, -65504.0
The softmax is computed before the mask, so a hidden token with a large score takes the weight of
the visible ones.
    weights = (scores + M).softmax(-1) -> weights = scores.softmax(-1) * mask
    or
    weights = (scores + M).softmax(-1) -> weights = scores.softmax(-1) * mask; weights = weights /
        weights.sum(-1, keepdim=True)
    or
    weights = (scores + M).softmax(-1) -> weights = scores.softmax(-1) * mask; weights = weights /
        weights.sum(-1, keepdim=True).clamp(min=1e-9)
    or
    weights = (scores + M).softmax(-1) -> weights = scores.softmax(-1) * mask; weights = weights /
        (weights.sum(-1, keepdim=True) + 1e-9)
    or
    weights = (scores + M).softmax(-1) -> weights = (scores.softmax(-1) + M).softmax(-1)
0 · ∞ is NaN, and so is ∞/∞, which exponentials of large scores give: use `masked_fill` before
`softmax`.
    torch.zeros_like(scores).masked_fill(~mask, -math.inf) -> (1 - mask.double()) * -math.inf
    or
    torch.zeros_like(scores).masked_fill(~mask, -math.inf) -> (1 - mask.double()) * -math.inf
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
    or
    torch.zeros_like(scores).masked_fill(~mask, -math.inf) -> (1 - mask.double()) * -math.inf
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> weights =
        weights.nan_to_num(0.0)
    or
    weights = (scores + M).softmax(-1) -> weights = scores.exp() * mask; weights = weights /
        weights.sum(-1, keepdim=True) || weights = (scores + M).exp(); weights = weights /
        weights.sum(-1, keepdim=True)
    or
    weights = (scores + M).softmax(-1) -> weights = scores.exp() * mask; weights = weights /
        weights.sum(-1, keepdim=True) || weights = (scores + M).exp(); weights = weights /
        weights.sum(-1, keepdim=True)
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
    or
    weights = (scores + M).softmax(-1) -> weights = scores.exp() * mask; weights = weights /
        weights.sum(-1, keepdim=True) || weights = (scores + M).exp(); weights = weights /
        weights.sum(-1, keepdim=True)
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> weights =
        weights.nan_to_num(0.0)
    or
    weights = (scores + M).softmax(-1) -> weights = scores.exp() * mask; weights = weights /
        weights.sum(-1, keepdim=True).clamp(min=1e-9) || weights = (scores + M).exp(); weights =
        weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
A row of padding is NaN: no token is visible to it, so its softmax is 0/0. Its weights and its
output are 0.
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
A row of padding has weights, as all of its scores are equal. No token is visible to it: its weights
are 0.
    ~mask, -math.inf -> ~mask, -1e30
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
    or
    .any(-1, keepdim=True), 0.0) -> .any(-1, keepdim=True), 1.0 / len(M[0, 0]))
    or
    ~mask, -math.inf -> ~mask, -1e9
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
The scores are not divided by √d, or by another number: d is the width of a query.
    / width**0.5 -> / 1 || / V.shape[-1] ** 0.5 || / width || / len(Q[0, 0]) ** 0.5 ||
        * width**0.5 || / (width * len(Q[0])) ** 0.5
A product has its factors exchanged, or one is transposed: scores are queries times keys, and row i
of the weights belongs to query i.
    Q @ K.mT -> K @ Q.mT
    or
    return weights @ V -> return weights.mT @ V
The weights of a query are no softmax over its keys: exponentials, divided by their sum over the
keys. That is the last axis, not the axis of queries, heads or sequences.
    (scores + M).softmax(-1) -> (scores + M).softmax(-2).nan_to_num(0.0) ||
        (scores + M).softmax(1).nan_to_num(0.0) || (scores + M).softmax(0).nan_to_num(0.0)
    or
    (scores + M).softmax(-1) -> (scores + M).softmax(-2) || (scores + M).softmax(1) ||
        (scores + M).softmax(0)
    or
    (scores + M).softmax(-1) -> (scores + M).softmax(-2) || (scores + M).softmax(1) ||
        (scores + M).softmax(0)
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) -> pass
    or
    (scores + M).softmax(-1) -> (scores - scores.amax(-1, keepdim=True) + M).exp()
    or
    (scores + M).softmax(-1) -> torch.sigmoid(scores + M)
    or
    (scores + M).softmax(-1) -> scores * mask
The visible matrix has no axis of heads, and is aligned with the wrong axis: that of a batch. Each
head of a sequence has the matrix of the sequence.
    mask = visible[:, None] -> mask = visible
    or
    mask = visible[:, None] -> mask = visible[None]
    or
    mask = visible[:, None] -> mask = visible[:1, None]
    or
    mask = visible[:, None] -> mask = visible.any(0)
    or
    mask = visible[:, None] -> mask = visible.all(0)
The values are masked too late: hidden tokens lose their values, but keep their weights.
    M = torch.zeros_like(scores).masked_fill(~mask, -math.inf) -> M = torch.zeros_like(scores); V =
        V * visible.any(1)[:, None, :, None]
""",
    names=("The outputs", "The weights"),
    cause=_where,
    note="`masked_fill` with −∞ and a zero for rows without a visible key is what the package's "
    "`masked_softmax` does. With −10,000 in place of −∞, a large score passes the mask.",
)


def reach(visible: Tensor, layers: int) -> tuple[Tensor, Tensor]:
    step = visible | torch.eye(len(visible), dtype=torch.bool)
    reached = [torch.eye(len(visible), dtype=torch.bool)]
    fewest = torch.full(visible.shape, -1)
    fewest[reached[0]] = 0
    for layer in range(1, max(layers, len(visible)) + 1):
        before = reached[-1]
        now = (step.double() @ before.double()) > 0
        fewest[now & ~before] = layer
        reached.append(now)
    return torch.stack(reached[: layers + 1]), fewest


def _tree(branches: list[int], entities: list[tuple[int, int]], padding: int = 0) -> Tensor:
    """The visible matrix of a tree, from its paths, with padding."""
    of = torch.tensor([*branches, *[-2] * padding])
    trunk = (of == -1).nonzero().flatten()
    visible = (of == -1)[:, None] & (of == -1)
    for number, (start, end) in enumerate(entities):
        path = torch.cat([trunk[start:end], (of == number).nonzero().flatten()])
        visible[path[:, None], path] = True
    return visible


def _directed(seed: int, time: int) -> Tensor:
    """A matrix that is not symmetric, in which few tokens are visible."""
    visible = normal(time, time, seed=(seed, "directed")) > 1.1
    visible |= torch.eye(time, dtype=torch.bool)
    visible[-1] = visible[:, -1] = False  # padding
    return visible


def _path(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first cell that differs."""
    found = one_value(REACH, arguments, value, wanted)
    if found:
        return found
    visible, _ = arguments
    ours, right = value.parts[0], wanted.parts[0]
    if ours.shape == right.shape and bool((ours != right).any()):
        layer, i, j = (ours != right).nonzero()[0].tolist()
        words = ("does not reach", "reaches")
        return (
            f"After {layer} layers, token {j} {words[int(ours[layer, i, j] > 0)]} the state of "
            f"token {i}; expected: it {words[int(right[layer, i, j])]} it. Visible to token {i}: "
            f"{shown(visible[i].nonzero().flatten())}."
        )
    ours, right = value.parts[1], wanted.parts[1]
    if ours.shape == right.shape and bool((ours != right).any()):
        i, j = (ours != right).nonzero()[0].tolist()
        return (
            f"From token {j} to the state of token {i}, the fewest layers: {ours[i, j]:.6g}; "
            f"expected: {right[i, j]:.0f}. Visible to token {i}: "
            f"{shown(visible[i].nonzero().flatten())}."
        )
    return ""


_COOK = [-1, -1, -1, 0, 0, -1, -1, -1, 1, 1, 2, 2, -1], [(1, 3), (5, 6), (5, 6)]

REACH: Task = Task(
    reach,
    examples=[
        *((_directed(1, 11), 4), (_tree(*_COOK, padding=1), 3), (_directed(0, 8), 2)),
        *((_tree([-1, -1, 1, 0, 0, -1, 2], [(1, 2), (0, 2), (2, 3)], 2), 1), (_directed(2, 9), 1)),
    ],
    edge_cases={
        "without layers": (_directed(3, 6), 0),
        "for 120 layers": (_tree(*_COOK), 120),
        "for 400 layers": (_directed(4, 9), 400),
        "where a chain of 12 tokens needs 11 layers": (
            torch.eye(12, dtype=torch.bool) | torch.eye(12, dtype=torch.bool).roll(1, 0).tril(),
            3,
        ),
    },
    slips="""
The residual connection is missing: a token's input reaches its own state in each layer, even where
the matrix hides it from itself, as in padding.
    step = visible | torch.eye(len(visible), dtype=torch.bool) -> step = visible
The matrix is used transposed, or in both directions. Row i has what token i attends to, so
information goes from there to token i, and need not go back.
    step = visible | -> step = visible.T |
    or
    step.double() @ before.double() -> (step.double() @ before.double().T).T @
        torch.eye(len(step)).double()
    or
    return torch.stack(reached[: layers + 1]), fewest ->
        return torch.stack(reached[: layers + 1]).mT, fewest.T
    or
    step = visible | -> step = visible | visible.T |
    or
    step = visible | -> step = visible & visible.T |
Row 0 is the input, before any layer: only the token itself. Layer 1 comes after it.
    reached[: layers + 1] -> reached[1 : layers + 2]
    or
    fewest[now & ~before] = layer -> fewest[now & ~before] = layer - 1
    or
    fewest[now & ~before] = layer -> fewest[now & ~before] = layer + 1
    or
    reached = [torch.eye(len(visible), dtype=torch.bool)] -> reached = [step]
Each layer squares the matrix, so the reach doubles. A layer is one step of attention.
    step.double() @ before -> before.double() @ before
    reached = [torch.eye(len(visible), dtype=torch.bool)] -> reached =
        [torch.eye(len(visible), dtype=torch.bool), step]
    range(1, max -> range(2, max
    or
    (step.double() @ before.double()) > 0 -> ((before if layer > 1 else step).double() @ (before if
        layer > 1 else step).double()) > 0
All layers have the reach of one. What was reached in one layer is passed on in the next.
    (step.double() @ before.double()) > 0 -> step
    or
    (step.double() @ before.double()) > 0 -> ((step.double() @ before.double()) > 0) & step
Every token reaches every other one after one layer, or after two. Count the steps.
    (step.double() @ before.double()) > 0 ->
        torch.linalg.matrix_power(step.double(), len(step)) > 0
    or
    (step.double() @ before.double()) > 0 -> torch.ones_like(before)
These are numbers of paths, and the question is whether there is one. The number of paths overflows:
replace it by 0 or 1 in each layer.
    (step.double() @ before.double()) > 0 -> (step.double() @ before.double())
    now & ~before -> (now > 0) & (before == 0)
    or
    return torch.stack(reached[: layers + 1]), fewest -> return torch.stack([
        torch.linalg.matrix_power(step.double(), n) for n in range(layers + 1)]), fewest
    or
    return torch.stack(reached[: layers + 1]), fewest -> return torch.stack([
        torch.linalg.matrix_power(step.long(), n) > 0 for n in range(layers + 1)]), fewest ||
        return torch.stack([torch.linalg.matrix_power(step.float(), n) > 0
        for n in range(layers + 1)]), fewest
    or
    (step.double() @ before.double()) > 0 -> step.long() @ before.long() ||
        before.float() @ step.float() ||
        step.float() @ before.float() || step.int() @ before.int()
    now & ~before -> (now > 0) & (fewest == -1) || (now > 0) & ~(before > 0)
    torch.stack(reached[: layers + 1]) -> torch.stack([now > 0 for now in reached[: layers + 1]])
A token that is never reached has another number than −1.
    torch.full(visible.shape, -1) -> torch.full(visible.shape, 0) ||
        torch.full(visible.shape, len(visible)) || torch.full(visible.shape, layers + 1) ||
        torch.full(visible.shape, torch.inf)
The fewest layers are counted up to `layers` only. They do not depend on it: go on until nothing
new is reached.
    range(1, max(layers, len(visible)) + 1) -> range(1, layers + 1)
    or
    return torch.stack -> fewest = fewest.where(fewest <= layers, -1); return torch.stack
A token reaches itself without any layer: 0.
    fewest[reached[0]] = 0 -> pass
    or
    fewest[reached[0]] = 0 -> fewest[reached[0]] = 1
The result is the last layer's only, or leaves out the input: return one matrix for each of 0, 1, …
`layers`.
    torch.stack(reached[: layers + 1]) -> reached[layers]
    or
    torch.stack(reached[: layers + 1]) -> torch.stack(reached[: max(layers, 1)])
What is new in a layer is not all that is reached: what was reached before remains so.
    torch.stack(reached[: layers + 1]) -> torch.stack([now & ~before if n else now for n, (before,
        now) in enumerate(zip([reached[0], *reached], reached[: layers + 1]))])
""",
    names=("The reach", "The fewest layers"),
    cause=_path,
    note="The number of layers is the length of the shortest path. Facts of one entity reach each "
    "other in two layers, facts of two entities in three.",
)
