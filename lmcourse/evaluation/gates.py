"""What the gates of an LSTM or a GRU do while it reads, for the widget Gates (chapter 03)."""

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
    """Read one sequence from a zero state, and keep what every gate did at every step.

    Args:
        model: an `RNNLanguageModel`, a `Recurrent`, a layer (`LSTM`, `GRU`, or `Bidirectional` of
            two), or ``torch.nn.LSTM`` and ``torch.nn.GRU``. Dropout is off while it reads.
        inputs: a language model's ids, (time); else x_1 … x_T, (time, width).
        layer: which of several layers on top of each other is looked at; 0 reads the inputs.

    Returns:
        The arguments of `lmcourse.widgets.Gates`, (time, hidden) each: f, i, o, g, c, h of an LSTM,
        or r, z, n, h of a GRU. Where a projection makes an LSTM's h narrower, h is o ⊙ tanh(c)
        before it. With ``cell_clip`` where the cell is clipped. The second direction's, in the
        sequence's own order, are in ``backward``.

    Raises:
        CourseError: the model has no gates or no such layer, or the inputs do not fit it.
    """
    with evaluating(model):
        if isinstance(model, RNNLanguageModel):
            if inputs.ndim != 1 or not len(inputs):
                raise _unfit(inputs, "(time)")
            embedded = model(inputs[None], output_hidden_states=True).hidden_states[0]
            return _of_layer(model.rnn, embedded, layer)
        if isinstance(inputs, Tensor) and inputs.ndim != 2:
            raise _unfit(inputs, "(time, width)")
        if isinstance(model, nn.LSTM | nn.GRU):
            model = Recurrent.from_torch(model).to(inputs)
        if isinstance(model, Recurrent):
            return _of_layer(model, inputs[None], layer)
        if layer != 0:
            raise _no_layer(layer, 1)
        model(inputs[None])  # which says what does not fit
        return _read(model, inputs)


def _of_layer(model: Recurrent, x: Tensor, layer: int) -> Arrays:
    """Of one of the layers, which reads what those below it give."""
    if not 0 <= layer < len(model.layers):
        raise _no_layer(layer, len(model.layers))
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
        "Pass an LSTM or a GRU, or a model made of them.",
    )


def _read_lstm(cell: LSTM, x: Tensor) -> Arrays:
    h, c = x.new_zeros(1, cell.output_size), x.new_zeros(1, cell.hidden_size)
    rows = []
    for driven in (x @ cell.U.T + cell.b).split(1):
        i, f, g, o = cell.gates(driven, h)
        h, c = cell.step(driven, (h, c))
        rows.append(torch.cat([f, i, o, g, c, o * c.tanh()]))
    found: Arrays = dict(zip("fiogch", torch.stack(rows, 1), strict=True))
    return found if cell.cell_clip is None else {**found, "cell_clip": cell.cell_clip}


def _read_gru(cell: GRU, x: Tensor) -> Arrays:
    h = x.new_zeros(1, cell.hidden_size)
    rows = []
    for driven in (x @ cell.U.T + cell.b).split(1):
        r, z, n = cell.gates(driven, h)
        (h,) = cell.step(driven, (h,))
        rows.append(torch.cat([r, z, n, h]))
    return dict(zip("rznh", torch.stack(rows, 1), strict=True))


def _unfit(inputs: Tensor, wanted: str) -> CourseError:
    return CourseError(
        f"The inputs have shape {tuple(inputs.shape)}, where {wanted} is needed.",
        "Pass one sequence, without the axis of the batch.",
    )


def _no_layer(layer: int, count: int) -> CourseError:
    return CourseError(
        f"There is no layer {layer}: the model has {count}.",
        f"Choose one from 0 to {count - 1}.",
    )
