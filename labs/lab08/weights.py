"""Attention's weights: what masks them, what changes them, what they explain."""

import math

import torch
from torch import Tensor, nn

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def causal_weights(Q: Tensor, K: Tensor, attention_mask: Tensor) -> Tensor:
    causal = torch.ones(Q.shape[1], Q.shape[1], dtype=torch.bool).tril()
    visible = causal & attention_mask[:, None]
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
    return weights.masked_fill(~visible.any(-1, keepdim=True), 0.0)


def _texts(seed: int, attention_mask: Tensor, width: int) -> Example:
    q, k = 1.5 * normal(2, *attention_mask.shape, width, seed=seed).float()
    return q, k, attention_mask


def _padded(seed: int, lengths: list[int], width: int) -> Example:
    return _texts(seed, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None], width)


def _scored(*scores: float) -> Example:
    """Q and K with these scaled scores for each query, exactly; the third key is padding."""
    q, k = torch.zeros(1, 4, 16), torch.zeros(1, 4, 16)
    q[..., 0], k[..., 0] = 4.0, torch.tensor(scores)
    return q, k, torch.tensor([[True, True, False, True]])


MASK = Task(
    causal_weights,
    examples=[_padded(0, [5, 3], 4), _padded(1, [4, 6, 2], 8), _padded(2, [2, 4, 3, 4], 3)],
    edge_cases={
        "where padding comes first, or a text is nothing but padding": _texts(
            5, torch.tensor([[False, False, True, True], [False] * 4, [True] * 4]), 4
        ),
        "where a hidden key has a score of 300": _scored(1.0, 2.0, 300.0, 1.5),
        "for scores near 1000": _scored(1000.0, 1001.0, 300.0, 1000.5),
        "for scores near −30,000": _scored(-30000.0, -30001.0, 0.0, -30000.5),
    },
    slips="""
The scale of the scores is wrong. Divide them by √width, the square root of the size of the last
axis.
    / math.sqrt(Q.shape[-1]) -> / 1 || / Q.shape[-1] || / math.sqrt(Q.shape[1])
Queries and keys are exchanged. The axes are [batch, query, key].
    Q @ K.mT -> K @ Q.mT
Some hidden keys are visible. A key is visible if it is not padding *and* not after the query.
    causal & attention_mask[:, None] -> causal & (attention_mask[:, None] | True) ||
        attention_mask[:, None].expand(-1, Q.shape[1], -1) || causal | attention_mask[:, None] ||
        torch.ones_like(causal).expand(len(Q), -1, -1)
The causal mask is shifted or reversed. Query i attends to the keys 0 … i, itself included.
    .tril() -> .tril(-1) || .tril(1) || .triu()
    weights.masked_fill(~visible.any(-1, keepdim=True), 0.0) -> weights ||
        weights.masked_fill(~visible.any(-1, keepdim=True), 0.0)
A mask is inverted: visible keys are hidden.
    causal & attention_mask[:, None] -> ~(causal & attention_mask[:, None]) ||
        causal & ~attention_mask[:, None]
The padding mask is applied to queries. It hides *keys*: as a query, padding attends to the visible
keys like any other. Along which axis of [batch, query, key] should the mask vary?
    attention_mask[:, None] -> attention_mask[:, :, None] ||
        attention_mask[:, None] & attention_mask[:, :, None]
All texts have the same padding mask. Each text needs its own.
    attention_mask[:, None] -> attention_mask[:1, None] || attention_mask[-1:, None] ||
        attention_mask.all(0)
The mask is applied after the softmax (or `exp`), so the weights do not sum to 1. Hide the scores
before the softmax.
    scores.masked_fill(~visible, -math.inf).softmax(-1) -> scores.softmax(-1) * visible ||
        scores.exp() * visible
Hidden scores become 0, or 0 and 1 are added as a mask. A score of 0 does not hide a key: e⁰ = 1.
    scores.masked_fill(~visible, -math.inf) -> (scores * visible) || (scores + visible)
A query without a visible key gets NaN, since the softmax of −∞ alone is 0/0. Set its weights to 0.
    weights.masked_fill(~visible.any(-1, keepdim=True), 0.0) -> weights
Hidden scores are replaced by a finite number. Hidden keys then get weight: a little, or all of it
if no key is visible or the visible scores are even smaller. Use −∞.
    -math.inf -> -1e9 || -1e6 || torch.finfo(torch.float32).min
    weights.masked_fill(~visible.any(-1, keepdim=True), 0.0) -> weights
    or
    -math.inf -> -20.0 || -1e4 || -1e3
    or
    scores.masked_fill(~visible, -math.inf) -> (scores - 100.0 * ~visible)
This is right for small scores only. If `exp` or the softmax precedes the mask, a hidden score of
300 overflows or gets all of the weight. Hide the scores first, then call `softmax`.
    scores.masked_fill(~visible, -math.inf).softmax(-1) -> (w := scores.softmax(-1) * visible) /
        w.sum(-1, keepdim=True).clamp(min=1e-30) || (w := scores.exp() * visible) /
        w.sum(-1, keepdim=True).clamp(min=1e-30) || (w := scores.exp().where(visible, 0.0)) /
        w.sum(-1, keepdim=True).clamp(min=1e-30)
""",
    names=("The weights", "Whether weights are exactly 0"),
    exact_zeros=True,
    note="To test a mask in a model, change a hidden key: no weight may change.",
)


def score_gradient(a: Tensor, V: Tensor, g: Tensor) -> Tensor:
    by_weight = V @ g
    mean = a @ by_weight
    return a * (by_weight - mean)


def _gradients(seed: int, keys: int, width: int) -> Example:
    numbers = normal(keys + 1, width + 1, seed=seed)
    return numbers[1:, 0].softmax(-1), numbers[1:, 1:], numbers[0, 1:]


def _sum_of_entries(arguments: Example, value: Result, wanted: Result) -> str:
    total = float(value.parts[0].sum())
    return (abs(total) > 1e-6) * (
        f"The entries sum to {total:.4g}. They must sum to 0: a constant added to all scores "
        "changes nothing. Each score affects all weights through the sum in the denominator."
    )


GRADIENT = Task(
    score_gradient,
    examples=[_gradients(0, 4, 4), _gradients(1, 6, 3), _gradients(2, 3, 5)],
    slips="""
This is dL/da, the gradient of the weights. The step through the softmax is missing.
    a * (by_weight - mean) -> by_weight
Only the diagonal of the derivative of the softmax is used, a_j or a_j (1 − a_j). A score also
affects all other weights through the sum in the denominator.
    a * (by_weight - mean) -> a * by_weight || a * (1 - a) * by_weight
The subtracted mean is not the right one: weight dL/da_j by a_j and sum over all keys.
    a @ by_weight -> by_weight.mean() || by_weight.sum() || a * by_weight.sum()
A factor a_p is missing. It multiplies both terms: a key with weight 0 has the gradient 0.
    a * (by_weight - mean) -> by_weight - mean || a * by_weight - mean
The sign is reversed.
    by_weight - mean -> mean - by_weight
The mean is added. See the sign of a_p in the softmax's derivative.
    by_weight - mean -> by_weight + mean
The values are transposed: dL/da_j is the product of g with *row* j of V.
    V @ g -> V.T @ g
""",
    autograd=False,
    cause=_sum_of_entries,
    note="The entries sum to 0, since adding a constant to all scores does not change the weights.",
)


class KnownModel(nn.Module):
    """model(input_ids, visible) → logits [batch, 5] and weights [batch, 7].

    Logits and weights depend on the sequence, on what is visible of it, and on the training mode;
    the more is visible, the more answers are right.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))  # so that its logits have a graph
        self.input_ids = normal(120, 8, 5, seed=0).argmax(-1)

    def forward(self, input_ids: Tensor, visible: Tensor | None = None) -> tuple[Tensor, Tensor]:
        known = {tuple(row) for row in self.input_ids.tolist()}
        if not known.issuperset(map(tuple, input_ids.tolist())):
            raise ValueError("other `input_ids` than those of the check: hide by `visible` alone")
        if visible is None:
            visible = torch.ones(len(input_ids), 7, dtype=torch.bool)
        if visible.dtype != torch.bool or visible.shape != (len(input_ids), 7):
            raise ValueError(
                f"`visible` should be booleans [{len(input_ids)}, 7], one for each sequence and "
                f"position; it is {visible.dtype} {list(visible.shape)}"
            )
        mode = "training" * self.training
        scores = torch.stack([normal(7, seed=(mode, row)) for row in input_ids.tolist()])
        weights = scores.masked_fill(~visible, -math.inf).softmax(-1).nan_to_num()
        logits = []
        for row, seen in zip(input_ids.tolist(), visible.tolist(), strict=True):
            chance, *rest = normal(6, seed=(mode, row, seen)).sigmoid().tolist()
            rest[row[0]] = 2.0 if chance < 0.1 + 0.1 * sum(seen) else -2.0
            logits.append(rest)
        return self.scale * torch.tensor(logits), self.scale * weights


def knock_out(model: nn.Module, input_ids: Tensor, answers: Tensor, count: int) -> Tensor:
    model.eval()
    weights = model(input_ids, None)[1]
    rows = []
    for descending in (True, False):
        order = weights.argsort(-1, descending=descending)
        for hidden in range(count + 1):
            visible = torch.ones_like(weights, dtype=torch.bool)
            visible = visible.scatter(-1, order[:, :hidden], False)
            logits = model(input_ids, visible)[0]
            rows.append((logits.argmax(-1) == answers).double().mean())
    return torch.stack(rows).view(2, -1)


_MODEL = KnownModel()

HIDE = Task(
    knock_out,
    examples=[
        (_MODEL, _MODEL.input_ids, _MODEL.input_ids[:, 0], 3),
        (_MODEL, _MODEL.input_ids[:70], _MODEL.input_ids[:70, 0], 5),
    ],
    slips="""
The model is in training mode in some calls: dropout and the like are on, and change the weights,
too. Call `model.eval()` first.
    model.eval() -> pass
    or
    model.eval() -> pass
    rows = [] -> rows = model.eval() and []
The order of the rows is wrong. In the first row the *largest* weights are hidden first, in the
second the smallest.
    (True, False) -> (False, True) || (True, True) || (False, False)
The mask is inverted: only the positions that should be hidden are visible.
    visible.scatter(-1, order[:, :hidden], False) -> (~visible).scatter(-1, order[:, :hidden], True)
Only one position is hidden at a time. For the accuracy at k, hide the first k positions together.
    [:, :hidden] -> [:, max(0, hidden - 1) : hidden]
The second row begins with the positions of the first row hidden. Begin with a new mask.
    rows = [] -> rows, kept = [], torch.ones_like(weights, dtype=torch.bool)
    visible = torch.ones_like(weights, dtype=torch.bool) -> visible = kept
    visible = visible.scatter -> visible = kept = visible.scatter
The order is taken from weights with some positions hidden, whose weight is 0 then. Take it once,
with everything visible.
    logits = model(input_ids, visible)[0] -> logits, now = model(input_ids, visible);
        order = now.argsort(-1, descending=descending)
    or
    logits = model(input_ids, visible)[0] -> logits, now = model(input_ids, visible);
        order = now.argsort(-1, descending=descending)[:, :1]
    visible = torch.ones_like(weights, dtype=torch.bool) ->
        visible = visible if hidden else torch.ones_like(weights, dtype=torch.bool)
All accuracies are those with everything visible. Pass `visible` to the model.
    model(input_ids, visible)[0] -> model(input_ids, None)[0]
The first accuracy has one position hidden. It should have none.
    range(count + 1) -> range(1, count + 2)
The same positions are hidden in all sequences. Sort the weights of each sequence.
    weights.argsort -> weights.mean(0, keepdim=True).expand_as(weights).argsort ||
        weights[:1].expand_as(weights).argsort
These are percentages, counts or error rates. An accuracy is the share of right answers.
    .mean() -> .mean() * 100 || .sum()
    or
    == answers -> != answers
These are mean probabilities of the right symbol. An accuracy counts how often its logit is the
largest.
    (logits.argmax(-1) == answers) -> logits.softmax(-1).gather(1, answers[:, None])
`argmax` runs over the sequences of the batch. The symbols are the last axis of the logits.
    .argmax(-1) -> .argmax(0)
""",
    note="Now evaluate a trained model. What it can answer without a position shows what it needs; "
    "the weights show only what it attends to.",
)
