"""`torch.nn`'s recurrent networks as ours, and back.

PyTorch has two biases in each layer, b_ih and b_hh, and ours is their sum; only the GRU's candidate
has both, b_n' and b_n. So the gradient of our b equals that of each of theirs, not their sum. A
reference without biases gets zeros. In the other direction our b becomes b_ih, and b_hh is zero.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.conversion.torch_layers import TorchLayer

THEIRS = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)(_l\d+(?:_reverse)?)")
OURS = re.compile(r"(?:layers\.(\d+)\.)?(?:(forward|backward)_layer\.)?(U|W|P|b|b_n)")
NAMES = {"weight_ih": "U", "weight_hh": "W", "weight_hr": "P"}


@dataclass(frozen=True)
class RecurrentNaming:
    """The names of the tensors of a layer or a stack in both libraries.

    Args:
        stacked: ours is a `Recurrent`, not one `RNN`, `LSTM` or `GRU`.
    """

    stacked: bool = False

    def to_ours(
        self, theirs: Mapping[str, Tensor], *, gradients: bool = False
    ) -> dict[str, Tensor]:
        """Their tensors under our names.

        Args:
            gradients: they are gradients, so added biases share one.
        """
        layers: dict[str, dict[str, Tensor]] = {}
        for name, tensor in theirs.items():
            match = THEIRS.fullmatch(name)
            if match is None:
                raise _unknown(name)
            layers.setdefault(match[2], {})[match[1]] = tensor
        two = any(suffix.endswith("_reverse") for suffix in layers)
        return {
            self._prefix(suffix, two) + name: tensor
            for suffix, layer in layers.items()
            for name, tensor in _layer_to_ours(layer, gradients).items()
        }

    def to_theirs(self, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Our tensors under their names."""
        layers: dict[str, dict[str, Tensor]] = {}
        for name, tensor in ours.items():
            match = OURS.fullmatch(name)
            if match is None:
                raise _unknown(name)
            suffix = f"_l{match[1] or 0}" + ("_reverse" if match[2] == "backward" else "")
            layers.setdefault(suffix, {})[match[3]] = tensor
        return {
            name + suffix: tensor
            for suffix, layer in layers.items()
            for name, tensor in _layer_to_theirs(layer).items()
        }

    def _prefix(self, suffix: str, two_directions: bool) -> str:
        if not self.stacked:
            return ""
        number, _, backward = suffix.removeprefix("_l").partition("_")
        direction = "backward_layer." if backward else "forward_layer."
        return f"layers.{number}." + (direction if two_directions else "")


def _layer_to_ours(theirs: Mapping[str, Tensor], gradients: bool) -> dict[str, Tensor]:
    ours = {NAMES[name]: tensor for name, tensor in theirs.items() if name in NAMES}
    rows, width = theirs["weight_hh"].shape
    is_gru = "weight_hr" not in theirs and rows == 3 * width
    zeros = torch.zeros_like(theirs["weight_hh"][:, 0])
    first, second = theirs.get("bias_ih", zeros), theirs.get("bias_hh", zeros)
    added = first if gradients else first + second
    if not is_gru:
        return ours | {"b": added}
    n = slice(2 * width, None)
    return ours | {"b": torch.cat([added[: 2 * width], first[n]]), "b_n": second[n].clone()}


def _layer_to_theirs(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    theirs = {name: ours[own] for name, own in NAMES.items() if own in ours}
    inside = torch.zeros_like(ours["b"])
    if "b_n" in ours:
        inside[-len(ours["b_n"]) :] = ours["b_n"]
    return theirs | {"bias_ih": ours["b"], "bias_hh": inside}


def _layer_arguments(reference: nn.RNNBase) -> dict[str, Any]:
    """Sizes of a reference with one layer and one direction, and its own setting."""
    if reference.num_layers != 1 or reference.bidirectional:
        raise CourseError(
            f"{reference} has several layers or directions.",
            f"Give a torch.nn.{type(reference).__name__} with one layer and one direction, or "
            "convert it with Recurrent.from_torch.",
        )
    setting: dict[str, Any] = {}
    if isinstance(reference, nn.RNN):
        setting["nonlinearity"] = reference.nonlinearity
    if isinstance(reference, nn.LSTM):
        setting["projection_size"] = reference.proj_size
    return {
        "input_size": reference.input_size,
        "hidden_size": reference.hidden_size,
        **setting,
    }


def _lstm_to_torch(ours: Any) -> nn.LSTM:
    """Raises:
    CourseError: ours clips, which `torch.nn.LSTM` cannot.
    """
    if ours.cell_clip is not None or ours.projection_clip is not None:
        raise CourseError(
            f"torch.nn.LSTM cannot clip its state to {ours.cell_clip}, or its projection to "
            f"{ours.projection_clip}.",
            "Convert an LSTM without cell_clip and projection_clip.",
        )
    sizes = ours.input_size, ours.hidden_size
    return nn.LSTM(*sizes, proj_size=ours.projection_size, batch_first=True)


def _stack_arguments(reference: nn.RNNBase) -> dict[str, Any]:
    return {
        "cell": type(reference).__name__.lower(),
        "input_size": reference.input_size,
        "hidden_size": reference.hidden_size,
        "num_layers": reference.num_layers,
        "bidirectional": reference.bidirectional,
        "dropout": reference.dropout,
        "projection_size": reference.proj_size,
        "nonlinearity": getattr(reference, "nonlinearity", "tanh"),
    }


def _stack_to_torch(ours: Any) -> nn.RNNBase:
    first = ours.layers[0].forward_layer if ours.bidirectional else ours.layers[0]
    one = first.to_torch()
    name = {nn.RNN: "nonlinearity", nn.LSTM: "proj_size"}.get(type(one))
    stack: nn.RNNBase = type(one)(
        one.input_size,
        one.hidden_size,
        num_layers=len(ours.layers),
        bidirectional=ours.bidirectional,
        dropout=ours.dropout.p if len(ours.layers) > 1 else 0.0,  # it is between layers
        batch_first=True,
        **({name: getattr(one, name)} if name else {}),
    )
    return stack


def _unknown(name: str) -> CourseError:
    return CourseError(
        f"The tensor {name} is not part of a recurrent network.",
        "Give the whole state of an RNN, LSTM or GRU.",
    )


RNN_LAYER = TorchLayer(
    RecurrentNaming(),
    lambda ours: nn.RNN(
        ours.input_size, ours.hidden_size, nonlinearity=ours.nonlinearity, batch_first=True
    ),
    (nn.RNN,),
    _layer_arguments,
)
LSTM_LAYER = TorchLayer(RecurrentNaming(), _lstm_to_torch, (nn.LSTM,), _layer_arguments)
GRU_LAYER = TorchLayer(
    RecurrentNaming(),
    lambda ours: nn.GRU(ours.input_size, ours.hidden_size, batch_first=True),
    (nn.GRU,),
    _layer_arguments,
)
STACK = TorchLayer(
    RecurrentNaming(stacked=True), _stack_to_torch, (nn.RNN, nn.LSTM, nn.GRU), _stack_arguments
)
