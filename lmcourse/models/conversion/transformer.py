"""`torch.nn`'s attention, Transformer layers and their stacks as ours, and back."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.conversion.renaming import Renaming, Rule, linear
from lmcourse.models.conversion.torch_layers import TorchLayer

Config = Callable[..., Any]
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
        (nn.MultiheadAttention,),
        ATTENTION,
        _attention_arguments,
        lambda ours: nn.MultiheadAttention(
            ours.query.in_features, ours.heads, ours.dropout, batch_first=True
        ),
    )


def layer(kind: type[T], config: Config) -> TorchLayer:
    """`nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer`.

    Args:
        config: the class of our layers' configuration.
    """
    return TorchLayer(
        (kind,),
        ENCODER_LAYER if kind is nn.TransformerEncoderLayer else DECODER_LAYER,
        lambda reference: {"config": config(**layer_sizes(reference))},
        lambda ours: torch_layer(kind, ours.config),
    )


def encoder(config: Config) -> TorchLayer:
    """`nn.TransformerEncoder`, which gets a causal mask with each call where ours is causal."""
    return TorchLayer(
        (nn.TransformerEncoder,),
        ENCODER,
        lambda reference: _stack_arguments(reference, config),
        lambda ours: nn.TransformerEncoder(
            torch_layer(nn.TransformerEncoderLayer, ours.config),
            len(ours.layers),
            _norm(ours),
            enable_nested_tensor=False,
        ),
    )


def decoder(config: Config) -> TorchLayer:
    """`nn.TransformerDecoder`, which gets a causal mask with each call."""
    return TorchLayer(
        (nn.TransformerDecoder,),
        DECODER,
        lambda reference: _stack_arguments(reference, config),
        lambda ours: nn.TransformerDecoder(
            torch_layer(nn.TransformerDecoderLayer, ours.config), len(ours.layers), _norm(ours)
        ),
    )


def _attention_arguments(reference: nn.MultiheadAttention) -> dict[str, Any]:
    return {
        "hidden_size": reference.embed_dim,
        "heads": reference.num_heads,
        "dropout": reference.dropout,
    }


def layer_sizes(
    reference: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> dict[str, Any]:
    """Return the settings of a layer of `torch.nn`."""
    norms, drops, attentions = _numbered(reference)
    alike = [{norm.eps for norm in norms}, {drop.p for drop in drops}]
    if any(len(values) > 1 for values in [*alike, {one.dropout for one in attentions}]):
        raise _unsupported(reference, "one ε for all LayerNorms, and one dropout for all of a kind")
    return {
        "hidden_size": reference.linear1.in_features,
        "num_attention_heads": reference.self_attn.num_heads,
        "intermediate_size": reference.linear1.out_features,
        "hidden_act": _activation(reference.activation),
        "hidden_dropout_prob": drops[0].p,
        "attention_probs_dropout_prob": attentions[0].dropout,
        "activation_dropout_prob": reference.dropout.p,
        "layer_norm_eps": norms[0].eps,
        "norm_first": reference.norm_first,
    }


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


def _activation(function: Any) -> str:
    """Our name of an activation, which may be a function or a module."""
    if function in (functional.relu, torch.relu) or isinstance(function, nn.ReLU):
        return "relu"
    if function is functional.gelu or isinstance(function, nn.GELU):
        return "gelu_new" if getattr(function, "approximate", "none") == "tanh" else "gelu"
    return str(function)


def _stack_arguments(reference: Any, config: Config) -> dict[str, Any]:
    """The layers' common configuration, their number, and whether a LayerNorm follows."""
    sizes = layer_sizes(reference.layers[0])
    if any(layer_sizes(layer) != sizes for layer in reference.layers):
        raise _unsupported(reference, "layers of the same sizes")
    return {
        "layer": config(**sizes),
        "num_layers": len(reference.layers),
        "final_norm": reference.norm is not None,
    }


def _norm(ours: Any) -> nn.LayerNorm | None:
    config = ours.config
    return nn.LayerNorm(config.hidden_size, config.layer_norm_eps) if ours.norm else None


def _unsupported(reference: nn.Module, wanted: str) -> CourseError:
    return CourseError(
        f"This {type(reference).__name__} has a setting that our layer lacks.",
        f"Give one with {wanted}.",
    )
