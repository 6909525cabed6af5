"""Narrow embeddings and their break-even rank; the parameters of an ALBERT."""

import math

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown


def factorized(ids: Tensor, table: Tensor, W: Tensor, b: Tensor) -> tuple[Tensor, int]:
    V, E, H = len(table), table.shape[1], len(b)
    rank = (V * H - H - 1) // (V + H)
    assert E > 0
    return table[ids] @ W.T + b, rank


def _narrow(seed: int, V: int, E: int, H: int, *shape: int) -> Example:
    ids = (V * torch.special.ndtr(normal(*shape, seed=(seed, "ids")))).long().clamp(max=V - 1)
    table, W = normal(V, E, seed=(seed, "table")), normal(H, E, seed=(seed, "W"))
    return ids, table, W, normal(H, seed=(seed, "b"))


def _vectors_or_rank(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for the vectors; else what differs, in a few numbers."""
    ids, table, W, _ = arguments
    (V, H), rank = (len(table), len(W)), value.parts[1].item()
    if not torch.allclose(value.parts[0], wanted.parts[0]):
        ours, right = (shown(each.parts[0][0, 0, :4]) for each in (value, wanted))
        return one_value(FACTORIZED, arguments, value, wanted) or (
            f"The vectors: that of ids[0, 0] = {ids[0, 0]} begins with {ours}; expected: {right}."
        )
    if not (math.isfinite(rank) and rank == round(rank) >= 0):
        return f"The rank: {rank:.4g}; it should be an integer, at least 0."
    size = int(rank) * (V + H) + H
    compared = "fewer than" if size < V * H else "not fewer than"
    return (
        f"The rank: for V = {V} and H = {H}, your rank of {int(rank)} has {size} parameters, "
        f"{compared} V · H = {V * H}. Is it the largest one that has fewer?"
    )


FACTORIZED: Task = Task(
    factorized,
    examples=[
        *(_narrow(0, 31, 3, 8, 2, 3), _narrow(1, 9, 5, 9, 3, 4), _narrow(2, 10, 4, 4, 1, 6)),
        *(_narrow(3, 23, 2, 12, 4, 2), _narrow(4, 7, 6, 21, 2, 2)),
    ],
    edge_cases={
        "if no rank saves parameters": _narrow(5, 2, 1, 5, 2, 2),
        "with 23,840 tokens and a width of 768": _narrow(6, 23_840, 2, 768, 1, 3),
    },
    slips="""
The bias is missing in the vectors.
    @ W.T + b -> @ W.T
The projection is applied to the wrong side, or its matrix is not transposed: `W` is [H, E].
    @ W.T + b -> @ W + b || @ W.reshape(E, H) + b
The vectors have something that ALBERT's projection does not have: an activation or a scale.
    table[ids] @ W.T + b -> (table[ids] @ W.T + b).tanh() || table[ids] @ W.T * E**0.5 + b ||
        (table[ids] @ W.T + b).relu() || table[ids].tanh() @ W.T + b ||
        torch.nn.functional.gelu(table[ids] @ W.T + b)
The break-even rank leaves out the bias, H numbers which the projection has, too.
    V * H - H - 1 -> V * H - 1 || V * H
The rank saves no parameter if both numbers are equal. The factorized one must be smaller.
    V * H - H - 1 -> V * H - H
The bias is counted as one number for each token. It has one for each dimension of the encoder.
    V * H - H - 1 -> V * H - V - 1 || V * H - V
The rank is rounded to the nearest integer. Where that is upward, nothing is saved.
    (V * H - H - 1) // (V + H) -> round((V * H - H) / (V + H)) || round(V * H / (V + H))
The rank is not rounded. It is the largest *integer*.
    (V * H - H - 1) // (V + H) -> (V * H - H) / (V + H) || V * H / (V + H)
This is the rank of the given table. The break-even rank follows from V and H alone.
    rank = (V * H - H - 1) // (V + H) -> rank = E
The projection is not counted: any table that is narrower than H would then save parameters.
    (V * H - H - 1) // (V + H) -> H - 1 || H || min(V, H) || min(V, H) - 1
This is a number of parameters, not a rank.
    rank = (V * H - H - 1) // (V + H) -> rank = V * H || rank = V * E + E * H + H ||
        rank = V * E + E * H || rank = V * H - (V * E + E * H + H) || rank = V * H - V * E - E * H
This is the smallest rank that saves nothing. The largest one that saves parameters is 1 less.
    (V * H - H - 1) // (V + H) -> -(-(V * H - H) // (V + H)) || -(-V * H // (V + H)) ||
        (V * H - H) // (V + H) + 1 || V * H // (V + H) + 1
""",
    names=("The vectors", "The rank"),
    cause=_vectors_or_rank,
    note="Below half of the break-even rank, the factorized table has less than half of the "
    "parameters. ALBERT base has E = 128 of at most 748.",
)


def albert_size(
    V: int, E: int, H: int, inner: int, positions: int, L: int, sharing: str, groups: int
) -> tuple[int, int, int, int]:
    embeddings = (V + positions + 2) * E + 2 * E + E * H + H
    attention = 4 * (H * H + H) + 2 * H
    network = H * inner + inner + inner * H + H + 2 * H
    attentions = groups if sharing in ("all", "attention") else L
    networks = groups if sharing in ("all", "ffn") else L
    return embeddings, attentions * attention, networks * network, H * H + H


def _plausible(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip; else a difference that is a number of vectors or matrices."""
    found = one_value(SIZE, arguments, value, wanted)
    if found:
        return found
    _, E, H, inner, _, L, sharing, _ = arguments
    pairs = zip(value.parts, wanted.parts, strict=True)
    at, difference = next(
        (at, int(ours - theirs)) for at, (ours, theirs) in enumerate(pairs) if ours != theirs
    )
    sizes = {"H²": H * H, "H · inner": H * inner, "E · H": E * H, "H": H, "inner": inner, "E": E}
    times = [
        (count, name)
        for name, size in sizes.items()
        for count in (1, 2, 3, 4)
        if abs(difference) == count * size
    ]
    if not times:
        return ""
    count, name = times[0]
    given = f"{E = }, {H = }, {inner = }, {L = }, {sharing = }"
    what = "too many" if difference > 0 else "missing"
    amount = name if count == 1 else f"{count} · {name}"
    return f"{SIZE.names[at]}: {abs(difference)} = {amount} parameters are {what}, for {given}."


SIZE: Task = Task(
    albert_size,
    examples=[
        *((300, 7, 24, 101, 53, 6, "all", 1), (411, 16, 20, 70, 33, 12, "ffn", 3)),
        *((250, 11, 32, 107, 64, 8, "attention", 2), (97, 10, 28, 61, 41, 4, "none", 1)),
        *((512, 13, 36, 150, 17, 9, "all", 3), (130, 14, 22, 47, 21, 5, "none", 5)),
        *((301, 8, 18, 91, 60, 6, "attention", 1), (222, 15, 26, 57, 44, 8, "ffn", 1)),
    ],
    edge_cases={
        "for ALBERT xxlarge": (30_000, 128, 4096, 16_384, 512, 12, "all", 1),
        "if the groups are not of equal size": (300, 8, 24, 96, 50, 7, "all", 2),
    },
    slips="""
Biases are missing: each linear map has one, of as many numbers as its result.
    4 * (H * H + H) -> 4 * H * H
    H * inner + inner + inner * H + H -> H * inner + inner * H
    E * H + H -> E * H
    networks * network, H * H + H -> networks * network, H * H
    or
    E * H + H -> E * H || E * H + E
    or
    H * inner + inner + inner * H + H -> H * inner + inner * H || H * inner + H + inner * H + H ||
        H * inner + inner * H + H
    or
    4 * (H * H + H) -> 4 * H * H || 4 * H * H + H
    or
    networks * network, H * H + H -> networks * network, H * H
A LayerNorm is missing: one is in the embeddings, and one belongs to each sublayer. It has a weight
and a bias.
    4 * (H * H + H) + 2 * H -> 4 * (H * H + H)
    or
    inner * H + H + 2 * H -> inner * H + H
    or
    + 2 * E -> + 0
    (H * H + H) + 2 * H -> (H * H + H)
    inner * H + H + 2 * H -> inner * H + H
The LayerNorms are not shared. A LayerNorm belongs to its sublayer, and is shared with it.
    attentions * attention -> attentions * (attention - 2 * H) + L * 2 * H
    networks * network -> networks * (network - 2 * H) + L * 2 * H
    or
    attentions * attention -> attentions * (attention - 2 * H) + L * 2 * H
    or
    networks * network -> networks * (network - 2 * H) + L * 2 * H
H numbers are missing in a sublayer: one of its biases, or one of the LayerNorm's two vectors.
    4 * (H * H + H) + 2 * H -> 4 * (H * H + H) + H
    or
    inner * H + H + 2 * H -> inner * H + H + H
    or
    + 2 * E -> + E
    (H * H + H) + 2 * H -> (H * H + H) + H
    inner * H + H + 2 * H -> inner * H + H + H
Vectors of width E are missing in the embeddings: there are two segments, and a LayerNorm, which has
a weight and a bias.
    + 2 * E -> + 0 || + E || - 2 * E || + 2 * E - 3 * E
Something in the embeddings has the width H. All three kinds of embeddings are added, and normalized
before the projection, so all of this is narrow.
    (V + positions + 2) * E + 2 * E -> V * E + (positions + 2) * H + 2 * E ||
        V * E + (positions + 2) * H + 2 * H || (V + 2) * E + positions * H + 2 * E ||
        (V + positions) * E + 2 * H + 2 * E || V * E + (positions + 2) * H ||
        V * E + positions * H + 2 * E || (V + positions) * E + 2 * H
    or
    (V + positions + 2) * E + 2 * E + E * H + H -> (V + positions + 2) * H + 2 * H
The embeddings of the positions are missing, or the projection from E to H.
    V + positions + 2 -> V || V + 2
    or
    + 2 * E + E * H + H -> + 2 * E || + H
What is shared is exchanged: `"ffn"` shares the feed-forward networks, and only these.
    attentions = groups if sharing in ("all", "attention") ->
        attentions = groups if sharing in ("all", "ffn")
    networks = groups if sharing in ("all", "ffn") ->
        networks = groups if sharing in ("all", "attention")
`groups` is the number of sets of shared weights: not 1, and not the number of layers in a group.
    attentions = groups if -> attentions = 1 if
    networks = groups if -> networks = 1 if
    or
    attentions = groups if -> attentions = L // groups if
    networks = groups if -> networks = L // groups if
    or
    attentions = groups if -> attentions = -(-L // groups) if
    networks = groups if -> networks = -(-L // groups) if
What `sharing` names has one set for each group, and the other kind one for each layer. `"all"`
names both kinds, and `"none"` neither.
    if sharing in ("all", "attention") else L -> if sharing != "none" else L
    if sharing in ("all", "ffn") else L -> if sharing != "none" else L
    or
    groups if sharing in ("all", "attention") else L -> L
    groups if sharing in ("all", "ffn") else L -> L
    or
    if sharing in ("all", "attention") else L -> if sharing == "attention" else L
    if sharing in ("all", "ffn") else L -> if sharing == "ffn" else L
    or
    if sharing in ("all", "attention") else L -> if sharing == "all" else L
    if sharing in ("all", "ffn") else L -> if sharing == "all" else L
What is not shared has one set, or one for each group. Without sharing, each layer has its own.
    ("all", "attention") else L -> ("all", "attention") else groups
    ("all", "ffn") else L -> ("all", "ffn") else groups
    or
    ("all", "attention") else L -> ("all", "attention") else 1
    ("all", "ffn") else L -> ("all", "ffn") else 1
The number of linear maps is wrong: attention has four of H to H, the feed-forward network two, from
H to `inner` and back, and the pooler one of H to H.
    4 * (H * H + H) -> 3 * (H * H + H) || H * H + H || 5 * (H * H + H)
    or
    H * inner + inner + inner * H + H -> H * inner + inner || H * inner + H ||
        2 * (H * inner + inner) || 4 * (H * inner + inner)
    or
    networks * network, H * H + H -> networks * network, 0 || networks * network, E * H + H ||
        networks * network, 2 * H || networks * network, E * E + E || networks * network, 2 * H + 2
""",
    names=("The embeddings", "Attention", "The feed-forward networks", "The pooler"),
    cause=_plausible,
    tolerance=1e-9,
    note="ALBERT base has 11,683,584 parameters; a third of them are in the embeddings.",
)
