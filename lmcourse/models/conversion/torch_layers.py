"""`torch.nn`'s layers as ours, and back: attention, Transformer, recurrent networks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.checkpoint import load_strictly
from lmcourse.models.conversion import recurrent, transformer
from lmcourse.models.conversion.recurrent import RecurrentNaming
from lmcourse.models.conversion.renaming import Renaming
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.rnn import RNN
from lmcourse.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer

L = TypeVar("L", bound=nn.Module)


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


def _recurrent(counterpart: type[nn.RNNBase]) -> TorchLayer:
    return TorchLayer(
        counterpart, RecurrentNaming(), recurrent.layer_from_torch, recurrent.layer_to_torch
    )


LAYERS: dict[type[nn.Module], TorchLayer] = {
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
        nn.MultiheadAttention,
        transformer.ATTENTION,
        transformer.attention_from_torch,
        transformer.attention_to_torch,
    ),
    EncoderLayer: TorchLayer(
        nn.TransformerEncoderLayer,
        transformer.ENCODER_LAYER,
        lambda reference: EncoderLayer(transformer.layer_config(reference)),
        lambda ours: transformer.torch_layer(nn.TransformerEncoderLayer, ours.config),
    ),
    DecoderLayer: TorchLayer(
        nn.TransformerDecoderLayer,
        transformer.DECODER_LAYER,
        lambda reference: DecoderLayer(transformer.layer_config(reference)),
        lambda ours: transformer.torch_layer(nn.TransformerDecoderLayer, ours.config),
    ),
    Encoder: TorchLayer(
        nn.TransformerEncoder,
        transformer.ENCODER,
        transformer.encoder_from_torch,
        transformer.encoder_to_torch,
    ),
    Decoder: TorchLayer(
        nn.TransformerDecoder,
        transformer.DECODER,
        transformer.decoder_from_torch,
        transformer.decoder_to_torch,
    ),
}


def layer_of(ours: type[nn.Module]) -> TorchLayer:
    """What is known of one of our classes.

    Raises:
        CourseError: it is none that `torch.nn` has too.
    """
    if ours not in LAYERS:
        raise CourseError(
            f"{ours.__name__} has no counterpart in torch.nn.",
            f"Convert one of {', '.join(sorted(known.__name__ for known in LAYERS))}.",
        )
    return LAYERS[ours]


def from_torch(kind: type[L], reference: nn.Module) -> L:
    """A copy of a layer of `torch.nn`, in its mode.

    Ours takes (batch, time, width), whether the reference was made with ``batch_first`` or not.

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
