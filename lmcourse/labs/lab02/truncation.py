"""02.4 Truncated backpropagation: the state crosses a boundary, the gradient does not."""

from collections.abc import Callable
from math import ceil

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.guards import watched_autograd
from lmcourse.labs.lab02.elman import Problem, explain_factor, gradient, losses, problem
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# time, chunk: a shorter last chunk, then chunks that fit, then one longer than the sequence.
_SIZES = ((11, 4), (8, 4), (5, 7))


def judge(answer: Answer) -> str:
    for seed, (time, chunk) in enumerate(_SIZES):
        given = problem(seed, time)
        value = tensor(_call(answer, given, chunk), given.W.shape)
        wanted = _right(given, chunk)
        if not same(value, wanted, 1e-6):
            explain(value, MISTAKES, given, chunk, tolerance=1e-6)
            explain_factor(value, wanted, time)
            if same(value, _recounted(given, chunk), 1e-6):
                raise Wrong(_why_recounted(answer, given, chunk))
            raise Wrong(_where(time, chunk))
    return (
        "Time and memory for the graph now depend on the chunk, not on the text; the price is the "
        "horizon."
    )


def _call(answer: Answer, given: Problem, chunk: int) -> object:
    try:
        return answer(*given, chunk)
    except Wrong as wrong:
        told = str(wrong)
        if "does not require grad" in told:
            raise Wrong(_why_no_history(answer, given, chunk)) from None
        if "out of bounds" in told:
            raise Wrong(
                f"Your loop runs past the end of the sequence: with {len(given.inputs)} steps in "
                f"chunks of {chunk}, the last chunk is shorter."
            ) from None
        if "second time" in told:
            raise Wrong(
                "PyTorch is asked to go back through a graph that is gone after its `backward()`: "
                + _what_hangs_on(answer, given, chunk)
            ) from None
        if "returns nothing" in told and "non-leaf" in answer.printed:
            raise Wrong(
                "`W.grad` is None: PyTorch keeps `grad` for a tensor that you make, not for one "
                "that it computes, like the copy of a `W` that requires gradients. First "
                "`clone()`, then `requires_grad_()`."
            ) from None
        if "returns nothing" in told:
            raise Wrong(
                f"{told} If it ends in `return W.grad`, then that is None: no gradient has reached "
                "this `W`. Is it the one that the steps compute with, or is the loss cut "
                "off its history (`detach()`, `.item()`, `torch.tensor(...)`)?"
            ) from None
        raise


def _why_no_history(answer: Answer, given: Problem, chunk: int) -> str:
    """Why nothing can be differentiated: try a W that collects gradients already."""
    try:
        answer(*given._replace(W=given.W.clone().requires_grad_()), chunk)
    except Wrong as wrong:
        if "does not require grad" in str(wrong):
            return (
                "PyTorch finds nothing to differentiate: something drops the history on the way "
                "from `W` to the loss, like `torch.no_grad()`, or a `detach()` of `W`, of the "
                "loss, or of each new state."
            )
    return (
        "PyTorch finds nothing to differentiate: the `W` that you compute with has to be told to "
        "collect gradients (`requires_grad_()`), before the first step."
    )


def _what_hangs_on(answer: Answer, given: Problem, chunk: int) -> str:
    """What leads into a graph that is gone: let graphs live, and see what is differentiated."""
    with watched_autograd() as differentiated:
        value = answer(*given, chunk)
    if len(differentiated) > len(_starts(given, chunk)):
        return (
            "inside a chunk, `backward()` is called more than once. Call it when all the losses of "
            "the chunk are added up: is it indented too far?"
        )
    if not _is_carried_over(differentiated, given):
        return "the state that you carry over still hangs on that graph. Cut it off there."
    if same(value, _recounted(given, chunk), 1e-6):
        return "the loss still hangs on that graph. Begin a new one in each chunk."
    return "both the state and the loss still hang on it. Cut the state off, and begin a new loss."


def _why_recounted(answer: Answer, given: Problem, chunk: int) -> str:
    with watched_autograd() as differentiated:
        answer(*given, chunk)
    if _is_carried_over(differentiated, given):
        return (
            "The loss is carried over, so that the steps of earlier chunks are counted again with "
            "each later one: begin a new loss in each chunk."
        )
    return (
        "Earlier chunks are counted again with each later one: `grad` adds up by itself from one "
        "`backward()` to the next, so read it once, at the end."
    )


def _is_carried_over(differentiated: list[Tensor], given: Problem) -> bool:
    """Whether the last of several losses holds those of all steps."""
    total = torch.stack(losses(given, given.W)).sum()
    return len(differentiated) > 1 and same(differentiated[-1].detach(), total, 1e-6)


def _where(time: int, chunk: int) -> str:
    if time <= chunk:
        return (
            "Right for several chunks, but wrong when one chunk holds the whole sequence and "
            "nothing is cut."
        )
    if time % chunk == 0:
        return f"Right when the last chunk is shorter, wrong for {time} steps in chunks of {chunk}."
    return (
        "Neither the full gradient nor the truncated one. Check on a sequence of two chunks: the "
        "states must be those of the full run, and the gradient the sum of two short ones."
    )


def _right(given: Problem, chunk: int) -> Tensor:
    return gradient(given, lambda t, h: h.detach() if t % chunk == 0 else h)


def _recounted(given: Problem, chunk: int) -> Tensor:
    """Each chunk counts once for itself and once for every chunk that comes after it."""
    ends = [start + chunk for start in _starts(given, chunk)]
    return torch.stack([_right(_first_steps(given, end), chunk) for end in ends]).sum(0)


def _sliding(given: Problem, chunk: int) -> Tensor:
    """Each loss reaches back ``chunk`` steps, wherever it stands."""

    def part(end: int) -> Tensor:
        start = end - chunk + 1
        return gradient(given, lambda t, h: h.detach() if t == start else h, lambda each: each[end])

    parts = [part(end) for end in range(len(given.inputs))]
    return torch.stack(parts).sum(0)


def _cut(remainder: int) -> Mistake:
    where = "early" if remainder < 0 else "late"
    return Mistake(
        f"The gradient is cut one step too {where}: the first chunk is steps 1 to `chunk`, and "
        "the cut stands between step `chunk` and the next.",
        lambda given, chunk: gradient(
            given, lambda t, h: h.detach() if t > 0 and (t - remainder) % chunk == 0 else h
        ),
    )


def _starts(given: Problem, chunk: int) -> range:
    return range(0, len(given.inputs), chunk)


def _chunks(each: list[Tensor], chunk: int) -> list[list[Tensor]]:
    return [each[start : start + chunk] for start in range(0, len(each), chunk)]


def _truncated(
    select: Callable[[list[list[Tensor]]], list[Tensor]],
) -> Callable[[Problem, int], Tensor]:
    """Cut at the right places; ``select`` makes the losses that count of each chunk's losses."""
    return lambda given, chunk: gradient(
        given,
        lambda t, h: h.detach() if t % chunk == 0 else h,
        lambda each: torch.stack(select(_chunks(each, chunk))).sum(),
    )


def _first_steps(given: Problem, count: int) -> Problem:
    return given._replace(inputs=given.inputs[:count], targets=given.targets[:count])


MISTAKES = (
    Mistake(
        "This is the full gradient: nothing is cut at the boundaries of the chunks.",
        lambda given, chunk: gradient(given),
    ),
    Mistake(
        "The state is reset to zero at each boundary: only the gradient stops there; the state "
        "goes on, detached, so that the network remembers.",
        lambda given, chunk: gradient(
            given, lambda t, h: torch.zeros_like(h) if t > 0 and t % chunk == 0 else h
        ),
    ),
    Mistake(
        "Each chunk starts from the initial state again: it has to start from the last state of "
        "the chunk before, detached.",
        lambda given, chunk: gradient(
            given, lambda t, h: given.initial_state if t % chunk == 0 else h
        ),
    ),
    Mistake(
        "The gradient is cut at every step: inside a chunk it has to flow.",
        lambda given, chunk: gradient(given, lambda t, h: h.detach()),
    ),
    _cut(-1),
    _cut(1),
    Mistake(
        "The gradient is of the last chunk's loss only: is it overwritten in the loop (or set to "
        "zero between the chunks), where it should be accumulated?",
        _truncated(lambda chunks: chunks[-1]),
    ),
    Mistake(
        "The gradient is of the first chunk's loss only: does the function return inside the loop?",
        lambda given, chunk: _right(_first_steps(given, chunk), chunk),
    ),
    Mistake(
        "The steps after the last full chunk are left out: when `chunk` does not divide T, the "
        "last chunk is shorter, and counts too.",
        lambda given, chunk: _right(_first_steps(given, len(given.inputs) // chunk * chunk), chunk),
    ),
    Mistake(
        "Only the last step of each chunk has its loss counted: every step has one.",
        _truncated(lambda chunks: [part[-1] for part in chunks]),
    ),
    Mistake(
        "The loss is a mean inside each chunk, so a step in the short last chunk weighs more: "
        "use sums.",
        _truncated(lambda chunks: [torch.stack(part).mean() for part in chunks]),
    ),
    Mistake(
        "Each loss reaches back `chunk` steps from where it stands (a sliding window). That is a "
        "truncation too, at many times the cost; here the cuts are fixed, one after each `chunk` "
        "steps.",
        _sliding,
    ),
    Mistake("This is `W` itself: its gradient is in its `grad`.", lambda given, chunk: given.W),
    Mistake(
        "The tanh is missing: h_t = tanh(U x_t + W h_{t-1}), as in 02.3.",
        lambda given, chunk: gradient(
            given, lambda t, h: h.detach() if t % chunk == 0 else h, nonlinear=lambda a: a
        ),
    ),
    Mistake(
        "`chunk` is the number of steps in a chunk, not of chunks: here the sequence is cut into "
        "`chunk` parts.",
        lambda given, chunk: _right(given, ceil(len(given.inputs) / chunk)),
    ),
    Mistake(
        "The chunks have T // `chunk` steps, so `chunk` has become the number of chunks: it is the "
        "number of steps in each.",
        lambda given, chunk: _right(given, len(given.inputs) // chunk),
    ),
)
