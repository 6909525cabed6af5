"""`torch.nn`'s attention, Transformer layers and their stacks as ours, and back."""

from typing import Any

from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.conversion.renaming import Renaming, Rule, linear
from lmcourse.models.transformer import Decoder, Encoder, LayerConfig

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
    names = {functional.relu: "relu", functional.gelu: "gelu"}
    if reference.activation not in names or reference.linear1.bias is None:
        raise _not_ours(reference, "biases, and the activation relu or gelu")
    return LayerConfig(
        hidden_size=reference.linear1.in_features,
        num_attention_heads=reference.self_attn.num_heads,
        intermediate_size=reference.linear1.out_features,
        hidden_act=names[reference.activation],
        hidden_dropout_prob=reference.dropout1.p,
        attention_probs_dropout_prob=reference.self_attn.dropout,
        activation_dropout_prob=reference.dropout.p,
        layer_norm_eps=reference.norm1.eps,
        norm_first=reference.norm_first,
    )


def layer_settings(config: LayerConfig) -> dict[str, Any]:
    """What a layer of `torch.nn` of these sizes is made with.

    Raises:
        CourseError: `torch.nn` has no such layer.
    """
    if config.hidden_act not in ("relu", "gelu"):
        raise CourseError(
            f"torch.nn's layers have no activation {config.hidden_act}.",
            "Convert a layer with relu or gelu.",
        )
    probabilities = (
        config.hidden_dropout_prob,
        config.attention_probs_dropout_prob,
        config.activation_dropout_prob,
    )
    if len(set(probabilities)) > 1:
        raise CourseError(
            f"torch.nn's layers drop with one probability everywhere; here they are "
            f"{', '.join(map(str, probabilities))} (hidden, attention, activation).",
            "Make the three equal before you convert; in evaluation mode they do nothing.",
        )
    return {
        "d_model": config.hidden_size,
        "nhead": config.num_attention_heads,
        "dim_feedforward": config.intermediate_size,
        "dropout": config.hidden_dropout_prob,
        "activation": config.hidden_act,
        "layer_norm_eps": config.layer_norm_eps,
        "batch_first": True,
        "norm_first": config.norm_first,
    }


def encoder_from_torch(reference: nn.TransformerEncoder) -> Encoder:
    """A stack of the same sizes.

    It sees everything: in `torch.nn` a causal mask is given with each call.
    """
    config, norm = _stack(reference)
    return Encoder(config, len(reference.layers), final_norm=norm)


def encoder_to_torch(ours: Encoder) -> nn.TransformerEncoder:
    """A stack of the same sizes; where ours is causal, each call of it needs a mask."""
    layer = nn.TransformerEncoderLayer(**layer_settings(ours.config))
    norm = _norm(ours)
    return nn.TransformerEncoder(layer, len(ours.layers), norm, enable_nested_tensor=False)


def decoder_from_torch(reference: nn.TransformerDecoder) -> Decoder:
    """A stack of the same sizes, which is causal."""
    config, norm = _stack(reference)
    return Decoder(config, len(reference.layers), final_norm=norm)


def decoder_to_torch(ours: Decoder) -> nn.TransformerDecoder:
    """A stack of the same sizes, each call of which needs a causal mask."""
    layer = nn.TransformerDecoderLayer(**layer_settings(ours.config))
    return nn.TransformerDecoder(layer, len(ours.layers), _norm(ours))


def _stack(reference: nn.TransformerEncoder | nn.TransformerDecoder) -> tuple[LayerConfig, bool]:
    """The layers' common sizes, and whether a LayerNorm stands behind them."""
    config = layer_config(reference.layers[0])
    norm = reference.norm
    same = all(layer_config(layer) == config for layer in reference.layers)
    if not same or (norm is not None and norm.eps != config.layer_norm_eps):
        raise _not_ours(reference, "layers of the same sizes")
    return config, norm is not None


def _norm(ours: Encoder | Decoder) -> nn.LayerNorm | None:
    config = ours.config
    return nn.LayerNorm(config.hidden_size, config.layer_norm_eps) if ours.norm else None


def _not_ours(reference: nn.Module, wanted: str) -> CourseError:
    return CourseError(
        f"This {type(reference).__name__} has more or less than ours can hold.",
        f"Give one with {wanted}.",
    )
