"""Our attention, Transformer layers and stacks, built from those of `torch.nn`."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.conversion.torch_layers import TorchCounterpart
from lmcourse.models.conversion.transformer import numbered
from lmcourse.models.transformer import LayerConfig
from lmcourse.models.weights import load_strictly


def from_torch(kind: type[TorchCounterpart], reference: nn.Module) -> Any:
    """A copy of a layer or stack of `torch.nn`, in its mode."""
    if isinstance(reference, nn.MultiheadAttention):
        arguments = _attention_arguments(reference)
    elif isinstance(reference, nn.TransformerEncoder | nn.TransformerDecoder):
        arguments = _stack_arguments(reference)
    else:
        arguments = {"config": LayerConfig(**layer_sizes(reference))}
    ours = kind(**arguments)
    state = kind.torch_layer.renaming.to_ours(reference.state_dict())
    load_strictly(ours, state, f"this {type(reference).__name__}")
    return ours.train(reference.training)


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
    norms, drops, attentions = numbered(reference)
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


def _activation(function: Any) -> str:
    """Our name of an activation, which may be a function or a module."""
    if function in (functional.relu, torch.relu) or isinstance(function, nn.ReLU):
        return "relu"
    if function is functional.gelu or isinstance(function, nn.GELU):
        return "gelu_new" if getattr(function, "approximate", "none") == "tanh" else "gelu"
    return str(function)


def _stack_arguments(reference: Any) -> dict[str, Any]:
    """The layers' common configuration, their number, and whether a LayerNorm follows."""
    sizes = layer_sizes(reference.layers[0])
    if any(layer_sizes(layer) != sizes for layer in reference.layers):
        raise _unsupported(reference, "layers of the same sizes")
    return {
        "layer": LayerConfig(**sizes),
        "num_layers": len(reference.layers),
        "final_norm": reference.norm is not None,
    }


def _unsupported(reference: nn.Module, wanted: str) -> CourseError:
    return CourseError(
        f"This {type(reference).__name__} has a setting that our layer lacks.",
        f"Give one with {wanted}.",
    )
