"""Backpropagation through time, truncation.

h_t = tanh(U x_t + W h_{t-1}),    ℓ_t = ½ ‖h_t − y_t‖²,    L = ℓ_1 + … + ℓ_T
"""

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import Result


def bptt(W: Tensor, U: Tensor, inputs: Tensor, initial_state: Tensor, targets: Tensor) -> Tensor:
    states = [initial_state]
    for x in inputs:
        states.append(torch.tanh(U @ x + W @ states[-1]))
    dW = torch.zeros_like(W)
    later = torch.zeros_like(initial_state)
    for t in range(len(inputs), 0, -1):
        dh = (states[t] - targets[t - 1]) + later
        da = (1 - states[t] ** 2) * dh
        dW += torch.outer(da, states[t - 1])
        later = W.T @ da
    return dW


def _problem(seed: int, time: int, width: int = 2, hidden: int = 3) -> Example:
    """W, U, inputs, h_0 and targets; the states are neither saturated nor small."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((hidden, hidden), (hidden, width), (time, width), (hidden,), (time, hidden))
    scales = (0.6, 0.5, 0.8, 0.8, 1.0)
    drawn = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return tuple(scale * values for scale, values in zip(scales, drawn, strict=True))


def _where(arguments: Example, value: Result, wanted: Result) -> str:
    (yours,), (right,), time = value.parts, wanted.parts, len(arguments[2])
    if (yours - right).abs().max() < 1e-4 * right.abs().max():
        return (
            "Correct to a few digits only; the check needs ten. Use float64 throughout, and exact "
            "derivatives instead of finite differences."
        )
    if time == 1:
        return (
            "Incorrect even for a sequence of one step, where nothing flows back through time. "
            "Check ∂ℓ_1/∂h_1 = h_1 − y_1, tanh′, and the derivative of W h_0 with respect to W."
        )
    return (
        f"Correct for shorter sequences, incorrect for {time} steps. Check the gradient that step "
        "t + 1 passes back to step t, and what step t adds to it."
    )


BPTT = Task(
    bptt,
    examples=[_problem(10 + time, time) for time in (1, 2, 3, 6, 9)],
    slips="""
Later steps pass back nothing, or only an immediate derivative. Pass back the total dL/dh_t.
    later = W.T @ da -> later = 0 * da ||
        later = W.T @ ((1 - states[t] ** 2) * (states[t] - targets[t - 1]))
Only one step's term of dL/dW is kept. Every step uses the same W, so the terms are added (`+=`).
Does the function return inside the loop?
    dW += torch -> dW = torch || return torch
The backward loop skips steps, or its indices are shifted. It goes from t = T down to t = 1; with
h_0 = `states[0]`, step t has the state `states[t]` and the target y_t.
    range(len(inputs), 0, -1) -> range(len(inputs) - 1, 0, -1) || range(len(inputs), 1, -1) ||
        range(1, len(inputs) + 1)
    or
    range(len(inputs), 0, -1) -> range(len(inputs) - 1, -1, -1)
    targets[t - 1] -> targets[t]
    or
    dW += -> dW += (t < len(inputs)) *
The gradient is averaged over the steps. L is the sum of their losses.
    return dW -> return dW / len(inputs)
Only the last loss is differentiated. Every step has a loss ℓ_t: add its immediate derivative
h_t − y_t on the way back.
    targets[t - 1]) + later -> targets[t - 1]) * (t == len(inputs)) + later
The outer product is wrong. Entry [i, j] is entry i of dL/da_t times entry j of h_{t−1}.
    torch.outer(da, states[t - 1]) -> torch.outer(states[t - 1], da) || torch.outer(da, states[t])
        || (da * states[t - 1]).expand_as(W)
The derivative of tanh is wrong. At step t it is 1 − h_t², where h_t is already the value of tanh.
    1 - states[t] ** 2 -> 1 - states[t - 1] ** 2 || 1 - torch.tanh(states[t]) ** 2 || 1 - states[t]
The derivative of tanh is missing: in dL/dW, in the gradient for h_{t−1}, or in one of the two
terms of dL/dh_t.
    (1 - states[t] ** 2) * dh -> dh || (1 - states[t] ** 2) * (states[t] - targets[t - 1]) + later
    or
    W.T @ da -> W.T @ dh
    or
    torch.outer(da, -> torch.outer(dh,
The gradient for h_{t−1} is multiplied by `W`, or by no matrix. Forward, W multiplies h_{t−1};
backward, the transpose of W multiplies dL/da_t.
    later = W.T @ da -> later = W @ da || later = da || later = dh
The states are wrong. Compare your forward pass with h_t = tanh(U x_t + W h_{t−1}), beginning with
h_0 = `initial_state`; each state is a separate tensor.
    torch.tanh(U @ x + W @ states[-1]) -> torch.tanh(U @ x + W.T @ states[-1]) ||
        torch.tanh(W @ states[-1]) || U @ x + W @ states[-1]
    or
    states = [initial_state] -> states = [torch.zeros_like(initial_state)]
    or
    dW = torch.zeros_like(W) -> dW = torch.zeros_like(W); states = states[-1:] * len(states)
""",
    cause=_where,
    tolerance=1e-10,
    autograd=False,
    note="Equal to autograd to ten digits. In a language model `loss.backward()` runs this loop, "
    "and also computes the gradients of U, b, the embeddings and the output layer.",
)


def truncated_gradient(
    W: Tensor, U: Tensor, inputs: Tensor, initial_state: Tensor, targets: Tensor, chunk: int
) -> Tensor | None:
    W = W.clone().requires_grad_()
    h = initial_state
    for start in range(0, len(inputs), chunk):
        h = h.detach()
        loss = torch.zeros(())
        for x, y in zip(inputs[start : start + chunk], targets[start : start + chunk], strict=True):
            h = torch.tanh(U @ x + W @ h)
            loss = loss + 0.5 * ((h - y) ** 2).sum()
        loss.backward()
    return W.grad


TRUNCATION = Task(
    truncated_gradient,
    examples=[(*_problem(0, 11), 4), (*_problem(1, 8), 4), (*_problem(2, 5), 5)],
    edge_cases={"for a chunk longer than the sequence": (*_problem(3, 5), 7)},
    slips="""
Nothing is cut at the boundaries: the state still has the graph of earlier chunks. Detach it.
    h = h.detach() -> h = h + 0
    loss.backward() -> loss.backward(retain_graph=True) || loss.backward()
The state is reset at each boundary. Only the gradient stops there; the state continues, detached.
    h = h.detach() -> h = torch.zeros_like(h) if start else h || h = initial_state
The gradient is cut at the wrong steps, or at every step. The first cut is after step `chunk`.
    W @ h) -> W @ h.detach())
    or
    h = h.detach() -> step = 0
    h = torch.tanh(U @ x + W @ h) ->
        h = torch.tanh(U @ x + W @ (h.detach() if step == 1 else h)); step += 1 ||
        h = torch.tanh(U @ x + W @ (h.detach() if step == chunk - 1 else h)); step += 1 ||
        h = torch.tanh(U @ x + W @ h); step += 1; h = h if step % chunk else h.detach()
    loss.backward() -> loss.backward(retain_graph=True)
Only one chunk's gradient is returned instead of the sum over all chunks. Is it overwritten between
chunks, or does the function return inside the loop?
    loss.backward() -> W.grad = None; loss.backward() || loss.backward(); return W.grad
A shorter last chunk is omitted. Its steps count as well.
    range(0, len(inputs), chunk) -> range(0, len(inputs) - chunk + 1, chunk)
Only the last step of each chunk counts. Every step has a loss, and all of them are added.
    loss = loss + 0.5 -> loss = 0.5
The loss is averaged. The loss of a chunk is the sum over its steps, and that of a step the sum
over its units.
    loss.backward() -> (loss / len(inputs[start : start + chunk])).backward() ||
        (loss / len(inputs)).backward() || (loss / chunk).backward() || (loss / len(h)).backward()
The gradients of the chunks are averaged. The exercise asks for their sum.
    return W.grad -> return W.grad / -(-len(inputs) // chunk)
Earlier chunks are counted again: the loss includes earlier chunks, or `grad`, which accumulates
by itself, is added up after each `backward()`.
    loss = torch.zeros(()) -> loss = loss if start else torch.zeros(())
    loss.backward() -> loss.backward(retain_graph=True)
    or
    h = initial_state -> h, total = initial_state, torch.zeros_like(W)
    loss.backward() -> loss.backward(); total = total + W.grad
    return W.grad -> return total
`chunk` is the number of steps in a chunk, not the number of chunks.
    h = initial_state -> h = initial_state; chunk = -(-len(inputs) // chunk) ||
        h = initial_state; chunk = len(inputs) // chunk
PyTorch finds nothing to differentiate. Call `requires_grad_()` on the copy of `W` that the steps
use, and keep the graph: no `torch.no_grad()`, no `detach()` of `W` or of the loss.
    W.clone().requires_grad_() -> W.clone()
""",
    tolerance=1e-6,
    note="Memory and time for an update now depend on the chunk, not on the text. In exchange, no "
    "gradient reaches further back than a chunk.",
)
