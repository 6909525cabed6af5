"""One step after another: how every recurrent layer reads a batch of sequences (chapters 02, 03).

A layer is known by one function, its step:

    (output_t, state_t) = step(x_t, state_{t-1})

`unroll` is the loop over time, to be read. `run_kernel` has PyTorch's kernel do the same in one
call: faster, and with no place to look in between.

Sequences of a batch may differ in length. Beyond its last real step a sequence's state stands
still, and its output is zero, as with PyTorch's packed sequences.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int, Integer
from torch import Tensor
from torch.nn.functional import pad

from lmcourse.errors import CourseError
from lmcourse.models.inputs import check_like, visible

State = tuple[Tensor, ...]
"""What passes from step to step, (batch, width) each; the first is also the step's output."""
Step = Callable[[Tensor, Any], State]
Lengths = Integer[Tensor, " batch"] | Sequence[int]
"""How many steps of each sequence are real."""
Boundary = Callable[[int, Tensor], Tensor]
"""What happens to the state on its way into step t: see `lmcourse.training.truncation`."""


def unroll(
    step: Step,
    driven: Float[Tensor, "batch time driven"],
    state: State,
    lengths: Int[Tensor, " batch"] | None = None,
    boundary: Boundary | None = None,
) -> tuple[Float[Tensor, "batch time output"], State]:
    """Take the steps t = 0, 1, …, one by one.

    Args:
        step: state_t from what drives step t and state_{t-1}.
        driven: what drives each step, computed for all of them at once: it needs no recurrence.
        state: the first state.
        lengths: how many steps of each sequence are real; None: all.
        boundary: called with (t, state) before step t; the step uses what it returns. Truncation is
            one such function. The parts of a state are handed over side by side. As t counts from
            0, it says how many steps lie behind: where equations read x_1 … x_T, the state is h_t
            and x_{t+1} comes next.

    Returns:
        The output of each step, and the last state of each sequence.
    """
    lengths = None if lengths is None else lengths.to(driven.device)
    outputs = []
    for t, driven_t in enumerate(driven.unbind(1)):
        if boundary is not None:
            widths = [part.shape[-1] for part in state]
            state = boundary(t, torch.cat(state, -1)).split(widths, -1)
        new = step(driven_t, state)
        if lengths is None:
            state, output = new, new[0]
        else:
            real = (t < lengths).unsqueeze(1)
            output = torch.where(real, new[0], 0.0)
            state = tuple(torch.where(real, *parts) for parts in zip(new, state, strict=True))
        outputs.append(output)
    return torch.stack(outputs, dim=1), state


def run_kernel(
    kernel: Callable[..., tuple[Tensor, ...]],
    inputs: Float[Tensor, "batch time input"],
    state: State,
    weights: Sequence[Tensor],
    lengths: Int[Tensor, " batch"] | None = None,
) -> tuple[Float[Tensor, "batch time output"], State]:
    """The same result from one call of PyTorch's kernel.

    cuDNN's kernels and oneDNN's can be differentiated only once.

    Args:
        kernel: ``torch.rnn_tanh``, ``torch.rnn_relu``, ``torch.lstm`` or ``torch.gru``.
        weights: the layer's, as that kernel wants them.
    """
    settings = (True, 1, 0.0, torch.is_grad_enabled(), False)  # biases, layers, dropout, train, two
    weights = _in_one_piece(weights) if inputs.is_cuda else weights
    if lengths is None or inputs.is_meta or bool((lengths == inputs.shape[1]).all()):
        output, *last = kernel(inputs, _stacked(state), weights, *settings, True)
        return output, tuple(part[0] for part in last)
    return _in_pieces(kernel, inputs, state, [weights, *settings, True], lengths)


def _in_pieces(
    kernel: Callable[..., tuple[Tensor, ...]],
    inputs: Float[Tensor, "batch time input"],
    state: State,
    options: Sequence[Any],
    lengths: Int[Tensor, " batch"],
) -> tuple[Float[Tensor, "batch time output"], State]:
    """The longest sequences first; where some end, the kernel goes on with the others.

    (The kernels read packed sequences too. But on a CPU the backward pass of these takes time that
    grows with the square of their length: for 800 steps a hundred times as much as this.)
    """
    order = lengths.to(inputs.device).argsort(descending=True)
    back = order.argsort()
    ends = lengths.sort(descending=True).values.tolist()
    inputs, state = inputs[order], tuple(part[order] for part in state)
    (batch, time, _), pieces = inputs.shape, []
    for start, end in pairwise([0, *sorted({end for end in ends if end})]):
        left = sum(one > start for one in ends)  # how many sequences go on
        now = tuple(part[:left] for part in state)
        output, *last = kernel(inputs[:left, start:end], _stacked(now), *options)
        pieces.append(pad(output, (0, 0, 0, 0, 0, batch - left)))
        state = tuple(torch.cat([new[0], old[left:]]) for new, old in zip(last, state, strict=True))
    rest = state[0].new_zeros(batch, time - max(ends), state[0].shape[1])
    return torch.cat([*pieces, rest], dim=1)[back], tuple(part[back] for part in state)


def check_inputs(
    name: str,
    inputs: Tensor,
    weight: Float[Tensor, "rows input"],
    state: Any,
    widths: Sequence[int],
    lengths: Lengths | None,
) -> tuple[State, Int[Tensor, " batch"] | None]:
    """See that what a layer is given fits, and give the first state: zeros if there is none.

    Args:
        name: the layer's.
        weight: that its inputs are multiplied by.
        state: as the caller gave it: one tensor, or a tuple of several.
        widths: of the parts of its state.

    Returns:
        The parts of the state, and the lengths as a tensor of whole numbers.

    Raises:
        CourseError: something does not fit.
    """
    if not isinstance(inputs, Tensor):
        raise CourseError(
            f"The inputs are a {type(inputs).__name__}.",
            f"This {name} takes one tensor, (batch, time, {weight.shape[1]}), and the lengths of "
            "its sequences beside it (pad_packed_sequence and pad_sequence make such tensors).",
        )
    if inputs.ndim != 3 or inputs.shape[2] != weight.shape[1] or inputs.shape[1] == 0:
        raise CourseError(
            f"The inputs have shape {tuple(inputs.shape)}.",
            f"This {name} takes (batch, time, {weight.shape[1]}) with at least one time step.",
        )
    check_dtype(inputs, weight.dtype, "inputs")
    batch, time, _ = inputs.shape
    lengths = check_lengths(lengths, batch, time, inputs.is_meta)
    wanted = [(batch, width) for width in widths]
    if state is None:
        return tuple(inputs.new_zeros(shape) for shape in wanted), lengths
    return check_state(state, wanted, weight.dtype), lengths


def check_dtype(tensor: Tensor, wanted: torch.dtype, name: str) -> None:
    """See that a tensor's numbers are of the weights' type (autocast sees to it by itself).

    Raises:
        CourseError: they are not.
    """
    if tensor.dtype != wanted and not torch.is_autocast_enabled(tensor.device.type):
        raise CourseError(
            f"The {name} has the type {tensor.dtype}, the weights {wanted}.",
            f"Give {name}.to({wanted}), or convert the model.",
        )


def check_state(state: Any, wanted: Sequence[tuple[int, ...]], dtype: torch.dtype) -> State:
    """The parts of a state that is given, looked at.

    Args:
        wanted: the shape of each part.

    Raises:
        CourseError: it is no tensor, or no tuple of them; a shape or a type does not fit.
    """
    parts = tuple(state) if len(wanted) > 1 and isinstance(state, tuple | list) else (state,)
    if not all(isinstance(part, Tensor) for part in parts):
        kind = "a tuple of two tensors, (h, c)" if len(wanted) > 1 else "one tensor, h"
        raise CourseError(f"The state is a {type(state).__name__}.", f"Give {kind}.")
    if [tuple(part.shape) for part in parts] != [*wanted]:
        found = " and ".join(str(tuple(part.shape)) for part in parts)
        raise CourseError(
            f"The state has shape {found}.",
            f"For this batch it must be {' and '.join(map(str, wanted))}.",
        )
    for part in parts:
        check_dtype(part, dtype, "state")
    return parts


def check_lengths(
    lengths: Lengths | None, batch: int, time: int, meta: bool = False
) -> Int[Tensor, " batch"] | None:
    """The lengths of a batch's sequences as a tensor, looked at.

    Args:
        meta: whether the sequences are on the meta device, and hold no numbers.

    Raises:
        CourseError: they are no whole numbers, or do not fit the batch.
    """
    if lengths is None:
        return None
    try:
        # (Under a default device as_tensor would move a tensor, too: from meta it cannot.)
        found = lengths if isinstance(lengths, Tensor) else torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):  # what as_tensor makes of None, words, objects
        found = torch.empty(0)
    remedy = f"Give one length between 0 and {time} for each sequence."
    if found.dtype == torch.bool or found.is_floating_point() or found.is_complex():
        given = f"of type {found.dtype}" if isinstance(lengths, Tensor) else str(lengths)
        raise CourseError(f"The lengths are {given}: no whole numbers.", remedy)
    if found.is_meta and not meta:
        raise CourseError("The lengths are on the meta device, and hold no numbers.", remedy)
    found = found.long()  # in a small type, what is computed from them might not fit
    fits = found.shape == (batch,)
    if not fits or not (found.is_meta or bool(((found >= 0) & (found <= time)).all())):
        given = f"of shape {tuple(found.shape)}" if not fits else str(found.tolist())
        raise CourseError(
            f"The lengths {given} do not fit a batch of {batch} sequences of {time} steps.", remedy
        )
    return found


def _stacked(state: State) -> Tensor | list[Tensor]:
    """The state as the kernels take it: with an axis for layers in front."""
    return state[0][None] if len(state) == 1 else [part[None] for part in state]


def _in_one_piece(weights: Sequence[Tensor]) -> list[Tensor]:
    """The same weights, side by side in memory, as cuDNN reads them."""
    flat = torch.cat([weight.flatten() for weight in weights])
    sizes = [weight.numel() for weight in weights]
    return [part.view_as(weight) for part, weight in zip(flat.split(sizes), weights, strict=True)]


def lengths_of(
    attention_mask: Tensor | None,
    input_ids: Int[Tensor, "batch time"],
    name: str = "attention_mask",
) -> Int[Tensor, " batch"] | None:
    """How many tokens of each sequence are real.

    Args:
        attention_mask: 1 where there is a token, 0 where there is padding, (batch, time).
        name: what the caller calls it.

    Returns:
        One number a sequence, 0 where it is all padding; None if there is no padding.

    Raises:
        CourseError: the mask has another shape or other values, or padding stands before a token.
    """
    batch, time = input_ids.shape
    check_like(attention_mask, input_ids, name)
    seen = visible(attention_mask, batch, time, time, name)
    if seen is None:
        return None
    real = seen[:, 0, 0]
    if not real.is_meta and bool((real[:, 1:] & ~real[:, :-1]).any()):
        row = int((real[:, 1:] & ~real[:, :-1]).any(1).nonzero()[0])
        raise CourseError(
            f"In row {row} of {name} padding stands before a token.",
            "A recurrent model reads from the left, so padding must stand on the right: set the "
            "tokenizer's padding_side to 'right'.",
        )
    return real.sum(1)
