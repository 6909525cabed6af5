"""12.1 a larger batch, 12.4 accumulated gradients, 12.6 a comparison of training runs."""

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result
from lmcourse.labs.verdict import Wrong


def larger_batch(
    factor: float, lr: float, beta2: float, steps: int, warmup: int, power: float
) -> tuple[float, float, int, int]:
    rate = lr * factor**power
    memory = max(0.0, 1 - factor * (1 - beta2))
    return rate, memory, round(steps / factor), round(warmup / factor)


BATCH = Task(
    larger_batch,
    examples=[
        (8.0, 1e-4, 0.999, 1_000_000, 10_000, 0.5),
        (32.0, 2e-4, 0.998, 999_990, 9_980, 1.0),
        (0.25, 3e-4, 0.98, 31_250, 1_501, 0.5),
        (3.0, 1e-3, 0.99, 40_001, 400, 0.75),
    ],
    edge_cases={"where β2 would be negative": (200.0, 1e-4, 0.99, 100_000, 4_000, 0.5)},
    slips="""
The learning rate is not multiplied by the factor to the power: `power` is 1 for the linear rule,
and 1/2 for the square root.
    factor**power -> factor || 1 || factor**0.5 || factor * power || power
The learning rate is divided. A larger batch has a less noisy gradient, so its step may be longer.
    lr * factor**power -> lr / factor**power
β2 is unchanged, so Adam averages the squared gradients over more texts than before.
    max(0.0, 1 - factor * (1 - beta2)) -> beta2
β2 is multiplied or divided by the factor. What changes by the factor is the number of averaged
steps, 1/(1 − β2).
    max(0.0, 1 - factor * (1 - beta2)) -> beta2 * factor || beta2 / factor ||
        min(1.0, max(0.0, beta2 * factor)) || max(0.0, beta2 / factor)
The average of β2 becomes longer in steps. Fewer of the larger steps read the same number of texts.
    1 - factor * (1 - beta2) -> 1 - (1 - beta2) / factor
β2 is raised to a power. This keeps the weight of what is older than some number of texts, and is
close; but the exercise's measure is the number of averaged steps, 1/(1 − β2).
    max(0.0, 1 - factor * (1 - beta2)) -> beta2**factor
β2 is scaled by the power of the learning rate. The number of averaged texts should stay equal,
whatever the rule for the learning rate.
    factor * (1 - beta2) -> factor**power * (1 - beta2)
The number of steps is multiplied, or unchanged. At equal epochs, larger steps are fewer steps.
    round(steps / factor) -> round(steps * factor) || steps
The warm-up has as many steps as before, so it reads more texts, and takes a larger share of the
training. It should read as many texts as before.
    round(warmup / factor) -> warmup || round(warmup * factor)
Numbers of steps are rounded down, or up. Round to the nearest integer.
    round(steps / factor), round(warmup / factor) -> int(steps / factor), int(warmup / factor) ||
        -int(-steps // factor), -int(-warmup // factor) || steps / factor, warmup / factor
    or
    round(steps / factor) -> int(steps / factor)
    or
    round(warmup / factor) -> int(warmup / factor)
β2 becomes negative. If the average would be shorter than one step, let β2 be 0.
    max(0.0, 1 - factor * (1 - beta2)) -> 1 - factor * (1 - beta2)
""",
    names=("The learning rate", "β2", "The steps", "The warm-up steps"),
    tolerance=1e-6,
    note="Everything that counts steps is a number of texts in disguise. RoBERTa changed β2 from "
    "0.999 to 0.98, an average that is twenty times shorter, together with its larger batches.",
)


def accumulated(
    w: Tensor, own: list[Tensor], counts: Tensor, token_losses: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    w = w.detach().clone().requires_grad_()
    gradient, total = torch.zeros_like(w), w.new_zeros(())
    for batch in own:
        loss = token_losses(w, batch).sum() * len(counts) / counts.sum().clamp(min=1)
        gradient += torch.autograd.grad(loss, w)[0]
        total += loss.detach()
    return gradient, total


class _Held:
    """A graph in memory; it lives as long as the graph."""


class TokenLosses:
    """Losses of a small model; records for how many tokens graphs were in memory at once."""

    def __init__(self) -> None:
        self.held, self.most = 0, 0

    def __deepcopy__(self, memo: Any) -> "TokenLosses":
        return TokenLosses()

    def __call__(self, w: Tensor, batch: Tensor) -> Tensor:
        """The loss of each token, [token]."""
        losses = F.softplus(batch[:, :-1] @ w) - batch[:, -1] * (batch[:, :-1] @ w)
        node = losses.grad_fn
        self.most = max(self.most, self.held + len(batch))
        if node is not None:
            self.held += len(batch)
            graph = _Held()
            free = weakref.finalize(graph, self._free, len(batch))  # called once: then, or before
            node.register_hook(lambda *_, graph=graph: free())
        return losses

    def _free(self, size: int) -> None:
        self.held -= size


def _process(seed: int, width: int, rank: int, *sizes: tuple[int, ...]) -> Example:
    """Micro-batches of these sizes for each process; the arguments of the process ``rank``."""
    own = []
    for number, size in enumerate(sizes[rank]):
        features = normal(size, width, seed=(seed, number)) + number
        answers = (normal(size, 1, seed=(seed, number, "answers")) > 0).double()
        own.append(torch.cat([features, answers], 1))
    counts = torch.tensor([sum(each) for each in sizes])
    return normal(width, seed=seed), own, counts, TokenLosses()


def _memory(returned: Any, w: Tensor, own: list[Tensor], counts: Tensor, losses: Any) -> Any:
    """What was returned, and the tokens in memory beyond those of the largest micro-batch."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise Wrong("Return two values, with a comma between them: the gradient and the loss.")
    return *returned, max(0, losses.most - max(map(len, own)))


def _scale(arguments: Example, value: Result, wanted: Result) -> str:
    excess = int(value.parts[2])
    if excess and all(map(partial(torch.allclose, rtol=1e-4), value.parts[:2], wanted.parts[:2])):
        return (
            f"The gradient is right, but the graphs of {excess} tokens more than those of the "
            "largest micro-batch are in memory at once. Accumulate to avoid exactly this: one "
            "backward pass for each micro-batch."
        )
    return ""


ACCUMULATE = Task(
    accumulated,
    examples=[
        _process(0, 3, 0, (4, 7, 2), (9, 3, 6)),
        _process(1, 4, 2, (8, 8), (5, 1, 6), (9, 2), (1, 3)),
        _process(2, 3, 1, (2, 12), (6, 1), (7, 7, 7)),
    ],
    edge_cases={
        "where a micro-batch has no predicted token": _process(3, 3, 0, (5, 0, 3), (2, 2)),
        "where this process has no predicted token": _process(4, 3, 1, (5, 3), (0, 0)),
        "where no process has a predicted token": _process(5, 2, 0, (0,), (0, 0)),
    },
    slips="""
This is the mean of the micro-batches' means. One with few tokens counts as much as one with many.
    .sum() * len(counts) / counts.sum().clamp(min=1) -> .mean() / len(own) ||
        .mean() * len(counts) / len(own)
The means of the micro-batches are added. Accumulation adds *sums*; what divides them is the same
number for all.
    .sum() * len(counts) / counts.sum().clamp(min=1) -> .mean() || .mean() / len(counts) ||
        .mean() * len(counts)
This is the mean over the tokens of this process. The average over processes is then a mean of
means: a process with few tokens counts as much as one with many.
    * len(counts) / counts.sum().clamp(min=1) -> / max(1, sum(map(len, own))) ||
        * len(counts) / max(1, sum(map(len, own)))
The average over processes divides by their number once more, so the result is too small. Correct
for it here.
    * len(counts) / counts -> / counts
The number of processes is on the wrong side, or that of micro-batches is used.
    * len(counts) / counts.sum().clamp(min=1) -> / len(counts) / counts.sum().clamp(min=1) ||
        * len(own) / counts.sum().clamp(min=1) || / len(own) / counts.sum().clamp(min=1) ||
        * len(counts) / len(own) / counts.sum().clamp(min=1)
The losses are summed, and not divided by the number of tokens of all processes.
    * len(counts) / counts.sum().clamp(min=1) -> * 1 || * len(counts) || / len(counts) || / len(own)
Only one micro-batch has an effect. Its gradient replaces the others, instead of being added.
    gradient += -> gradient =
    total += -> total += || total =
    or
    in own: -> in own[:1]: || in own[-1:]:
The loss is that of the last micro-batch, or counts differently from the gradient. Both should be
parts of the same mean.
    total += loss.detach() -> total = loss.detach() ||
        total += loss.detach() / len(own) || total += token_losses(w, batch).sum().detach() ||
        total += token_losses(w, batch).mean().detach() ||
        total += token_losses(w, batch).mean().detach() / len(own) ||
        total += loss.detach() / len(counts)
The result has the wrong sign. It is the gradient itself; the optimizer subtracts it.
    gradient += -> gradient -=
The gradient is right, but all micro-batches are in memory at once, which accumulation should avoid.
Compute the gradient of each micro-batch before you go on to the next one.
    in own: -> in [torch.cat(own)]:
    or
    gradient, total = torch.zeros_like(w), w.new_zeros(()) ->
        gradient, total = torch.zeros_like(w), w.new_zeros(());
        graphs = [token_losses(w, each) for each in own]
    token_losses(w, batch).sum() -> graphs.pop(0).sum()
The mean over an empty micro-batch is 0/0. A sum over nothing is 0.
    .sum() * len(counts) -> .mean() * len(batch) * len(counts)
If no token is predicted anywhere, there is a division by 0. The gradient should be 0.
    counts.sum().clamp(min=1) -> counts.sum()
""",
    result=_memory,
    names=("The gradient", "The loss", "Tokens in memory beyond the largest micro-batch"),
    cause=_scale,
    note="The average of these gradients over all processes is the gradient of the whole batch, "
    "however its tokens are distributed.",
)


def compare(a: Tensor, b: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, int]:
    differences = b - a
    runs, texts = differences.mean(1), differences.mean(0)
    mean = differences.mean()
    over_runs = runs.std() / len(runs) ** 0.5
    over_texts = texts.std() / len(texts) ** 0.5
    verdict = int(mean.sign()) if mean.abs() > t * over_runs else 0
    return mean, over_runs, over_texts, verdict


def _losses(runs: int, texts: int, t: float, ratio: float) -> Example:
    """Losses of two settings whose difference is so many errors over runs."""
    text, run = normal(texts, seed="text").exp(), 0.5 * normal(runs, 1, seed="run")
    own = 0.2 * normal(2, runs, 1, seed=ratio) + 0.4 * normal(2, runs, texts, seed=texts)
    a, b = 3 + text + run + own
    a += 1.5 * text.sin()
    d = (b - a).mean(1)
    return a, b - d.mean() + ratio * d.std() / runs**0.5, t


COMPARE = Task(
    compare,
    examples=[
        *(_losses(5, 90, 2.776, -6.0), _losses(4, 300, 3.182, 2.5)),
        *(_losses(6, 25, 2.571, -1.5), _losses(3, 7, 4.303, 5.0), _losses(5, 40, 2.776, 0.4)),
    ],
    slips="""
The sign is reversed: b − a is negative if the variant b has the smaller loss.
    differences = b - a -> differences = a - b
The error over runs ignores that the runs are paired. Two runs with the same seed have a part of
their deviation in common, which cancels in the difference.
    runs.std() / len(runs) ** 0.5 ->
        ((a.mean(1).var() + b.mean(1).var()) / len(runs)) ** 0.5 ||
        ((a.mean(1).var(correction=0) + b.mean(1).var(correction=0)) / len(runs)) ** 0.5
Each text of each run counts as a run of its own, so the error is far too small. The losses of one
run have a common cause: first average over the texts of each run.
    runs.std() / len(runs) ** 0.5 -> differences.std() / differences.numel() ** 0.5 ||
        differences.std() / len(runs) ** 0.5 || differences.std(0).mean() / len(runs) ** 0.5
    or
    runs.std() / len(runs) ** 0.5 -> differences.std() / differences.numel() ** 0.5
    texts.std() / len(texts) ** 0.5 -> differences.std() / differences.numel() ** 0.5
The error over texts is computed from all pairs of a run and a text, or from one run. The runs have
the same texts: first average over the runs.
    texts.std() / len(texts) ** 0.5 -> differences.std() / differences.numel() ** 0.5 ||
        differences[0].std() / len(texts) ** 0.5 ||
        differences.std(1).mean() / len(texts) ** 0.5
The two errors are exchanged. A mean over the texts, `x.mean(1)`, leaves one number for each run.
    return mean, over_runs, over_texts, verdict -> return mean, over_texts, over_runs, verdict
    or
    differences.mean(1), differences.mean(0) -> differences.mean(0), differences.mean(1)
An error is not divided by the square root of the number of units. The standard error of a mean is
s / √n.
    runs.std() / len(runs) ** 0.5 -> runs.std() || runs.std() / len(runs) || runs.var() / len(runs)
    or
    texts.std() / len(texts) ** 0.5 -> texts.std() || texts.std() / len(texts)
    or
    runs.std() / len(runs) ** 0.5 -> runs.std() || runs.std() / len(runs) || runs.var() / len(runs)
    texts.std() / len(texts) ** 0.5 -> texts.std() || texts.std() / len(texts) ||
        texts.var() / len(texts)
The standard deviation divides by n. With few runs this matters: divide by n − 1.
    runs.std() -> runs.std(correction=0)
    texts.std() -> texts.std(correction=0) || texts.std()
The verdict does not use `t`: with few runs, two standard errors are not enough.
    mean.abs() > t * over_runs -> mean.abs() > 1.96 * over_runs || mean.abs() > 2 * over_runs ||
        mean.abs() > over_runs || mean.abs() > 0 || mean.abs() > 1e-3
The verdict uses the error over texts. It shows what other texts would change, not what another
training run would.
    t * over_runs -> t * over_texts || 2 * over_texts || 1.96 * over_texts
The verdict compares the intervals of the two settings. Two intervals may overlap although the
paired difference is clear: use its interval.
    mean.abs() > t * over_runs ->
        mean.abs() > t * (a.mean(1).std() + b.mean(1).std()) / len(runs) ** 0.5
The verdict has no sign: −1 means that b has the smaller loss, 1 that it has the larger one.
    int(mean.sign()) -> 1
    or
    int(mean.sign()) -> -int(mean.sign())
""",
    names=("The difference", "The error over runs", "The error over texts", "The verdict"),
    note="Now train. An error over texts shrinks with every further text; the error over runs does "
    "not, and it decides whether a change of the recipe helps.",
)
