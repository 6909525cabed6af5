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

    Raises:
        CourseError: ``visible`` holds other than booleans.
    """
    if visible is None:
        return scores.softmax(-1)
    visible = _booleans(visible)
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

    Raises:
        CourseError: ``visible`` holds other than booleans.
    """
    visible = None if visible is None else _booleans(visible)
    if causal and (need_weights or visible is not None):
        mask = causal_mask(query.shape[-2], key.shape[-2], query)
        visible, causal = (mask if visible is None else visible & mask), False
    if not need_weights:
        found = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=visible, dropout_p=dropout, is_causal=causal, scale=scale
        )
        return found, None
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = masked_softmax((query * scale) @ key.mT, visible)  # scaled first: float16 ends soon
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
        self.W = _drawn(hidden_size, query_size, inputs=query_size)
        self.U = _drawn(hidden_size, key_size, inputs=key_size)
        self.v = _drawn(hidden_size, inputs=hidden_size)

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """What each query found among the keys, and the weights; arguments as `DotAttention`'s."""
        _check_visible(visible, len(query), query.shape[1], key.shape[1])
        hidden = torch.tanh((query @ self.W.T).unsqueeze(-2) + (key @ self.U.T).unsqueeze(-3))
        weights = masked_softmax(hidden @ self.v, visible)
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
        self.W = _drawn(query_size, key_size, inputs=query_size) if general else None

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """What each query found among the keys, and the weights.

        Args:
            visible: True where a query may look, (batch, query, key); an axis may be 1.

        Raises:
            CourseError: ``visible`` has another shape or other values.
        """
        _check_visible(visible, len(query), query.shape[1], key.shape[1])
        query = query if self.W is None else query @ self.W
        found, weights = attend(query, key, key, visible, scale=1.0)
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
            visible: True where a query may look, (batch, head, query, key); an axis may be 1.
            causal, need_weights: as in `attend`.

        Returns:
            What was found, and each head's weights or None.

        Raises:
            CourseError: ``visible`` has another shape or other values.
        """
        context = hidden if context is None else context
        _check_visible(visible, len(hidden), self.heads, hidden.shape[1], context.shape[1])
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


def heads_of_64(hidden_size: int) -> int:
    """How many heads a width has in the published sizes: one for every 64 numbers.

    Raises:
        CourseError: 64 does not divide the width.
    """
    if hidden_size < 64 or hidden_size % 64:
        raise CourseError(
            f"A width of {hidden_size} does not make heads of 64 numbers.",
            "Give a multiple of 64, or all sizes to the configuration itself.",
        )
    return hidden_size // 64


def _drawn(*shape: int, inputs: int) -> nn.Parameter:
    """A matrix or vector drawn as `torch.nn.Linear` draws one that reads so many inputs."""
    bound = 1 / math.sqrt(inputs)
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


def _booleans(visible: Tensor) -> Bool[Tensor, "*axes query_or_one key_or_one"]:
    """The mask, with an axis for the queries.

    Any other type would be added to the scores by the fused kernel, and not by the loop.
    """
    if visible.dtype != torch.bool:
        raise CourseError(
            f"visible has the type {visible.dtype}.",
            "Give booleans, True where a query may look: mask.bool() of a mask of 1 and 0, "
            "mask == 0 of one that is added to the scores (0 and -inf).",
        )
    return torch.atleast_2d(visible)


def _check_visible(visible: Tensor | None, *scores: int) -> None:
    """See that each axis of the mask is that of the scores, or 1.

    With an axis too few, a tokenizer's (batch, key) would pass for (query, key) where a batch
    happens to hold as many sequences as they have tokens.
    """
    if visible is None:
        return
    if visible.ndim != len(scores) or any(
        size not in (1, wanted) for size, wanted in zip(visible.shape, scores, strict=True)
    ):
        axes = ":, " + "None, " * (len(scores) - 2) + ":"
        raise CourseError(
            f"visible has shape {tuple(visible.shape)}, the scores {scores}.",
            "Give it as many axes, each of the same size or 1: a tokenizer's mask (batch, key) is "
            f"visible = mask.bool()[{axes}].",
        )
