"""The Transformer's parts beside `torch.nn`'s."""

from random import Random
from typing import Any, cast

import torch
from torch import Tensor, nn

from lmcourse.models import inputs
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.conversion.torch_layers import layer_of
from lmcourse.models.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    probe,
    shaken,
)
from lmcourse.models.transformer import DecoderLayer, EncoderLayer


def sizes(draw: Random) -> tuple[int, int, int, int]:
    """Width, heads, batch and length."""
    heads = draw.choice([1, 2, 3, 4])
    return heads * draw.choice([2, 4, 5]), heads, draw.randint(2, 4), draw.randint(3, 9)


def layer_settings(draw: Random, width: int, heads: int) -> dict[str, Any]:
    return {
        "d_model": width,
        "nhead": heads,
        "dim_feedforward": draw.choice([3, 7, 4 * width]),
        "dropout": 0.1,
        "activation": draw.choice(["relu", "gelu"]),
        "layer_norm_eps": draw.choice([1e-5, 1e-12]),
        "batch_first": True,
        "norm_first": draw.random() < 0.5,
    }


def embedded(batch: int, time: int, width: int) -> Tensor:
    return torch.randn(batch, time, width, requires_grad=True)


def attention(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True))
    ours = MultiHeadAttention.from_torch(reference)
    hidden, context = embedded(batch, time, width), embedded(batch, draw.randint(2, 9), width)
    mask = padded_batch(draw, 2, batch, context.shape[1])[1]
    causal = draw.random() < 0.5
    theirs, weights = reference(
        hidden,
        context,
        context,
        key_padding_mask=mask == 0,
        attn_mask=torch.ones(time, context.shape[1]).triu(1).bool() if causal else None,
        average_attn_weights=False,
    )
    seen = inputs.visible(mask, batch, time, context.shape[1])
    found, own_weights = ours(hidden, context, seen, causal=causal, need_weights=True)
    fused, _ = ours(hidden, context, seen, causal=causal)
    comparison.add("outputs", [found, fused], [theirs, theirs])
    comparison.add("attentions", own_weights, weights)
    compare_gradients(comparison, ours, reference, fused, theirs, [hidden, context])
    comparison.add_round_trip(ours, MultiHeadAttention.from_torch(ours.to_torch()))


def encoder_layer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.TransformerEncoderLayer(**layer_settings(draw, width, heads)))
    ours = EncoderLayer.from_torch(reference)
    x, mask = embedded(batch, time, width), padded_batch(draw, 2, batch, time)[1]
    theirs = reference(x, src_key_padding_mask=mask == 0)
    seen = inputs.visible(mask, batch, time, time)
    fused = ours(x, seen)[0]
    comparison.add("outputs", [fused, ours(x, seen, need_weights=True)[0]], [theirs, theirs])
    compare_gradients(comparison, ours, reference, fused, theirs, [x])
    comparison.add_round_trip(ours, EncoderLayer.from_torch(ours.to_torch()))


def decoder_layer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.TransformerDecoderLayer(**layer_settings(draw, width, heads)))
    ours = DecoderLayer.from_torch(reference)
    x, context = embedded(batch, time, width), embedded(batch, draw.randint(2, 9), width)
    mask = padded_batch(draw, 2, batch, time)[1]
    context_mask = padded_batch(draw, 2, batch, context.shape[1])[1]
    theirs = reference(
        x,
        context,
        tgt_mask=torch.ones(time, time).triu(1).bool(),
        tgt_key_padding_mask=mask == 0,
        memory_key_padding_mask=context_mask == 0,
    )
    seen = inputs.visible(mask, batch, time, time)
    context_seen = inputs.visible(context_mask, batch, time, context.shape[1])
    fused = ours(x, context, seen, context_seen)[0]
    readable = ours(x, context, seen, context_seen, need_weights=True)[0]
    comparison.add("outputs", [fused, readable], [theirs, theirs])
    compare_gradients(comparison, ours, reference, fused, theirs, [x, context])
    comparison.add_round_trip(ours, DecoderLayer.from_torch(ours.to_torch()))


def compare_gradients(
    comparison: Comparison,
    ours: nn.Module,
    reference: nn.Module,
    output: Tensor,
    reference_output: Tensor,
    leaves: list[Tensor],
) -> None:
    """The gradient of every parameter and of every input, from the same probe of both outputs."""
    probe(reference_output).backward()
    theirs = [cast(Tensor, leaf.grad) for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    probe(output).backward()
    own = [cast(Tensor, leaf.grad) for leaf in leaves]
    comparison.add("gradients", own, theirs, name="input")
    comparison.add_gradients(ours, layer_of(type(ours)).renaming.to_ours(gradients(reference)))


ARCHITECTURES = (
    Architecture("multi-head attention", "torch.nn.MultiheadAttention", attention),
    Architecture("Transformer encoder layer", "torch.nn.TransformerEncoderLayer", encoder_layer),
    Architecture("Transformer decoder layer", "torch.nn.TransformerDecoderLayer", decoder_layer),
)
