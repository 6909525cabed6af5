"""`torch.nn`'s recurrent networks as ours, and back.

PyTorch keeps two biases a layer, b_ih + b_hh, of which we keep the sum; only the GRU's candidate
has both, b_n' and b_n. So the gradient of our b is that of either of theirs, not their sum. A
reference without biases comes over with biases of zero. On the way back our b becomes b_ih, and
b_hh is zero.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.rnn import RNN

THEIRS = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)(_l\d+(?:_reverse)?)")
OURS = re.compile(r"(?:layers\.(\d+)\.)?(?:(forward|backward)_layer\.)?(U|W|P|b|b_n)")
NAMES = {"weight_ih": "U", "weight_hh": "W", "weight_hr": "P"}


@dataclass(frozen=True)
class RecurrentNaming:
    """The names of one layer's tensors under both systems, or of those of a whole stack.

    Args:
        stacked: whether ours is a `Recurrent`, not one `RNN`, `LSTM` or `GRU`.
    """

    stacked: bool = False

    def to_ours(
        self, theirs: Mapping[str, Tensor], *, gradients: bool = False
    ) -> dict[str, Tensor]:
        """Their tensors under our names.

        Args:
            gradients: whether they are gradients, of which biases that are added have one.

        Raises:
            CourseError: a tensor is unknown.
        """
        layers: dict[str, dict[str, Tensor]] = {}
        for name, tensor in theirs.items():
            match = THEIRS.fullmatch(name)
            if match is None:
                raise _unknown(name)
            layers.setdefault(match[2], {})[match[1]] = tensor
        for suffix, layer in layers.items():
            if "weight_hh" not in layer:
                raise _missing(f"tensor weight_hh{suffix}")
        two = any(suffix.endswith("_reverse") for suffix in layers)
        return {
            self._prefix(suffix, two) + name: tensor
            for suffix, layer in layers.items()
            for name, tensor in _layer_to_ours(layer, gradients).items()
        }

    def to_theirs(self, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Our tensors under their names.

        Raises:
            CourseError: a tensor is unknown.
        """
        layers: dict[str, dict[str, Tensor]] = {}
        for name, tensor in ours.items():
            match = OURS.fullmatch(name)
            if match is None:
                raise _unknown(name)
            suffix = f"_l{match[1] or 0}" + ("_reverse" if match[2] == "backward" else "")
            layers.setdefault(suffix, {})[match[3]] = tensor
        for suffix, layer in layers.items():
            if "b" not in layer:
                raise _missing(f"b that becomes bias_ih{suffix}")
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


def layer_from_torch(reference: nn.RNNBase) -> RNN | LSTM | GRU:
    """One of our layers, of the sizes of a reference with one layer and one direction.

    Raises:
        CourseError: it has more.
    """
    if reference.num_layers != 1 or reference.bidirectional:
        raise CourseError(
            f"{reference} has more than one layer of ours can hold.",
            f"Give a torch.nn.{type(reference).__name__} with one layer and one direction, or take "
            "it over by Recurrent.from_torch.",
        )
    sizes = reference.input_size, reference.hidden_size
    if isinstance(reference, nn.LSTM):
        return LSTM(*sizes, reference.proj_size)
    return GRU(*sizes) if isinstance(reference, nn.GRU) else RNN(*sizes, _nonlinearity(reference))


def layer_to_torch(layer: RNN | LSTM | GRU) -> nn.RNNBase:
    """The counterpart of a layer of ours, with weights of its own.

    Raises:
        CourseError: it clips, or projects to no less than its width, which `torch.nn` does not.
    """
    sizes = layer.input_size, layer.hidden_size
    options: dict[str, Any] = {"batch_first": True}
    if isinstance(layer, RNN):
        return nn.RNN(*sizes, nonlinearity=layer.nonlinearity, **options)
    if isinstance(layer, GRU):
        return nn.GRU(*sizes, **options)
    if layer.cell_clip is not None or layer.projection_clip is not None:
        raise CourseError(
            f"torch.nn.LSTM cannot clip its state to {layer.cell_clip}, or its projection to "
            f"{layer.projection_clip}.",
            "Convert an LSTM without cell_clip and projection_clip.",
        )
    if layer.projection_size >= layer.hidden_size:
        raise CourseError(
            f"torch.nn.LSTM cannot project {layer.hidden_size} numbers to {layer.projection_size}.",
            "Convert an LSTM with a projection_size below its hidden_size, or without one.",
        )
    return nn.LSTM(*sizes, proj_size=layer.projection_size, **options)


def stack_from_torch(reference: nn.RNNBase) -> Recurrent:
    """A stack of ours of the reference's sizes."""
    cells: dict[type[nn.RNNBase], Any] = {nn.RNN: "rnn", nn.LSTM: "lstm", nn.GRU: "gru"}
    return Recurrent(
        cells[type(reference)],
        reference.input_size,
        reference.hidden_size,
        reference.num_layers,
        reference.bidirectional,
        reference.dropout,
        reference.proj_size,
        _nonlinearity(reference) if isinstance(reference, nn.RNN) else "tanh",
    )


def stack_to_torch(ours: Recurrent) -> nn.RNNBase:
    """The counterpart of a stack of ours, with weights of its own."""
    first: Any = ours.layers[0]
    one = layer_to_torch(first.forward_layer if ours.bidirectional else first)
    kind: Any = type(one)
    options: dict[str, Any] = {}
    if isinstance(one, nn.RNN):
        options["nonlinearity"] = one.nonlinearity
    if isinstance(one, nn.LSTM):
        options["proj_size"] = one.proj_size
    made: nn.RNNBase = kind(
        one.input_size,
        one.hidden_size,
        num_layers=len(ours.layers),
        bidirectional=ours.bidirectional,
        dropout=ours.dropout.p if len(ours.layers) > 1 else 0.0,  # there is no place for it
        batch_first=True,
        **options,
    )
    return made


def _nonlinearity(reference: nn.RNNBase) -> Any:
    return reference.nonlinearity


def _missing(name: str) -> CourseError:
    return CourseError(f"The {name} is missing.", "Give the whole state of an RNN, LSTM or GRU.")


def _unknown(name: str) -> CourseError:
    return CourseError(
        f"The tensor {name} has no place in a recurrent network.",
        "Give the whole state of an RNN, LSTM or GRU.",
    )
