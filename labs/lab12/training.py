"""A larger batch, accumulated gradients, a comparison of training runs."""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import read


def larger_batch(
    factor: float, lr: float, beta2: float, steps: int, warmup: int, power: float
) -> tuple[float, float, int, int]:
    rate = lr * factor**power
    memory = max(0.0, 1 - factor * (1 - beta2))
    return rate, memory, round(steps / factor), round(warmup / factor)


BATCH: Task = Task(
    larger_batch,
    examples=[
        *((8.0, 1e-4, 0.999, 10**6, 10**4, 0.5), (32.0, 2e-4, 0.98, 999_990, 9_980, 1.0)),
        *((0.25, 3e-4, 0.98, 31_250, 1_501, 0.5), (3.0, 1e-3, 0.99, 40_000, 400, 0.75)),
        (3.0, 1e-4, 0.99, 1_000, 0, 0.5),  # no warm-up phase
    ],
    edge_cases={"where β2 would be negative": (200.0, 1e-4, 0.99, 100_000, 4_000, 0.5)},
    slips="""
The learning rate is not multiplied by the factor to the power `power`, or it is divided.
    factor**power -> factor || 1 || factor**0.5 || factor * power || power || factor**-power
β2 is unchanged, so Adam averages the squared gradients over more texts than before.
    max(0.0, 1 - factor * (1 - beta2)) -> beta2
β2 is multiplied, divided, raised to a power, or changed by the rule for the learning rate. What
changes by the factor is the number of averaged steps, 1/(1 − β2): fewer of the larger steps.
    max(0.0, 1 - factor * (1 - beta2)) -> beta2 * factor || beta2 / factor || beta2**factor ||
        1 - (1 - beta2) / factor || max(0.0, 1 - factor**power * (1 - beta2))
The number of steps is wrong. At equal epochs, larger steps are fewer; `power` has no effect.
    round(steps / factor) -> round(steps * factor) || steps || round(steps / factor**power)
The warm-up phase should read as many texts as before, as the whole training does.
    round(warmup / factor) -> warmup || round(warmup * factor) || round(warmup / factor**power)
Numbers of steps are rounded down or up, or not at all. Round to the nearest integer.
    round(steps / factor), round(warmup / factor) -> int(steps / factor), int(warmup / factor) ||
        -int(-steps // factor), -int(-warmup // factor) || steps / factor, warmup / factor
β2 becomes negative. If the average would be shorter than one step, let β2 be 0.
    max(0.0, 1 - factor * (1 - beta2)) -> 1 - factor * (1 - beta2)
""",
    names=("The learning rate", "β2", "The steps", "The warm-up steps"),
    cause=lambda *given: one_value(BATCH, *given),
    tolerance=1e-6,
    note="RoBERTa lowered β2 from 0.999 to 0.98: an average over a twentieth of the steps.",
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


class TokenLosses:
    """Losses of a small model; records the largest number of tokens in its graphs in memory."""

    def __init__(self) -> None:
        self.held, self.most = weakref.WeakKeyDictionary[Any, int](), 0

    def __call__(self, w: Tensor, batch: Tensor) -> Tensor:
        z = batch[:, :-1] @ w
        losses = F.softplus(z) - batch[:, -1] * z
        self.most = max(self.most, sum(self.held.values()) + len(batch))
        if losses.grad_fn is not None:
            g = type("Graph", (), {})()  # lives as long as the graph of autograd
            self.held[g] = n = len(batch)
            kept = torch._C._autograd._get_current_graph_task_keep_graph  # retain_graph=True
            losses.grad_fn.register_hook(lambda *_, g=g: self.held.update({g: kept() * n}))
        return losses


def _process(seed: int, width: int, rank: int, *sizes: tuple[int, ...]) -> Example:
    """Micro-batches of these sizes for each process; the arguments of the process ``rank``."""
    own = [2 * normal(size, width + 1, seed=(seed, i)) + i for i, size in enumerate(sizes[rank])]
    for batch in own:
        batch[:, -1] = (batch[:, -1] > 1).double()
    return normal(width, seed=seed), own, torch.tensor([*map(sum, sizes)]), TokenLosses()


ACCUMULATE = Task(
    accumulated,
    examples=[
        *(_process(0, 3, 0, (4, 7, 2), (9, 3, 6)), _process(2, 3, 1, (2, 12), (6, 1), (7, 7, 7))),
        _process(1, 4, 2, (8, 8), (5, 1, 6), (9, 2), (1, 3)),
    ],
    edge_cases={
        "where a micro-batch has no predicted token": _process(3, 3, 0, (0, 5, 0, 3), (2, 2)),
        "where this process has no predicted token": _process(4, 3, 1, (5, 3), (0, 0)),
        "where another process has no predicted token": _process(6, 3, 0, (5, 3), (0, 0)),
        "where no process has a predicted token": _process(5, 2, 0, (0,), (0, 0)),
    },
    slips="""
These are means of micro-batches. Add the *sums* of their losses: then one number divides them all.
    .sum() * len(counts) / counts.sum().clamp(min=1) -> .mean() / len(own) || .mean() ||
        .mean() * len(counts) / len(own) || .mean() / len(counts) || .mean() * len(counts)
This is the mean over this process's tokens. The average over processes is then a mean of means.
    * len(counts) / counts.sum().clamp(min=1) -> / max(1, sum(map(len, own))) ||
        * len(counts) / max(1, sum(map(len, own)))
The average over processes divides by their number once more. Undo that with the right factor.
    * len(counts) / counts -> / counts || / len(counts) / counts
The mean does not depend on the number of micro-batches. Only numbers of tokens and processes count.
    * len(counts) / counts -> * len(own) / counts || * len(counts) / len(own) / counts
The losses are summed, and not divided by the number of tokens of all processes.
    * len(counts) / counts.sum().clamp(min=1) -> * 1 || * len(counts) || / len(counts) || / len(own)
Only one micro-batch has an effect. Its gradient replaces the others, instead of being added.
    gradient += -> gradient =
    total += -> total += || total =
    or
    in own: -> in own[:1]: || in own[-1:]:
The gradient is right, but the loss is not a part of the same mean, or that of the last micro-batch.
    += loss.detach() -> = loss || += loss / len(own) || += loss / len(counts) ||
        += loss * counts.float().mean() || += loss * counts.float().mean() / sum(map(len, own))
All micro-batches are in memory at once. Compute each gradient before you go on to the next one.
    in own: -> in [torch.cat(own)]:
    or
    gradient, total = -> graphs = [token_losses(w, each) for each in own]; gradient, total =
    token_losses(w, batch).sum() -> graphs.pop(0).sum()
The mean over an empty micro-batch is 0/0. A sum over nothing is 0.
    .sum() * len(counts) -> .mean() * len(batch) * len(counts)
If no token is predicted anywhere, there is a division by 0. Both results are then 0.
    counts.sum().clamp(min=1) -> counts.sum()
""",
    result=lambda found, w, own, _, losses: (
        *read(found, (w, w[0])).parts,
        max(0, losses.most - max(map(len, own))),
    ),
    names=("The gradient", "The loss", "Tokens in memory beyond the largest micro-batch"),
    note="The average over all processes is exact, however the tokens are distributed.",
)


def compare(a: Tensor, b: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, int]:
    differences = b - a
    mean, runs, texts = differences.mean(), differences.mean(1), differences.mean(0)
    over_runs = runs.std() / len(runs) ** 0.5
    over_texts = texts.std() / len(texts) ** 0.5
    verdict = int(mean.sign()) if mean.abs() > t * over_runs else 0
    return mean, over_runs, over_texts, verdict


def _losses(runs: int, texts: int, t: float, ratio: float) -> Example:
    """Losses of two settings whose difference is so many errors over runs."""
    text, run = normal(texts, seed="text").exp(), normal(runs, 1, seed="run")
    own = 0.2 * normal(2, runs, 1, seed=ratio) + 0.4 * normal(2, runs, texts, seed=texts)
    a, b = 3 + text + run + own
    a += 1.5 * text.sin()
    d = (b - a).mean(1)
    return a, b - d.mean() + ratio * d.std() / runs**0.5, t


COMPARE: Task = Task(
    compare,
    examples=[
        *(_losses(5, 90, 2.776, -25.0), _losses(4, 300, 3.182, 3.1), _losses(6, 25, 2.571, 2.8)),
        *(_losses(3, 7, 4.303, 5.0), _losses(5, 40, 2.776, 30.0), _losses(5, 40, 2.776, -8.0)),
    ],
    edge_cases={"where both settings are the same": (normal(3, 9, seed=1),) * 2 + (4.303,)},
    slips="""
The sign is reversed: b − a is negative if the variant b has the smaller loss.
    differences = b - a -> differences = a - b
The runs are paired: they have the same seeds. Use the standard deviation of their differences.
    runs.std() / len(runs) ** 0.5 -> ((a.mean(1).var() + b.mean(1).var()) / len(runs)) ** 0.5
    texts.std() / len(texts) ** 0.5 -> ((a.mean(0).var() + b.mean(0).var()) / len(texts)) ** 0.5
Each text of each run counts as a run of its own. First average over the texts of each run.
    runs.std() / len(runs) ** 0.5 -> differences.std() / differences.numel() ** 0.5 ||
        differences.std(1).mean() / len(texts) ** 0.5
    texts.std() / len(texts) ** 0.5 -> differences.std() / differences.numel() ** 0.5
The error over texts is from one run, or all pairs of run and text. First average over the runs.
    texts.std() / len -> differences.std() / len || differences.std(1).mean() / len
The two errors are exchanged. A mean over the texts, `x.mean(1)`, leaves one number for each run.
    return mean, over_runs, over_texts, verdict -> return mean, over_texts, over_runs, verdict
    or
    differences.mean(1), differences.mean(0) -> differences.mean(0), differences.mean(1)
An error is not divided by its own √n: n is the number of runs for one, of texts for the other.
    runs.std() / len(runs) ** 0.5 -> runs.std() / len(runs) ** 0.5 || runs.std() || runs.var()
        || runs.std() / len(runs) || runs.std() / len(texts) ** 0.5 || runs.var() / len(runs)
    texts.std() / len(texts) ** 0.5 -> texts.std() || texts.std() / len(texts) ||
        texts.std() / len(runs) ** 0.5 || texts.var() / len(texts)
The standard deviation divides by n. With few runs this matters: divide by n − 1.
    runs.std() -> runs.std(correction=0)
    texts.std() -> texts.std(correction=0) || texts.std()
An error is multiplied by `t`, which is for the verdict. Return the standard error itself.
    over_runs, over_texts, v -> t * over_runs, over_texts, v || t * over_runs, t * over_texts, v
The verdict does not use `t`. With few runs, two standard errors are not enough, nor equal signs.
    t * over_runs -> over_runs || 3 * over_runs || (0 if runs.sign().unique().numel() == 1 else 1e9)
The verdict should use the error over runs of the *difference*, and no other error or deviation.
    t * over_runs -> t * over_texts || 2 * over_texts || t * (over_runs**2 + over_texts**2) ** 0.5
        || t * (a.mean(1).std() + b.mean(1).std()) / len(runs) ** 0.5
The verdict has a wrong sign, or is never −1, or never 1: −1 means that b has the smaller loss.
    int(mean.sign()) -> 1 || -int(mean.sign()) || -int(mean < 0) || int(mean > 0)
""",
    names=("The difference", "The error over runs", "The error over texts", "The verdict"),
    cause=lambda *given: one_value(COMPARE, *given),
    note="Now train. More texts make the error over texts smaller, but not the error over runs.",
)
