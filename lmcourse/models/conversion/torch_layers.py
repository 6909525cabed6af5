"""`torch.nn`'s layers as ours, and back: attention, Transformer, recurrent networks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.checkpoint import load_strictly
from lmcourse.models.conversion import recurrent
from lmcourse.models.conversion.recurrent import RecurrentNaming
from lmcourse.models.conversion.renaming import Renaming, Rule, linear
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.rnn import RNN
from lmcourse.models.transformer import DecoderLayer, EncoderLayer, LayerConfig

L = TypeVar("L", bound=nn.Module)

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


@dataclass(frozen=True)
class TorchLayer:
    """How one of our layers and its counterpart of `torch.nn` become each other.

    Attributes:
        counterpart: its class, or several where ours takes over any of them.
        renaming: the tensors' names.
        from_torch, to_torch: make a layer of the other's sizes.
    """

    counterpart: type[nn.Module] | tuple[type[nn.Module], ...]
    renaming: Renaming | RecurrentNaming
    from_torch: Callable[[Any], nn.Module]
    to_torch: Callable[[Any], nn.Module]


def layer_of(ours: type[nn.Module]) -> TorchLayer:
    """What is known of one of our classes."""
    return {
        RNN: _recurrent(nn.RNN),
        LSTM: _recurrent(nn.LSTM),
        GRU: _recurrent(nn.GRU),
        Recurrent: TorchLayer(
            (nn.RNN, nn.LSTM, nn.GRU),
            RecurrentNaming(stacked=True),
            recurrent.stack_from_torch,
            recurrent.stack_to_torch,
        ),
        MultiHeadAttention: TorchLayer(
            nn.MultiheadAttention, ATTENTION, _attention_from_torch, _attention_to_torch
        ),
        EncoderLayer: TorchLayer(
            nn.TransformerEncoderLayer,
            ENCODER_LAYER,
            lambda reference: EncoderLayer(_layer_config(reference)),
            lambda layer: nn.TransformerEncoderLayer(**_torch_settings(layer.config)),
        ),
        DecoderLayer: TorchLayer(
            nn.TransformerDecoderLayer,
            DECODER_LAYER,
            lambda reference: DecoderLayer(_layer_config(reference)),
            lambda layer: nn.TransformerDecoderLayer(**_torch_settings(layer.config)),
        ),
    }[ours]


def from_torch(kind: type[L], reference: nn.Module) -> L:
    """A copy of a layer of `torch.nn`, in its mode.

    Raises:
        CourseError: it is of another class, or has more than ours can hold.
    """
    layer = layer_of(kind)
    known = layer.counterpart if isinstance(layer.counterpart, tuple) else (layer.counterpart,)
    if type(reference) not in known:
        raise CourseError(
            f"{kind.__name__} cannot take over a {type(reference).__name__}.",
            f"Give a {' or '.join(f'torch.nn.{one.__name__}' for one in known)}.",
        )
    ours = layer.from_torch(reference)
    name = f"this {type(reference).__name__}"
    load_strictly(ours, layer.renaming.to_ours(reference.state_dict()), name)
    return cast(L, ours.train(reference.training))


def to_torch(ours: nn.Module) -> nn.Module:
    """A layer of `torch.nn` (batch first) with a copy of the weights, in the same mode."""
    layer = layer_of(type(ours))
    theirs = layer.to_torch(ours)
    state = layer.renaming.to_theirs(ours.state_dict())
    load_strictly(theirs, state, f"this {type(ours).__name__}")
    return theirs.train(ours.training)


def _recurrent(counterpart: type[nn.RNNBase]) -> TorchLayer:
    return TorchLayer(
        counterpart, RecurrentNaming(), recurrent.layer_from_torch, recurrent.layer_to_torch
    )


def _attention_from_torch(reference: nn.MultiheadAttention) -> MultiHeadAttention:
    if not reference._qkv_same_embed_dim or reference.in_proj_bias is None:
        raise _not_ours(reference, "keys and values of the same width as queries, and biases")
    if reference.bias_k is not None or reference.add_zero_attn:
        raise _not_ours(reference, "no added keys")
    return MultiHeadAttention(reference.embed_dim, reference.num_heads, reference.dropout)


def _attention_to_torch(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    width = ours.query.in_features
    return nn.MultiheadAttention(width, ours.heads, ours.dropout, batch_first=True)


def _layer_config(
    reference: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> LayerConfig:
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


def _torch_settings(config: LayerConfig) -> dict[str, Any]:
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


def _not_ours(reference: nn.Module, wanted: str) -> CourseError:
    return CourseError(
        f"This {type(reference).__name__} has more or less than ours can hold.",
        f"Give one with {wanted}.",
    )
