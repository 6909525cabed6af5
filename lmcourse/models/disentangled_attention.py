"""Disentangled attention: separate scores for content and relative position (chapter 16).

After He et al. (2021, "DeBERTa: decoding-enhanced BERT with disentangled attention", section 3.1).
BERT adds position embeddings to token embeddings. Here *relative* positions have embeddings, the
rows of P, (2k × width), which all layers share. Distances beyond k are clipped:

    δ(i, j) = i − j + k, but 0 where that is less, and 2k − 1 where it is more           eq. 3

A score has three terms, each with its own matrices:

    A_ij = Q_i K_j      content to content
         + Q_i Kʳ_δ(i,j)     content to position: the content of i, the position of j
         + K_j Qʳ_δ(j,i)     position to content: the content of j, the position of i   eq. 4
    H = softmax(A / √(3d)) V,     Q = X W_q, K = X W_k, V = X W_v, Kʳ = P W_kr, Qʳ = P W_qr

The published code, and so all weights trained with it, uses Qʳ at δ(i, j). That is the default
here; ``as_in_paper`` uses δ(j, i), as in eq. 4.

A fourth term, position to position, Qʳ_δ(i,j) Kʳ_δ(j,i), would not depend on the text, and is
omitted. With three terms, the scores are divided by √(3d) instead of √d.

Computed literally, eq. 4 needs the vector Kʳ_δ(i,j) of each pair, a tensor (query × key × d). There
are only 2k different vectors, so the products with all of them are computed first, (query × 2k),
and the score of each pair is gathered from them (algorithm 1).
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
"""Content to position and position to content; content to content is always used."""


def checked_terms(terms: Any) -> tuple[str, ...]:
    """Check that terms are distinct elements of ``TERMS``, and return them as a tuple."""
    known = isinstance(terms, tuple | list) and all(term in TERMS for term in terms)
    if not known or len(set(terms)) < len(terms):
        why = " p2p does not depend on the text, so there is none." if "p2p" in str(terms) else ""
        raise CourseError(
            f"The attention's terms, pos_att_type, are {terms!r}.",
            f'Give ("c2p", "p2c"), one of them, or (): a tuple.{why}',
        )
    return tuple(terms)


def clipped_distances(time: int, span: int, like: Tensor) -> Int[Tensor, "time time"]:
    """Return δ(i, j) of all pairs (eq. 3), from 0 to 2 · span − 1.

    Args:
        time: number of positions.
        span: k, beyond which distances are clipped.
        like: a tensor on the device to use.
    """
    positions = torch.arange(time, device=like.device)
    return (positions[:, None] - positions + span).clamp(0, 2 * span - 1)


def relative_scores(
    content: Float[Tensor, "batch head time width"],
    table: Float[Tensor, "head row width"],
    *,
    mirrored: bool = False,
    gather: bool = False,
) -> Float[Tensor, "batch head time time"]:
    """Return the scores of each position's content and its relative position to each other one.

    Args:
        content: queries or keys.
        table: each head's 2k vectors of relative positions.
        mirrored: use δ(b, a) instead of δ(a, b).
        gather: gather each pair's score, as algorithm 1 does. Otherwise, if nothing is clipped, the
            scores are a view of the products: see `diagonals`.

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
    scores = products(content, table)  # [batch, head, time, row]
    return scores.gather(-1, pairs.expand(*scores.shape[:-1], time))


def products(
    content: Float[Tensor, "batch head time width"], table: Float[Tensor, "head row width"]
) -> Float[Tensor, "batch head time row"]:
    """Return the products of each position's content with each row of the table."""
    rows = content.transpose(0, 1).flatten(1, 2)  # one large product for each head
    return (rows @ table.mT).unflatten(1, (len(content), -1)).transpose(0, 1)


def diagonals(
    matrices: Float[Tensor, "*axes time twice_time"], first: int
) -> Float[Tensor, "*axes time time"]:
    """Return, in row a, the entries from column ``first`` − a on.

    Flattened and reshaped to rows of 2·time − 1, a matrix of 2·time columns has each row shifted by
    one. So nothing is copied, and the gradient is not scattered.
    """
    time = matrices.shape[-2]
    shorter = 2 * time - 1
    flat = matrices.flatten(-2)[..., first : first + time * shorter]
    return flat.unflatten(-1, (time, shorter))[..., :time]


class DisentangledAttention(nn.Module):
    """Multi-head attention by content and relative position.

    Args:
        hidden_size: width of the input and the output.
        heads: number of heads, which divides the width.
        terms: the elements of ``TERMS`` that are added to the scores. They count in the scale even
            without relative positions, as in the published code.
        relative: use relative positions.
        dropout: probability of dropping a weight in training.
        position_dropout: dropout of P, in each layer.
        as_in_paper: use δ(j, i) for position to content, as in eq. 4, instead of δ(i, j), as in the
            published code and the `transformers` library.
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
        """Attend from each position to every other.

        Args:
            hidden: the states that keys and values are computed from.
            positions: P, the embeddings of 2k relative positions; None: do not use them.
            visible: True where a query may attend to a key, (batch, head, query, key); an axis may
                be 1.
            query: the states that queries are computed from; None: ``hidden``.
            need_weights: return the weights. Otherwise PyTorch's fused kernel is used, with the
                relative terms as a bias.

        Returns:
            The attention output, and each head's weights (before dropout) or None.
        """
        q = self.split(self.query(hidden if query is None else query)) * self.scale
        k, v = self.split(self.key(hidden)), self.split(self.value(hidden))
        bias = None if positions is None else self.relative(q, k, positions, need_weights)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = q @ k.mT  # [batch, head, time, time]
            weights = masked_softmax(scores if bias is None else scores + bias, visible)
            attention_output = functional.dropout(weights, dropout) @ v
        else:
            if bias is not None and visible is not None:
                bias = torch.where(visible, bias, -math.inf)
            attention_output = functional.scaled_dot_product_attention(
                q,
                k,
                v,
                attn_mask=visible if bias is None else bias,
                dropout_p=dropout,
                scale=1.0,
            )
        return self.output(attention_output.transpose(1, 2).flatten(2)), weights

    def relative(
        self,
        q: Float[Tensor, "batch head time head_width"],
        k: Float[Tensor, "batch head time head_width"],
        positions: Float[Tensor, "row width"],
        gather: bool,
    ) -> Float[Tensor, "batch head time time"] | None:
        """Return the relative terms of the scores; ``q`` is already scaled."""
        used, span = min(q.shape[2], len(positions) // 2), len(positions) // 2
        positions = self.position_dropout(positions[span - used : span + used])[None]
        added = None
        if self.position_key is not None:
            added = relative_scores(q, self.split(self.position_key(positions))[0], gather=gather)
        if self.position_query is not None:
            table = self.split(self.position_query(positions))[0] * self.scale
            p2c = relative_scores(k, table, mirrored=not self.as_in_paper, gather=gather).mT
            added = p2c if added is None else added + p2c
        return added

    def split(
        self, x: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch head time head_width"]:
        """Return each head's part of the width."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
