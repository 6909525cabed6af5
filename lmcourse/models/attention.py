"""Attention: a network looks something up (chapter 08).

A query is compared with every key; the softmax of the scores says how much of each value the
answer takes:

    attention(Q, K, V) = softmax(φ(Q, K)) V

Here are the scores φ that the course meets: the dot product (Luong et al. 2015), the scaled dot
product (Vaswani et al. 2017, eq. 1) and the additive one (Bahdanau et al. 2015, appendix A.1.2);
and multi-head attention (Vaswani et al. 2017, section 3.2.2) over the scaled one.

Shapes: (…, query, width) for queries, (…, key, width) for keys and values, where … is any number
of axes in front, such as batch and head.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import TorchCounterpart


def masked_softmax(
    scores: Float[Tensor, "*axes query key"], visible: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*axes query key"]:
    """The softmax over the keys that may be attended to; the others get 0.

    A query that may look nowhere gets all zeros: the softmax of nothing but −∞ would be 0/0, and
    its NaN would spread through every later layer, and through the gradient.

    Args:
        visible: True where a query may look; any shape that broadcasts to that of the scores.
    """
    if visible is None:
        return scores.softmax(-1)
    weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
    return weights.masked_fill(~visible.any(-1, keepdim=True), 0.0)


def attend(
    query: Float[Tensor, "*axes query width"],
    key: Float[Tensor, "*axes key width"],
    value: Float[Tensor, "*axes key value_width"],
    visible: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Float[Tensor, "*axes query value_width"], Float[Tensor, "*axes query key"] | None]:
    """Scaled dot-product attention: softmax(Q Kᵀ · scale) V (Vaswani et al. 2017, eq. 1).

    Args:
        visible: True where a query may look; None: everywhere.
        causal: whether a query may look at the keys up to its own place only, besides.
        scale: 1/√width if it is not given; 1 is Luong's plain dot product.
        dropout: the probability that a weight is dropped.
        need_weights: whether the weights are returned. If not, PyTorch's fused kernel computes the
            same values without ever holding all of them.

    Returns:
        What each query found, and the weights (before dropout) or None.
    """
    if not need_weights:
        if causal and visible is not None:
            visible, causal = visible & causal_mask(query.shape[-2], key.shape[-2], query), False
        found = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=visible, dropout_p=dropout, is_causal=causal, scale=scale
        )
        return found, None
    if causal:
        mask = causal_mask(query.shape[-2], key.shape[-2], query)
        visible = mask if visible is None else visible & mask
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = masked_softmax(query @ key.mT * scale, visible)
    return functional.dropout(weights, dropout) @ value, weights


def causal_mask(query: int, key: int, like: Tensor) -> Bool[Tensor, "query key"]:
    """True where the key stands at the query's place or before it."""
    return torch.ones(query, key, dtype=torch.bool, device=like.device).tril()


class AdditiveAttention(nn.Module):
    """Scores by a small network: φ(q, k) = vᵀ tanh(W q + U k) (Bahdanau et al. 2015, A.1.2).

    Args:
        query_size: width of a query.
        key_size: width of a key, which is its value too.
        hidden_size: width of the layer between.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__()
        self.W = nn.Linear(query_size, hidden_size, bias=False)
        self.U = nn.Linear(key_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """What each query found among the keys, and the weights."""
        hidden = torch.tanh(self.W(query).unsqueeze(-2) + self.U(key).unsqueeze(-3))
        weights = masked_softmax(self.v(hidden).squeeze(-1), visible)
        return weights @ key, weights


class DotAttention(nn.Module):
    """Scores by a product: φ(q, k) = q W k, or q k without W (Luong et al. 2015, section 3.1).

    Args:
        query_size: width of a query.
        key_size: width of a key, which is its value too.
        general: whether there is a matrix W between; without it both widths must be equal.
    """

    def __init__(self, query_size: int, key_size: int, general: bool = False) -> None:
        super().__init__()
        if not general and query_size != key_size:
            raise CourseError(
                f"A dot product of queries of {query_size} and keys of {key_size} numbers does "
                "not exist.",
                "Make the widths equal, or put a matrix between them with general=True.",
            )
        self.W = nn.Linear(query_size, key_size, bias=False) if general else nn.Identity()

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """What each query found among the keys, and the weights."""
        found, weights = attend(self.W(query), key, key, visible, scale=1.0)
        assert weights is not None
        return found, weights


class MultiHeadAttention(TorchCounterpart):
    """Several attentions side by side, each in a part of the width (Vaswani et al. 2017, 3.2.2).

    Args:
        hidden_size: width of what comes in and goes out.
        heads: how many; they share the width evenly.
        dropout: the probability that a weight is dropped in training.
    """

    def __init__(self, hidden_size: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_heads(hidden_size, heads)
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)

    def forward(
        self,
        hidden: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch key width"] | None = None,
        visible: Bool[Tensor, "..."] | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch query width"],
        Float[Tensor, "batch head query key"] | None,
    ]:
        """Let every place look at every other, or at those of a context.

        Args:
            hidden: where the queries come from.
            context: where keys and values come from: the encoder's states in a decoder; if it is
                not given, ``hidden`` (self-attention).
            visible, causal, need_weights: as in `attend`; ``visible`` broadcasts to
                (batch, head, query, key).

        Returns:
            What was found, and each head's weights or None.
        """
        context = hidden if context is None else context
        found, weights = attend(
            self.split(self.query(hidden)),
            self.split(self.key(context)),
            self.split(self.value(context)),
            visible,
            causal=causal,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
        )
        return self.output(found.transpose(1, 2).flatten(2)), weights

    def split(
        self, x: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch head time head_width"]:
        """Each head's part of the width."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def check_heads(hidden_size: int, heads: int) -> None:
    """See that the heads divide the width.

    Raises:
        CourseError: they do not.
    """
    if heads < 1 or hidden_size % heads:
        raise CourseError(
            f"{heads} heads cannot share a width of {hidden_size} evenly.",
            "Make hidden_size a multiple of the number of heads.",
        )
