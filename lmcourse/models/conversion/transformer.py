"""`torch.nn`'s attention, Transformer layers and their stacks as ours, and back."""

from typing import Any, TypeVar

from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.conversion.renaming import Renaming, Rule, linear
from lmcourse.models.conversion.torch_layers import TorchLayer

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


def attention() -> TorchLayer:
    """`nn.MultiheadAttention`."""
    return TorchLayer(
        ATTENTION,
        lambda ours: nn.MultiheadAttention(
            ours.query.in_features, ours.heads, ours.dropout, batch_first=True
        ),
    )


def layer(kind: type[T]) -> TorchLayer:
    """`nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer`."""
    return TorchLayer(
        ENCODER_LAYER if kind is nn.TransformerEncoderLayer else DECODER_LAYER,
        lambda ours: torch_layer(kind, ours.config),
    )


def encoder() -> TorchLayer:
    """`nn.TransformerEncoder`, which gets a causal mask with each call where ours is causal."""
    return TorchLayer(
        ENCODER,
        lambda ours: nn.TransformerEncoder(
            torch_layer(nn.TransformerEncoderLayer, ours.config),
            len(ours.layers),
            _norm(ours),
            enable_nested_tensor=False,
        ),
    )


def decoder() -> TorchLayer:
    """`nn.TransformerDecoder`, which gets a causal mask with each call."""
    return TorchLayer(
        DECODER,
        lambda ours: nn.TransformerDecoder(
            torch_layer(nn.TransformerDecoderLayer, ours.config), len(ours.layers), _norm(ours)
        ),
    )


def torch_layer(kind: type[T], config: Any) -> T:
    """A layer of `torch.nn` (batch first) of these sizes."""
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
    # PyTorch's constructor takes one dropout probability for all of them.
    _, drops, attentions = numbered(layer)
    for drop in drops:
        drop.p = config.hidden_dropout_prob
    for attention in attentions:
        attention.dropout = config.attention_probs_dropout_prob
    layer.dropout.p = config.activation_dropout_prob
    return layer


def numbered(
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


def _norm(ours: Any) -> nn.LayerNorm | None:
    config = ours.config
    return nn.LayerNorm(config.hidden_size, config.layer_norm_eps) if ours.norm else None
