"""`torch.nn`'s attention, Transformer layers and their stacks as ours, and back."""

from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.conversion.renaming import Renaming, Rule, linear
from lmcourse.models.transformer import Decoder, Encoder, LayerConfig

T = TypeVar("T", nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)

ATTENTION = Renaming(
    (
        Rule(("query.weight", "key.weight", "value.weight"), "in_proj_weight"),
        Rule(("query.bias", "key.bias", "value.bias"), "in_proj_bias"),
        *linear("output", "out_proj"),
    )
)
FEED_FORWARD = Renaming(
    (*linear("feed_forward.intermediate", "linear1"), *linear("feed_forward.output", "linear2"))
)
ENCODER_LAYER = (
    ATTENTION.under("attention.", "self_attn.")
    + FEED_FORWARD
    + Renaming(
        (
            *linear("attention_residual.norm", "norm1"),
            *linear("feed_forward_residual.norm", "norm2"),
        )
    )
)
DECODER_LAYER = (
    ATTENTION.under("attention.", "self_attn.")
    + ATTENTION.under("cross_attention.", "multihead_attn.")
    + FEED_FORWARD
    + Renaming(
        (
            *linear("attention_residual.norm", "norm1"),
            *linear("cross_attention_residual.norm", "norm2"),
            *linear("feed_forward_residual.norm", "norm3"),
        )
    )
)
ENCODER = ENCODER_LAYER.under("layers.{n}.", "layers.{n}.") + Renaming(linear("norm", "norm"))
DECODER = DECODER_LAYER.under("layers.{n}.", "layers.{n}.") + Renaming(linear("norm", "norm"))


def attention_from_torch(reference: nn.MultiheadAttention) -> MultiHeadAttention:
    """An attention of the same sizes.

    Raises:
        CourseError: ours cannot hold what it has.
    """
    if not reference._qkv_same_embed_dim or reference.in_proj_bias is None:
        raise _not_ours(reference, "keys and values of the same width as queries, and biases")
    if reference.bias_k is not None or reference.add_zero_attn:
        raise _not_ours(reference, "no added keys")
    return MultiHeadAttention(reference.embed_dim, reference.num_heads, reference.dropout)


def attention_to_torch(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """An attention of the same sizes."""
    width = ours.query.in_features
    return nn.MultiheadAttention(width, ours.heads, ours.dropout, batch_first=True)


def layer_config(
    reference: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> LayerConfig:
    """The sizes of a layer of `torch.nn`.

    Raises:
        CourseError: ours cannot hold what it has.
    """
    act = _activation(reference.activation)
    if act is None or reference.linear1.bias is None:
        raise _not_ours(reference, "biases, and the activation relu or gelu")
    norms, drops, attentions = _numbered(reference)
    alike = [{norm.eps for norm in norms}, {drop.p for drop in drops}]
    if any(len(values) > 1 for values in [*alike, {one.dropout for one in attentions}]):
        raise _not_ours(reference, "one ε of all LayerNorms, and one dropout of all of a kind")
    return LayerConfig(
        hidden_size=reference.linear1.in_features,
        num_attention_heads=reference.self_attn.num_heads,
        intermediate_size=reference.linear1.out_features,
        hidden_act=act,
        hidden_dropout_prob=drops[0].p,
        attention_probs_dropout_prob=attentions[0].dropout,
        activation_dropout_prob=reference.dropout.p,
        layer_norm_eps=norms[0].eps,
        norm_first=reference.norm_first,
    )


def torch_layer(kind: type[T], config: LayerConfig) -> T:
    """A layer of `torch.nn` (batch first) of these sizes.

    Raises:
        CourseError: `torch.nn` has no such layer.
    """
    if config.hidden_act not in ("relu", "gelu"):
        raise CourseError(
            f"torch.nn's layers have no activation {config.hidden_act}.",
            "Convert a layer with relu or gelu.",
        )
    layer = kind(
        config.hidden_size,
        config.num_attention_heads,
        config.intermediate_size,
        activation=config.hidden_act,
        layer_norm_eps=config.layer_norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
    )
    # It is made with one dropout for all, and keeps one for each place.
    _, drops, attentions = _numbered(layer)
    for drop in drops:
        drop.p = config.hidden_dropout_prob
    for attention in attentions:
        attention.dropout = config.attention_probs_dropout_prob
    layer.dropout.p = config.activation_dropout_prob
    return layer


def _numbered(
    layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> tuple[list[nn.LayerNorm], list[nn.Dropout], list[nn.MultiheadAttention]]:
    """A layer's LayerNorms, the dropouts of what its sublayers add, and its attentions."""
    if isinstance(layer, nn.TransformerEncoderLayer):
        return [layer.norm1, layer.norm2], [layer.dropout1, layer.dropout2], [layer.self_attn]
    return (
        [layer.norm1, layer.norm2, layer.norm3],
        [layer.dropout1, layer.dropout2, layer.dropout3],
        [layer.self_attn, layer.multihead_attn],
    )


def _activation(function: Any) -> str | None:
    """Our name of an activation, which may be a function or a module."""
    if function in (functional.relu, torch.relu) or isinstance(function, nn.ReLU):
        return "relu"
    exact = isinstance(function, nn.GELU) and function.approximate == "none"
    return "gelu" if function is functional.gelu or exact else None


def encoder_from_torch(reference: nn.TransformerEncoder) -> Encoder:
    """A stack of the same sizes.

    It sees everything: in `torch.nn` a causal mask is given with each call.
    """
    config, norm = _stack(reference)
    return Encoder(config, len(reference.layers), final_norm=norm)


def encoder_to_torch(ours: Encoder) -> nn.TransformerEncoder:
    """A stack of the same sizes; where ours is causal, each call of it needs a mask."""
    layer = torch_layer(nn.TransformerEncoderLayer, ours.config)
    norm = _norm(ours)
    return nn.TransformerEncoder(layer, len(ours.layers), norm, enable_nested_tensor=False)


def decoder_from_torch(reference: nn.TransformerDecoder) -> Decoder:
    """A stack of the same sizes, which is causal."""
    config, norm = _stack(reference)
    return Decoder(config, len(reference.layers), final_norm=norm)


def decoder_to_torch(ours: Decoder) -> nn.TransformerDecoder:
    """A stack of the same sizes, each call of which needs a causal mask."""
    layer = torch_layer(nn.TransformerDecoderLayer, ours.config)
    return nn.TransformerDecoder(layer, len(ours.layers), _norm(ours))


def _stack(reference: nn.TransformerEncoder | nn.TransformerDecoder) -> tuple[LayerConfig, bool]:
    """The layers' common sizes, and whether a LayerNorm stands behind them."""
    encoder = isinstance(reference, nn.TransformerEncoder)
    kind = nn.TransformerEncoderLayer if encoder else nn.TransformerDecoderLayer
    norm, layers = reference.norm, list(reference.layers)
    if not layers or any(type(layer) is not kind for layer in layers):
        raise _not_ours(reference, f"layers of the class {kind.__name__} alone")
    config = layer_config(layers[0])
    same = all(layer_config(layer) == config for layer in layers)
    if not same or (norm is not None and type(norm) is not nn.LayerNorm):
        raise _not_ours(reference, "layers of the same sizes, and a LayerNorm behind them or none")
    if norm is not None and norm.eps != config.layer_norm_eps:
        raise _not_ours(reference, "one ε of all LayerNorms")
    return config, norm is not None


def _norm(ours: Encoder | Decoder) -> nn.LayerNorm | None:
    config = ours.config
    return nn.LayerNorm(config.hidden_size, config.layer_norm_eps) if ours.norm else None


def _not_ours(reference: nn.Module, wanted: str) -> CourseError:
    return CourseError(
        f"This {type(reference).__name__} has more or less than ours can hold.",
        f"Give one with {wanted}.",
    )
