"""Attention's output, a weighted mean of values."""

import math  # noqa: F401 - the slips use it

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal

Block = tuple[Tensor, Tensor, Tensor]  # largest score m, z = Σ e^(s − m), and output o


def add_entry(output: Tensor, total: float, similarity: float, value: Tensor) -> Tensor:
    weighted = total * output + similarity * value
    return weighted / (total + similarity)


def _entries(seed: int, entries: int, width: int) -> Example:
    phi = 0.2 + 3 * normal(entries + 1, seed=seed).sigmoid()
    values = normal(entries + 1, width, seed=(seed, width))
    old = phi[:-1] @ values[:-1] / phi[:-1].sum()
    return old, phi[:-1].sum().item(), phi[-1].item(), values[-1]


ENTRY = Task(
    add_entry,
    examples=[_entries(0, 4, 3), _entries(1, 1, 5), _entries(2, 7, 2)],
    slips="""
The old output keeps its full weight. The weights of the old output and the new value must sum to 1.
    weighted / (total + similarity) -> output + similarity * value ||
        output + similarity * value / (total + similarity)
The old output is weighted like a single entry with similarity 1. It is the mean of all old entries,
so its weight is their total.
    total * output -> output
    total + similarity -> 1 + similarity
The old output and the new value have equal weights. Weight them by their similarities.
    weighted / (total + similarity) -> (output + value) / 2
The weighted sum is not divided by the total, or is divided by the old total. The new total includes
the similarity of the new entry.
    / (total + similarity) -> / 1 || / total
The weight of the new entry is φ / total, relative to the *old* total. Divide by the new total.
    weighted / (total + similarity) -> output + similarity / total * (value - output)
The weights are exchanged: `total` belongs to the old output, `similarity` to the new value.
    total * output + similarity * value -> similarity * output + total * value
The new entry has the similarity 1, whatever the argument `similarity` is.
    similarity * value -> value
    total + similarity -> total + 1
The argument is the similarity φ itself, not a score. No exponential is needed.
    weighted = -> similarity = math.exp(similarity); weighted = ||
        total, similarity = math.exp(total), math.exp(similarity); weighted =
The old output has the weight 1 − φ, as if φ were a weight. The weight is φ divided by the new
total.
    weighted / (total + similarity) -> output + similarity * (value - output)
""",
    note="The old output and the total were enough: a weighted mean can be updated without its "
    "entries.",
)


def join(first: Block, second: Block) -> Block:
    (m1, z1, o1), (m2, z2, o2) = first, second
    m = torch.maximum(m1, m2)
    a, b = z1 * (m1 - m).exp(), z2 * (m2 - m).exp()
    z = a + b
    return m, z, (a * o1 + b * o2) / (a + b)


def _blocks(seed: int, apart: float, lift: float = 0.0) -> tuple[Block, Block]:
    """Two blocks of keys; the second's largest score is ``apart`` above the first's."""
    blocks = []
    for keys, top in ((3, lift), (5, lift + apart)):
        scores, values = normal(keys, seed=seed), normal(keys, 3, seed=(seed, keys))
        scores = scores - scores.max() + top
        powers = (scores - scores.max()).exp()
        blocks.append((scores.max(), powers.sum(), powers @ values / powers.sum()))
    return blocks[0], blocks[1]


JOIN = Task(
    join,
    examples=[_blocks(0, 1.5, 0.7), _blocks(1, -1.5, -0.4), _blocks(2, 0.0, 0.3)],
    edge_cases={
        "for scores near 5000": _blocks(3, 1.0, 5000.0),
        "for scores near −5000": _blocks(3, 1.0, -5000.0),
        "for scores near 0 in one block and near −5000 in the other": _blocks(3, -5000.0),
    },
    slips="""
The sums are added without a common m: each is relative to the largest score of its *own* block.
Convert both to the new m first.
    z1 * (m1 - m).exp(), z2 * (m2 - m).exp() -> z1, z2 || z1, z2 * (m2 - m1).exp() ||
        z1 * (m1 - m2).exp(), z2
The factors are inverted. If m increases, e^(s − m) decreases, and so must the sum of the block.
    z1 * (m1 - m).exp(), z2 * (m2 - m).exp() -> z1 * (m - m1).exp(), z2 * (m - m2).exp()
m and z are right. The two outputs have equal weights. Weight each by what its block contributes to
z.
    (a * o1 + b * o2) / (a + b) -> (o1 + o2) / 2 || o1 + o2
m and z are right. The outputs are weighted by the largest score of each block. All keys of a block
contribute to its weight.
    (a * o1 + b * o2) / (a + b) -> (a / z1 * o1 + b / z2 * o2) / (a / z1 + b / z2)
m and z are right. The outputs are weighted by the old sums, which are not relative to the new m.
    (a * o1 + b * o2) / (a + b) -> (z1 * o1 + z2 * o2) / (z1 + z2)
m and z are right. The weights of the two outputs are exchanged.
    a * o1 + b * o2 -> b * o1 + a * o2
The output is a weighted sum that is not divided by the new z.
    / (a + b) -> / 1
z is Σ e^s, which overflows. It should be relative to m: Σ e^(s − m).
    z = a + b -> z = (a + b) * m.exp()
m is that of the first block, or the smaller of both. It should be the largest score of all keys.
    torch.maximum(m1, m2) -> m1 || torch.minimum(m1, m2)
This is right for small scores only. For large ones, `exp` overflows, or all exponentials are 0. Its
argument should be at most 0: subtract the larger m, whatever its sign.
    m = torch.maximum(m1, m2) -> m = torch.maximum(m1, m2); c = 0 ||
        m = torch.maximum(m1, m2); c = m.clamp(min=0) ||
        m = torch.maximum(m1, m2); c = torch.minimum(m1, m2)
    z1 * (m1 - m).exp(), z2 * (m2 - m).exp() -> z1 * (m1 - c).exp(), z2 * (m2 - c).exp()
    z = a + b -> z = (a + b) * (c - m).exp()
""",
    names=("m", "z", "o"),
    note="For a softmax of any length, m, z and o are enough. This is how the fused kernel "
    "processes a million keys without storing a million weights.",
)


def additive_attention(Q: Tensor, K: Tensor, V: Tensor, W: Tensor, U: Tensor, r: Tensor) -> Tensor:
    q, k = Q @ W.T, K @ U.T
    hidden = torch.tanh(q[:, None] + k)  # [query, key, hidden]
    scores = hidden @ r
    weights = scores.softmax(-1)
    return weights @ V


def _layer(seed: int, queries: int, keys: int, *sizes: int) -> Example:
    query, key, hidden, value = sizes
    shapes = ((queries, query), (keys, key), (keys, value), (hidden, query), (hidden, key))
    both = enumerate((*shapes, (hidden,)))
    return tuple(1.2 * normal(*shape, seed=(seed, i)).float() for i, shape in both)


ADDITIVE = Task(
    additive_attention,
    # Equal sizes first: exchanged axes run.
    examples=[
        _layer(0, 3, 3, 3, 3, 3, 3),
        _layer(1, 2, 5, 4, 6, 7, 3),
        _layer(2, 4, 2, 3, 5, 2, 6),
    ],
    slips="""
All rows of your result are equal, so the queries have no effect. Apply tanh to the *sum* of W q and
U k. Otherwise the term of the query is the same for all keys, and the softmax ignores it.
    torch.tanh(q[:, None] + k) -> q[:, None] + k || q.tanh()[:, None] + k.tanh() ||
        (0 * q[:, None] + k).tanh()
The activation is ReLU or sigmoid. The additive score uses tanh.
    torch.tanh(q[:, None] + k) -> (q[:, None] + k).relu() || (q[:, None] + k).sigmoid()
tanh is applied to the scores. Apply it to the sum, before the product with r.
    torch.tanh(q[:, None] + k) -> q[:, None] + k
    hidden @ r -> torch.tanh(hidden @ r)
W q and U k are multiplied or subtracted. The additive score adds them.
    q[:, None] + k -> q[:, None] * k || q[:, None] - k
    or
    torch.tanh(q[:, None] + k) -> q[:, None] * k
    hidden @ r -> hidden.sum(-1) || hidden.sum(-1) / len(r) ** 0.5
`r` is not used, or is used before tanh. It weights the hidden units after tanh.
    hidden @ r -> hidden.sum(-1) || hidden.mean(-1)
    or
    torch.tanh(q[:, None] + k) -> torch.tanh((q[:, None] + k) * r)
    hidden @ r -> hidden.sum(-1)
The scores are divided by √hidden. The additive score has no scale.
    hidden @ r -> hidden @ r / len(r) ** 0.5
`W` and `U` are exchanged, or not transposed: `W` belongs to the queries, `U` to the keys. In the
equation q is a column; here each query is a row.
    Q @ W.T, K @ U.T -> Q @ U.T, K @ W.T || Q @ W, K @ U
The softmax is over the queries, or over all pairs. The weights of each query, a row, must sum to 1.
    softmax(-1) -> softmax(0) || flatten().softmax(0).view_as(scores)
The softmax is over the hidden units. Multiply by `r` first, then apply the softmax over the keys.
    hidden @ r -> hidden.softmax(-1) @ r || (hidden * r).softmax(-1).sum(-1)
    scores.softmax(-1) -> scores
The softmax is missing or incomplete: it divides exponentials by their sum over the keys.
    scores.softmax(-1) -> scores || scores.exp() || scores.sigmoid() ||
        scores / scores.sum(-1, keepdim=True)
The values are not used: your result is the weights, or weighted means of the keys.
    weights @ V -> weights || weights @ K
Queries and keys are exchanged. The scores are [query, key], one row for each query.
    hidden @ r -> (hidden @ r).T
""",
    note="Queries and keys may differ in width, and there is no √d. The cost is a vector for each "
    "pair, [query, key, hidden], where a dot product needs a scalar.",
)
