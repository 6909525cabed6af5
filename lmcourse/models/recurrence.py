"""One step after another: how every recurrent layer reads a batch of sequences (chapters 02, 03).

A layer is known by one function, its step:

    (output_t, state_t) = step(x_t, state_{t-1})

`unroll` is the loop over time, to be read. `run_kernel` has PyTorch's kernel do the same in one
call: faster, and with no place to look in between.

Sequences of a batch may differ in length. Beyond its last real step a sequence's state stands
still, and its output is zero, as with PyTorch's packed sequences.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from lmcourse.errors import CourseError
from lmcourse.models.inputs import check_like, visible

State = tuple[Tensor, ...]
"""What passes from step to step, (batch, width) each; the first is also the step's output."""
Step = Callable[[Tensor, Any], State]
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
            one such function. The parts of a state are handed over side by side.

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
    if lengths is None or bool((lengths == inputs.shape[1]).all()):
        output, *last = kernel(inputs, _stacked(state), weights, *settings, True)
        return output, tuple(part[0] for part in last)
    lengths = lengths.to(inputs.device)
    packed = pack_padded_sequence(
        inputs, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    order, back = packed.sorted_indices, packed.unsorted_indices
    assert order is not None and back is not None
    first = _stacked(tuple(part[order] for part in state))
    output, *last = kernel(packed.data, packed.batch_sizes, first, weights, *settings)
    output, _ = pad_packed_sequence(
        PackedSequence(output, packed.batch_sizes, order, back), True, 0.0, inputs.shape[1]
    )
    ends = tuple(part[0][back] for part in last)
    empty = (lengths == 0).unsqueeze(1)
    if bool(empty.any()):  # a packed sequence has one step at least: undo it
        output = torch.where(empty.unsqueeze(2), 0.0, output)
        ends = tuple(torch.where(empty, *parts) for parts in zip(state, ends, strict=True))
    return output, ends


def check_inputs(
    name: str,
    inputs: Tensor,
    input_size: int,
    state: Sequence[Tensor] | None,
    widths: Sequence[int],
    lengths: Tensor | None,
) -> State:
    """See that shapes fit, and give the first state: zeros if there is none.

    Args:
        name: the layer's.
        widths: of the parts of its state.

    Raises:
        CourseError: they do not.
    """
    if inputs.ndim != 3 or inputs.shape[2] != input_size or inputs.shape[1] == 0:
        raise CourseError(
            f"The inputs have shape {tuple(inputs.shape)}.",
            f"This {name} takes (batch, time, {input_size}) with at least one time step.",
        )
    batch, time, _ = inputs.shape
    wanted = [(batch, width) for width in widths]
    if state is not None and [tuple(part.shape) for part in state] != wanted:
        found = " and ".join(str(tuple(part.shape)) for part in state)
        raise CourseError(
            f"The state has shape {found}.",
            f"For this batch it must be {' and '.join(map(str, wanted))}.",
        )
    if lengths is not None and (
        lengths.shape != (batch,)
        or (not lengths.is_meta and bool(((lengths < 0) | (lengths > time)).any()))
    ):
        raise CourseError(
            f"The lengths {lengths.tolist()} do not fit a batch of {batch} sequences "
            f"of {time} steps.",
            f"Give one length between 0 and {time} for each sequence.",
        )
    return tuple(inputs.new_zeros(shape) for shape in wanted) if state is None else tuple(state)


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
