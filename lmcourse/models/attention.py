"""Attention: a weighted mean of values, weighted by how well a query matches each key (chapter 08).

    attention(Q, K, V) = softmax(s(Q, K)) V

The scores s are the dot product (Luong et al. 2015), the scaled dot product (Vaswani et al. 2017,
eq. 1), or the additive score (Bahdanau et al. 2015, appendix A.1.2). Multi-head attention (Vaswani
et al. 2017, section 3.2.2) uses the scaled dot product.

Queries are (…, query, width), keys and values (…, key, width), where … is any number of leading
axes, such as batch and head.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.conversion import transformer as conversion
from lmcourse.models.conversion.torch_layers import TorchCounterpart


def masked_softmax(
    scores: Float[Tensor, "*axes query key"], visible: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*axes query key"]:
    """Return the softmax over the visible keys, and 0 for the others.

    A query to which no key is visible gets zeros: a softmax over −∞ alone would be 0/0, and its NaN
    would spread through every later layer and the gradient.

    Args:
        visible: True where a query may attend to a key; broadcasts to the shape of the scores.
    """
    if visible is None:
        return scores.softmax(-1)
    visible = _booleans(visible)
    weights = scores.masked_fill(~visible, -math.inf).softmax(-1)  # [..., query, key]
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
        visible: True where a query may attend to a key; None: everywhere.
        causal: also hide the keys that follow the query's position.
        scale: 1/√width by default; 1 is Luong's plain dot product.
        dropout: probability of dropping a weight.
        need_weights: return the weights. Otherwise PyTorch's fused kernel computes the same values
            without storing the weights.

    Returns:
        The weighted means of the values, and the weights (before dropout) or None.
    """
    visible = None if visible is None else _booleans(visible)
    if causal and (need_weights or visible is not None):
        mask = causal_mask(query.shape[-2], key.shape[-2], query)  # [query, key]
        visible, causal = (mask if visible is None else visible & mask), False
    if not need_weights:
        attention_output = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=visible, dropout_p=dropout, is_causal=causal, scale=scale
        )
        return attention_output, None  # [..., query, value_width]
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * scale) @ key.mT  # [..., query, key]; scaled first, or float16 may overflow
    weights = masked_softmax(scores, visible)  # [..., query, key]
    return functional.dropout(weights, dropout) @ value, weights  # [..., query, value_width]


def causal_mask(query: int, key: int, like: Tensor) -> Bool[Tensor, "query key"]:
    """Return True where the key's position is the query's or an earlier one."""
    return torch.ones(query, key, dtype=torch.bool, device=like.device).tril()


class AdditiveAttention(nn.Module):
    """Attention with additive scores: s(q, k) = vᵀ tanh(W q + U k) (Bahdanau et al. 2015, A.1.2).

    Args:
        query_size: width of a query.
        key_size: width of a key, which is also the value.
        hidden_size: width of the hidden layer.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__()
        self.W = _uniform(hidden_size, query_size, fan_in=query_size)
        self.U = _uniform(hidden_size, key_size, fan_in=key_size)
        self.v = _uniform(hidden_size, fan_in=hidden_size)

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """Return the attention output and the weights; arguments as for `DotAttention`."""
        _check_visible(visible, len(query), query.shape[1], key.shape[1])
        queries = (query @ self.W.T).unsqueeze(-2)  # [batch, query, 1, hidden]
        keys = (key @ self.U.T).unsqueeze(-3)  # [batch, 1, key, hidden]
        scores = torch.tanh(queries + keys) @ self.v  # [batch, query, key]
        weights = masked_softmax(scores, visible)  # [batch, query, key]
        return weights @ key, weights  # [batch, query, key_size]


class DotAttention(nn.Module):
    """Attention with dot products: s(q, k) = q W k, or q k without W (Luong et al. 2015, 3.1).

    Args:
        query_size: width of a query.
        key_size: width of a key, which is also the value.
        general: use a matrix W; without it both widths must be equal.
    """

    def __init__(self, query_size: int, key_size: int, general: bool = False) -> None:
        super().__init__()
        if not general and query_size != key_size:
            raise CourseError(
                f"There is no dot product between queries of {query_size} and keys of {key_size} "
                "numbers.",
                "Make the widths equal, or set general=True.",
            )
        self.W = _uniform(query_size, key_size, fan_in=query_size) if general else None

    def forward(
        self,
        query: Float[Tensor, "batch query query_size"],
        key: Float[Tensor, "batch key key_size"],
        visible: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch query key_size"], Float[Tensor, "batch query key"]]:
        """Return the attention output and the weights.

        Args:
            visible: True where a query may attend to a key, (batch, query, key); an axis may be 1.
        """
        _check_visible(visible, len(query), query.shape[1], key.shape[1])
        query = query if self.W is None else query @ self.W  # [batch, query, key_size]
        attention_output, weights = attend(query, key, key, visible, scale=1.0)
        assert weights is not None
        return attention_output, weights


class MultiHeadAttention(TorchCounterpart):
    """Several attention heads, each in its own part of the width (Vaswani et al. 2017, 3.2.2).

    Args:
        hidden_size: width of the input and the output.
        heads: number of heads, which divides the width.
        dropout: probability of dropping a weight in training.
    """

    torch_layer = conversion.attention()

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
        """Attend from each position to every position of the sequence, or of a context.

        Args:
            hidden: the states that the queries are computed from.
            context: the states that keys and values are computed from, such as the encoder's in a
                decoder; None: ``hidden`` (self-attention).
            visible: True where a query may attend to a key, (batch, head, query, key); an axis may
                be 1.
            causal, need_weights: as in `attend`.

        Returns:
            The attention output, and each head's weights or None.
        """
        context = hidden if context is None else context
        _check_visible(visible, len(hidden), self.heads, hidden.shape[1], context.shape[1])
        attention_output, weights = attend(
            self.split(self.query(hidden)),  # [batch, head, query, head_width]
            self.split(self.key(context)),  # [batch, head, key, head_width]
            self.split(self.value(context)),  # [batch, head, key, head_width]
            visible,
            causal=causal,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
        )
        merged = attention_output.transpose(1, 2).flatten(2)  # [batch, query, width]
        return self.output(merged), weights  # [batch, query, width], [batch, head, query, key]

    def split(
        self, x: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch head time head_width"]:
        """Return each head's part of the width."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def check_heads(hidden_size: int, heads: int) -> None:
    """Raise `CourseError` unless the number of heads divides the width."""
    if heads < 1 or hidden_size % heads:
        raise CourseError(
            f"{heads} heads cannot share a width of {hidden_size} evenly.",
            "Make hidden_size a multiple of the number of heads.",
        )


def num_heads_for(hidden_size: int) -> int:
    """Return the published models' number of heads for a width: one for every 64 numbers."""
    if hidden_size < 64 or hidden_size % 64:
        raise CourseError(
            f"A width of {hidden_size} does not make heads of 64 numbers.",
            "Give a multiple of 64, or all sizes to the configuration itself.",
        )
    return hidden_size // 64


def _uniform(*shape: int, fan_in: int) -> nn.Parameter:
    """A parameter initialized as `torch.nn.Linear` initializes its weight."""
    bound = 1 / math.sqrt(fan_in)
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


def _booleans(visible: Tensor) -> Bool[Tensor, "*axes query_or_one key_or_one"]:
    """The mask with an axis for the queries.

    The fused kernel would add a mask of any other type to the scores.
    """
    if visible.dtype != torch.bool:
        raise CourseError(
            f"visible has the type {visible.dtype}.",
            "Give booleans, True where a query may attend: mask.bool() for a mask of 1 and 0, "
            "mask == 0 for one that is added to the scores (0 and -inf).",
        )
    return torch.atleast_2d(visible)


def _check_visible(visible: Tensor | None, *scores: int) -> None:
    """Check that each axis of the mask has the size of the scores' axis, or 1.

    Broadcasting would take a tokenizer's (batch, key) for (query, key) where the sizes agree.
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
