"""Disentangled attention: what a token is, and how far away it is, are compared apart (chapter 16).

After He et al. (2021, "DeBERTa: decoding-enhanced BERT with disentangled attention", section 3.1).
BERT adds a place's vector to a token's, and from there on both are one. Here a place has no vector
of its own; a *distance* has one, a row of P, (2k × width), which all layers share. What is farther
away than k, on either side, counts as the farthest:

    δ(i, j) = i − j + k, but 0 where that is less, and 2k − 1 where it is more           eq. 3

So a score has three terms, each with its own matrices:

    A_ij = Q_i K_j      content to content
         + Q_i Kʳ_δ(i,j)     content to position: what i means, and where j stands from it
         + K_j Qʳ_δ(j,i)     position to content: what j means, and where i stands from it   eq. 4
    H = softmax(A / √(3d)) V,     Q = X W_q, K = X W_k, V = X W_v, Kʳ = P W_kr, Qʳ = P W_qr

The published code, and so all weights trained with it, take Qʳ at δ(i, j): the table read from its
other end. That is the default here; ``as_in_paper`` says δ(j, i), as eq. 4 does.

A fourth, position to position, would be Qʳ_δ(i,j) Kʳ_δ(j,i): a number for each distance, the same
in every text. The paper leaves it out, as it adds little. With three terms of size √d, the scores
are divided by √(3d) for √d.

Taken at its word, eq. 4 needs the vector Kʳ_δ(i,j) of each pair: a tensor (query × key × d). But
there are only 2k different ones. So the products with *all* of them are computed at once,
(query × 2k), and each pair then picks its own number (algorithm 1).
"""

import math
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.attention import check_heads, masked_softmax

Term = Literal["c2p", "p2c"]
TERMS: tuple[Term, ...] = ("c2p", "p2c")
"""Content to position, and position to content; content to content is always there."""


def checked_terms(terms: Any) -> tuple[str, ...]:
    """The terms as a tuple: some of ``TERMS``, each once.

    Raises:
        CourseError: they are not, or neither a tuple nor a list.
    """
    known = isinstance(terms, tuple | list) and all(term in TERMS for term in terms)
    if not known or len(set(terms)) < len(terms):
        why = " p2p is the same in every text, and left out." if "p2p" in str(terms) else ""
        raise CourseError(
            f"The attention's terms, pos_att_type, are {terms!r}.",
            f'Give ("c2p", "p2c"), one of them, or (), none: a tuple.{why}',
        )
    return tuple(terms)


def clipped_distances(time: int, span: int, like: Tensor) -> Int[Tensor, "time time"]:
    """δ(i, j) of all pairs (eq. 3): how far i stands behind j, from 0 to 2 · span − 1.

    Args:
        time: how many places there are.
        span: k, from how far on all distances are one.
        like: a tensor on the device where it is needed.
    """
    places = torch.arange(time, device=like.device)
    return (places[:, None] - places + span).clamp(0, 2 * span - 1)


def at_distances(
    content: Float[Tensor, "batch head time width"],
    table: Float[Tensor, "head row width"],
    *,
    mirrored: bool = False,
    gather: bool = False,
) -> Float[Tensor, "batch head time time"]:
    """Products of each place's content with the vector of its distance from each other place.

    Args:
        content: of the places a.
        table: each head's vectors of the distances, 2k of them.
        mirrored: whether the distance is counted from the other place.
        gather: whether each pair's number is looked up, as algorithm 1 says. If not, and if nothing
            is clipped, the same numbers are a view of the products: see `diagonals`.

    Returns:
        content_a · table[δ(a, b)] for all a and b; mirrored, content_a · table[δ(b, a)].
    """
    time, span = content.shape[2], table.shape[1] // 2
    if time <= span and not gather:
        used = table[:, span - time : span + time]
        if mirrored:
            return diagonals(products(content, used), time)
        return diagonals(products(content, used.flip(1)), time - 1)
    pairs = clipped_distances(time, span, content)
    pairs = pairs.mT if mirrored else pairs
    found = products(content, table)
    return found.gather(-1, pairs.expand(*found.shape[:-1], time))


def products(
    content: Float[Tensor, "batch head time width"], table: Float[Tensor, "head row width"]
) -> Float[Tensor, "batch head time row"]:
    """Each place's content times each row: (time × 2k), and never (time × time × width)."""
    rows = content.transpose(0, 1).flatten(1, 2)  # one large product a head, for all sequences
    return (rows @ table.mT).unflatten(1, (len(content), -1)).transpose(0, 1)


def diagonals(
    matrices: Float[Tensor, "*axes time twice_time"], first: int
) -> Float[Tensor, "*axes time time"]:
    """In row a, the entries from column ``first`` − a on: every row starts one to the left.

    Written one after the other, the rows of a matrix of 2·time columns are a matrix with rows one
    shorter, in which each row starts where it should. So nothing is copied, and the gradient need
    not be scattered.
    """
    time = matrices.shape[-2]
    shorter = 2 * time - 1
    flat = matrices.flatten(-2)[..., first : first + time * shorter]
    return flat.unflatten(-1, (time, shorter))[..., :time]


class DisentangledAttention(nn.Module):
    """Several heads of attention by content and by relative position.

    Args:
        hidden_size: width of what comes in and goes out.
        heads: how many; they share the width evenly.
        terms: which of ``TERMS`` are added to the scores. One counts in the scale even where there
            are no relative positions (``relative`` is False), as in the published code.
        relative: whether there are relative positions.
        dropout: the probability that a weight is dropped in training.
        position_dropout: the probability that a number of P is dropped, in each layer anew.
        as_in_paper: position to content at δ(j, i), as eq. 4 has it. The published code, and so
            the weights that were trained with it and the `transformers` library, take δ(i, j).

    Raises:
        CourseError: the heads do not divide the width, or a term is unknown.
    """

    def __init__(
        self,
        hidden_size: int,
        heads: int,
        terms: tuple[str, ...] = TERMS,
        *,
        relative: bool = True,
        dropout: float = 0.0,
        position_dropout: float = 0.0,
        as_in_paper: bool = False,
    ) -> None:
        super().__init__()
        check_heads(hidden_size, heads)
        terms = checked_terms(terms)
        self.heads = heads
        self.dropout = dropout
        self.as_in_paper = as_in_paper
        self.scale = 1 / math.sqrt((1 + len(terms)) * (hidden_size // heads))
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size, bias=False)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)
        c2p, p2c = (relative and term in terms for term in TERMS)
        self.position_key = nn.Linear(hidden_size, hidden_size, bias=False) if c2p else None
        self.position_query = nn.Linear(hidden_size, hidden_size) if p2c else None
        self.position_dropout = nn.Dropout(position_dropout)

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        positions: Float[Tensor, "row width"] | None = None,
        visible: Bool[Tensor, "..."] | None = None,
        *,
        query: Float[Tensor, "batch time width"] | None = None,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch time width"],
        Float[Tensor, "batch head time time"] | None,
    ]:
        """Let every place look at every other.

        Args:
            hidden: where keys and values come from.
            positions: P, a vector for each of 2k distances; None: there are none.
            visible: True where a query may look, (batch, head, query, key); an axis may be 1.
            query: where the queries come from, if that is not ``hidden``: of the same places.
            need_weights: whether the weights are returned; they are then computed step by step,
                and else in PyTorch's fused kernel, to which the relative terms are a bias.

        Returns:
            What was found, and each head's weights (before dropout) or None.

        Raises:
            CourseError: the queries are not those of the places, or P has no two halves.
        """
        if query is not None and query.shape != hidden.shape:
            raise CourseError(
                f"The queries are {tuple(query.shape)}, the keys and values {tuple(hidden.shape)}.",
                "Give both of the same places: a distance is counted from one to another.",
            )
        if positions is not None and len(positions) % 2:
            raise CourseError(
                f"The table of distances has {len(positions)} rows.",
                "Give 2k of them, as many for what stands before as for what stands behind.",
            )
        q = self.split(self.query(hidden if query is None else query)) * self.scale
        k, v = self.split(self.key(hidden)), self.split(self.value(hidden))
        bias = None if positions is None else self.relative(q, k, positions, need_weights)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = q @ k.mT
            weights = masked_softmax(scores if bias is None else scores + bias, visible)
            found = functional.dropout(weights, dropout) @ v
        else:
            if bias is not None and visible is not None:
                bias = torch.where(visible, bias, -math.inf)
            found = functional.scaled_dot_product_attention(
                q,
                k,
                v,
                attn_mask=visible if bias is None else bias,
                dropout_p=dropout,
                scale=1.0,
            )
        return self.output(found.transpose(1, 2).flatten(2)), weights

    def relative(
        self,
        q: Float[Tensor, "batch head time head_width"],
        k: Float[Tensor, "batch head time head_width"],
        positions: Float[Tensor, "row width"],
        gather: bool,
    ) -> Float[Tensor, "batch head time time"] | None:
        """What the relative terms add to the scores; ``q`` is scaled already."""
        used, span = min(q.shape[2], len(positions) // 2), len(positions) // 2
        positions = self.position_dropout(positions[span - used : span + used])[None]
        added = None
        if self.position_key is not None:
            added = at_distances(q, self.split(self.position_key(positions))[0], gather=gather)
        if self.position_query is not None:
            table = self.split(self.position_query(positions))[0] * self.scale
            p2c = at_distances(k, table, mirrored=not self.as_in_paper, gather=gather).mT
            added = p2c if added is None else added + p2c
        return added

    def split(
        self, x: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch head time head_width"]:
        """Each head's part of the width."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
