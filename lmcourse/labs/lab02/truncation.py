"""02.4 Truncated backpropagation: the state crosses a boundary, the gradient does not."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab02.elman import Problem, gradient, problem
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

# time, chunk: a shorter last chunk, then chunks that fit, then one longer than the sequence.
_SIZES = ((11, 3), (8, 4), (5, 7))


def judge(answer: Answer) -> str:
    for seed, (time, chunk) in enumerate(_SIZES):
        given = problem(seed, time)
        value = tensor(_call(answer, given, chunk), given.W.shape)
        wanted = _right(given, chunk)
        if not same(value, wanted, 1e-6):
            explain(value, MISTAKES, given, chunk, tolerance=1e-6)
            factor = multiple(value, wanted, 1e-6)
            if factor is not None:
                raise Wrong(
                    f"The direction is right, but everything is multiplied by {factor:.4g}: add up "
                    "the losses of all steps, as they are, without a mean."
                )
            raise Wrong(_where(time, chunk))
    return (
        "Time and memory for the graph now depend on the chunk, not on the text; the price is the "
        "horizon."
    )


def _call(answer: Answer, given: Problem, chunk: int) -> object:
    try:
        return answer(*given, chunk)
    except Wrong as wrong:
        if "does not require grad" in str(wrong):
            raise Wrong(
                "PyTorch finds nothing to differentiate: the `W` that you compute with has to be "
                "told to collect gradients (`requires_grad_()`), before the first step."
            ) from None
        if "out of bounds" in str(wrong):
            raise Wrong(
                f"Your loop runs past the end of the sequence: with {len(given.inputs)} steps in "
                f"chunks of {chunk}, the last chunk is shorter."
            ) from None
        if "second time" in str(wrong):
            raise Wrong(
                "PyTorch is asked to go back through the chunk before, whose graph is gone after "
                "its `backward()`: the state that you carry over still hangs on that graph. Cut "
                "it off there."
            ) from None
        raise


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


def _chunk_means(each: list[Tensor], chunk: int) -> Tensor:
    return torch.stack([torch.stack(part).mean() for part in _chunks(each, chunk)]).sum()


def _chunks(each: list[Tensor], chunk: int) -> list[list[Tensor]]:
    return [each[start : start + chunk] for start in range(0, len(each), chunk)]


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
        lambda given, chunk: gradient(
            given,
            lambda t, h: h.detach() if t % chunk == 0 else h,
            lambda each: torch.stack(_chunks(each, chunk)[-1]).sum(),
        ),
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
        lambda given, chunk: gradient(
            given,
            lambda t, h: h.detach() if t % chunk == 0 else h,
            lambda each: torch.stack([part[-1] for part in _chunks(each, chunk)]).sum(),
        ),
    ),
    Mistake(
        "The loss is a mean inside each chunk, so a step in the short last chunk weighs more: "
        "use sums.",
        lambda given, chunk: gradient(
            given,
            lambda t, h: h.detach() if t % chunk == 0 else h,
            lambda each: _chunk_means(each, chunk),
        ),
    ),
    Mistake(
        "Each loss reaches back `chunk` steps from where it stands (a sliding window). That is a "
        "truncation too, at many times the cost; here the cuts are fixed, one after each `chunk` "
        "steps.",
        _sliding,
    ),
)
