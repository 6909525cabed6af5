"""The gates of an LSTM or a GRU over a sequence, for the widget Gates (chapter 03)."""

from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Bidirectional, Recurrent
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.models.sampling import evaluating

Arrays = dict[str, Any]


@torch.no_grad()
def gates(model: nn.Module, inputs: Tensor, layer: int = 0) -> Arrays:
    """Read one sequence from a zero state and return every gate at every step.

    Args:
        model: an `RNNLanguageModel`, a `Recurrent`, a layer (`LSTM`, `GRU`, or `Bidirectional` of
            two), or ``torch.nn.LSTM`` and ``torch.nn.GRU``. Dropout is off.
        inputs: a language model's ids, (time); else x_1 … x_T, (time, width).
        layer: the index of the layer; 0 reads the inputs.

    Returns:
        The arguments of `lmcourse.widgets.Gates`, (time, hidden) each: f, i, o, g, c, h of an LSTM,
        or r, z, n, h of a GRU. With a projection, an LSTM's h is o ⊙ tanh(c) before it.
        ``cell_clip`` if the cell is clipped. ``backward`` holds the second direction's, in the
        sequence's order.

    Raises:
        CourseError: the model has no gates, or the inputs do not fit it.
    """
    with evaluating(model):
        if isinstance(model, RNNLanguageModel):
            embedded = model(inputs[None], output_hidden_states=True).hidden_states[0]
            return _of_layer(model.rnn, embedded, layer)
        if isinstance(model, nn.LSTM | nn.GRU):
            model = Recurrent.from_torch(model).to(inputs)
        if isinstance(model, Recurrent):
            return _of_layer(model, inputs[None], layer)
        model(inputs[None])  # raises an error if the inputs do not fit
        return _read(model, inputs)


def _of_layer(model: Recurrent, x: Tensor, layer: int) -> Arrays:
    """The gates of one layer, which reads the output of the layer below."""
    below, _ = model.read(x)
    return _read(model.layers[layer], below[layer - 1][0] if layer else x[0])


def _read(cell: nn.Module, x: Tensor) -> Arrays:
    """x: (time, width)."""
    if isinstance(cell, Bidirectional):
        back = _read(cell.backward_layer, x.flip(0))
        turned = {k: v.flip(0) if isinstance(v, Tensor) else v for k, v in back.items()}
        return {**_read(cell.forward_layer, x), "backward": turned}
    if isinstance(cell, LSTM):
        return _read_lstm(cell, x)
    if isinstance(cell, GRU):
        return _read_gru(cell, x)
    raise CourseError(
        f"A layer of type {type(cell).__name__} has no gates.",
        "Pass an LSTM or a GRU, or a model with one.",
    )


def _read_lstm(cell: LSTM, x: Tensor) -> Arrays:
    h, c = x.new_zeros(1, cell.output_size), x.new_zeros(1, cell.hidden_size)
    rows = []
    for projected in (x @ cell.U.T + cell.b).split(1):
        i, f, g, o = cell.gates(projected, h)
        h, c = cell.step(projected, (h, c))
        rows.append(torch.cat([f, i, o, g, c, o * c.tanh()]))
    found: Arrays = dict(zip("fiogch", torch.stack(rows, 1), strict=True))
    return found if cell.cell_clip is None else {**found, "cell_clip": cell.cell_clip}


def _read_gru(cell: GRU, x: Tensor) -> Arrays:
    h = x.new_zeros(1, cell.hidden_size)
    rows = []
    for projected in (x @ cell.U.T + cell.b).split(1):
        r, z, n = cell.gates(projected, h)
        (h,) = cell.step(projected, (h,))
        rows.append(torch.cat([r, z, n, h]))
    return dict(zip("rznh", torch.stack(rows, 1), strict=True))
