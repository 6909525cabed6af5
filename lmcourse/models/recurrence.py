"""The loop over time that all recurrent layers share (chapters 02 and 03).

A layer is defined by its step:

    (output_t, state_t) = step(x_t, state_{t-1})

`unroll` is the loop over time in Python. `run_kernel` computes the same in one call of PyTorch's
kernel, which is faster.

Sequences of a batch may differ in length. After a sequence's last step its state is constant and
its output zero, as with PyTorch's packed sequences.
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
"""The state between steps, (batch, width) each; its first part is also the output."""
Step = Callable[[Tensor, Any], State]
Lengths = Integer[Tensor, " batch"] | Sequence[int]
"""The number of steps of each sequence."""
Boundary = Callable[[int, Tensor], Tensor]
"""A function applied to the state before step t: see `lmcourse.training.truncation`."""


def unroll(
    step: Step,
    projected: Float[Tensor, "batch time projected"],
    state: State,
    lengths: Int[Tensor, " batch"] | None = None,
    boundary: Boundary | None = None,
) -> tuple[Float[Tensor, "batch time output"], State]:
    """Apply the steps t = 0, 1, …, one by one.

    Args:
        step: computes state_t from the projected input of step t and state_{t-1}.
        projected: the projected inputs, which need no recurrence.
        state: the first state.
        lengths: the number of steps of each sequence; None: all.
        boundary: called with (t, state) before step t; its result replaces the state, as in
            truncation. The parts of a state are concatenated. t is the number of steps done: in the
            equations' notation the state is h_t, and x_{t+1} is next.

    Returns:
        The output of each step, and the last state of each sequence.
    """
    lengths = None if lengths is None else lengths.to(projected.device)
    outputs = []
    for t, projected_t in enumerate(projected.unbind(1)):
        if boundary is not None:
            widths = [part.shape[-1] for part in state]
            state = boundary(t, torch.cat(state, -1)).split(widths, -1)
        new = step(projected_t, state)
        if lengths is None:
            state, output = new, new[0]
        else:
            real = (t < lengths).unsqueeze(1)  # [batch, 1]
            output = torch.where(real, new[0], 0.0)
            state = tuple(torch.where(real, *parts) for parts in zip(new, state, strict=True))
        outputs.append(output)
    return torch.stack(outputs, dim=1), state


def zero_padding(
    inputs: Float[Tensor, "batch time input"], lengths: Int[Tensor, " batch"] | None
) -> Float[Tensor, "batch time input"]:
    """Set padding to zero: a NaN in it would reach the gradients, since 0 · NaN is NaN."""
    if lengths is None:
        return inputs
    time = torch.arange(inputs.shape[1], device=inputs.device)
    padding = time >= lengths.to(inputs.device).unsqueeze(1)  # [batch, time]
    return inputs.masked_fill(padding.unsqueeze(2), 0)


def run_kernel(
    kernel: Callable[..., tuple[Tensor, ...]],
    inputs: Float[Tensor, "batch time input"],
    state: State,
    weights: Sequence[Tensor],
    lengths: Int[Tensor, " batch"] | None = None,
) -> tuple[Float[Tensor, "batch time output"], State]:
    """Compute the same in one call of PyTorch's kernel.

    The kernels of cuDNN and oneDNN can be differentiated only once.

    Args:
        kernel: ``torch.rnn_tanh``, ``torch.rnn_relu``, ``torch.lstm`` or ``torch.gru``.
        weights: the layer's weights, in the kernel's order.
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
    """Run the kernel on the longest sequences first; where some end, continue with the others.

    On a CPU the backward pass of packed sequences takes time quadratic in their length: for 800
    steps, a hundred times as much as this.
    """
    order = lengths.to(inputs.device).argsort(descending=True)
    back = order.argsort()
    ends = lengths.sort(descending=True).values.tolist()
    inputs, state = inputs[order], tuple(part[order] for part in state)
    (batch, time, _), pieces = inputs.shape, []
    stops = sorted({end for end in ends if end}) or [1]  # without steps: zeros, with a graph
    for start, end in pairwise([0, *stops]):
        left = sum(one > start for one in ends)  # sequences that continue
        now = tuple(part[:left] for part in state)
        output, *last = kernel(inputs[:left, start:end], _stacked(now), *options)
        pieces.append(pad(output, (0, 0, 0, 0, 0, batch - left)))
        state = tuple(torch.cat([new[0], old[left:]]) for new, old in zip(last, state, strict=True))
    rest = state[0].new_zeros(batch, time - stops[-1], state[0].shape[1])
    return torch.cat([*pieces, rest], dim=1)[back], tuple(part[back] for part in state)


def check_inputs(
    name: str,
    inputs: Tensor,
    weight: Float[Tensor, "rows input"],
    state: Any,
    widths: Sequence[int],
    lengths: Lengths | None,
) -> tuple[State, Int[Tensor, " batch"] | None]:
    """Check a layer's inputs; return the first state (zeros by default) and the lengths.

    Args:
        name: the layer's name.
        weight: the weight that multiplies the inputs.
        state: one tensor, or a tuple of several.
        widths: the widths of the state's parts.
    """
    if inputs.ndim != 3 or inputs.shape[2] != weight.shape[1] or inputs.shape[1] == 0:
        raise CourseError(
            f"The inputs have shape {tuple(inputs.shape)}.",
            f"This {name} takes (batch, time, {weight.shape[1]}) with at least one time step.",
        )
    batch, time, _ = inputs.shape
    lengths = check_lengths(lengths, batch, time)
    wanted = [(batch, width) for width in widths]
    if state is None:
        return tuple(inputs.new_zeros(shape) for shape in wanted), lengths
    return check_state(state, wanted), lengths


def check_state(state: Any, wanted: Sequence[tuple[int, ...]]) -> State:
    """Check a state, and return its parts.

    Args:
        wanted: the shape of each part.
    """
    parts = tuple(state) if len(wanted) > 1 and isinstance(state, tuple | list) else (state,)
    if [tuple(part.shape) for part in parts] != [*wanted]:
        found = " and ".join(str(tuple(part.shape)) for part in parts)
        raise CourseError(
            f"The state has shape {found}.",
            f"For this batch it must be {' and '.join(map(str, wanted))}.",
        )
    return parts


def check_lengths(lengths: Lengths | None, batch: int, time: int) -> Int[Tensor, " batch"] | None:
    """Check the lengths of a batch's sequences, and return them as a tensor."""
    if lengths is None:
        return None
    # Under a default device as_tensor would move a tensor, which fails from meta.
    found = lengths if isinstance(lengths, Tensor) else torch.as_tensor(lengths)
    found = found.long()  # a smaller type might overflow
    fits = found.shape == (batch,)
    if not fits or not (found.is_meta or bool(((found >= 0) & (found <= time)).all())):
        raise CourseError(
            f"The lengths {lengths} do not fit a batch of {batch} sequences of {time} steps.",
            f"Give one length between 0 and {time} for each sequence.",
        )
    return found


def _stacked(state: State) -> Tensor | list[Tensor]:
    """The state with a leading axis for layers, as the kernels take it."""
    return state[0][None] if len(state) == 1 else [part[None] for part in state]


def _in_one_piece(weights: Sequence[Tensor]) -> list[Tensor]:
    """The same weights, contiguous in memory, as cuDNN needs them."""
    flat = torch.cat([weight.flatten() for weight in weights])
    sizes = [weight.numel() for weight in weights]
    return [part.view_as(weight) for part, weight in zip(flat.split(sizes), weights, strict=True)]


def lengths_from_mask(
    attention_mask: Tensor | None,
    input_ids: Int[Tensor, "batch time"],
    name: str = "attention_mask",
) -> Int[Tensor, " batch"] | None:
    """Return the number of tokens of each sequence, or None without padding.

    Args:
        attention_mask: 1 for a token and 0 for padding on the right, (batch, time).
        name: the argument's name, for the error.
    """
    batch, time = input_ids.shape
    check_like(attention_mask, input_ids, name)
    mask = visible(attention_mask, batch, time, time, name)
    if mask is None:
        return None
    real = mask[:, 0, 0]  # [batch, time]
    if not real.is_meta and bool((real[:, 1:] & ~real[:, :-1]).any()):
        row = int((real[:, 1:] & ~real[:, :-1]).any(1).nonzero()[0])
        raise CourseError(
            f"In row {row} of {name} padding precedes a token.",
            "Recurrent models need padding on the right: set the tokenizer's padding_side to "
            "'right'.",
        )
    return real.sum(1)
