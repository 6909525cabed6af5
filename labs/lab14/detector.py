"""What the best discriminator can know about a generator."""

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown


def best_detector(p: Tensor, q: Tensor) -> Tensor:
    ratio = q / p
    return ratio * (1 - p) / ratio.sum(1, keepdim=True)


def _two(seed: int, batch: int, time: int) -> Example:
    p, q = torch.special.ndtr(normal(2, batch, time, seed=seed))
    return p.clamp(0.02, 0.98), q


def _same(seed: int, batch: int, time: int) -> Example:
    p, _ = _two(seed, batch, time)
    return p, p.clone()


def _some_zero() -> Example:
    p, q = _two(6, 3, 4)
    q[:, ::2] = 0
    return p, q


def _row(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip; else the first row that differs, with its arguments."""
    found = one_value(DETECTOR, arguments, value, wanted)
    ours, right = value.parts[0], wanted.parts[0]
    if found or ours.shape != right.shape:
        return found
    row = int((~torch.isclose(ours, right, rtol=1e-4)).any(1).nonzero()[0])
    p, q = (shown(each[row]) for each in arguments)
    return (
        f"For p = {p} and q = {q}, your probabilities are {shown(ours[row])}; expected: "
        f"{shown(right[row])}."
    )


DETECTOR: Task = Task(
    best_detector,
    examples=[_two(0, 3, 4), _two(1, 2, 6), _two(2, 4, 3), _two(3, 1, 5)],
    edge_cases={
        "if the generator is exact": _same(4, 2, 5),
        "for texts of one position": _two(5, 4, 1),
        "if the generator never gives a token": _some_zero(),
    },
    slips="""
This is the probability that the position was *masked*. If the sample is the original token, nothing
was replaced.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> ratio / ratio.sum(1, keepdim=True)
The ratio is inverted: a token is suspicious if the generator gives it often and the language
seldom.
    ratio = q / p -> ratio = p / q
q is not divided by p: the text without the position has the probability P(y) / p.
    ratio = q / p -> ratio = q
    or
    ratio = q / p -> ratio = q * p
    or
    ratio = q / p -> ratio = q * (1 - p)
The generator has no effect. What q gives often is replaced often.
    ratio = q / p -> ratio = torch.ones_like(p)
    or
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> 1 - p
    or
    ratio = q / p -> ratio = 1 / p
q is not divided by p, and the probabilities sum to 1; some guesses are correct.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> q * (1 - p) / (q * (1 - p)).sum(1,
        keepdim=True)
This is the rule for two equally likely sources. Here one position of the text was masked.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> q / (p + q) || p / (p + q) ||
        q / (p + q) * (1 - p)
The probabilities of each text sum to 1. That would be right if every text had a replaced token;
some guesses are correct.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> ratio * (1 - p) / (ratio * (1 - p)).sum(1,
        keepdim=True)
Each position is judged by itself, as if all were masked or as if masks were independent. Exactly
one position of a text is masked, so the evidence at one lowers the probability of the others.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> q * (1 - p) / (q + (p.shape[1] - 1) * p) ||
        ratio * (1 - p) / p.shape[1] || q * (1 - p) / (q * (1 - p) + p) ||
        ratio * (1 - p) / (ratio * (1 - p) + 1) || ratio * (1 - p) || q * (1 - p)
The ratios are divided by another number than their sum over the positions of their own text.
    ratio.sum(1, keepdim=True) -> ratio.sum(0, keepdim=True) || ratio.sum()
    or
    ratio.sum(1, keepdim=True) -> ratio.mean(1, keepdim=True) || ratio.amax(1, keepdim=True) ||
        ratio.norm(dim=1, keepdim=True) || (1 + ratio.sum(1, keepdim=True)) ||
        ratio.prod(1, keepdim=True)
    or
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> ratio.softmax(1) * (1 - p)
This is the probability of the original token, or that of a guess which was correct.
    return ratio * (1 - p) / ratio.sum(1, keepdim=True) -> return 1 - ratio * (1 - p) /
        ratio.sum(1, keepdim=True)
    or
    return ratio * (1 - p) / -> return ratio * p /
A guess is wrong with the probability 1 − p: p is that of the *original* being this token. The
generator has given it already.
    (1 - p) / -> (1 - q) /
    or
    (1 - p) / -> (1 - p * q) /
    or
    (1 - p) / -> (1 - p) * q /
    or
    (1 - p) / -> (1 - p) * (1 - q) /
These are logits, logarithms or decisions. Return probabilities.
    ratio * (1 - p) / ratio.sum(1, keepdim=True) -> torch.logit(ratio * (1 - p) / ratio.sum(1,
        keepdim=True)) || (ratio * (1 - p) / ratio.sum(1, keepdim=True)).log()
    or
    return ratio * (1 - p) / ratio.sum(1, keepdim=True) -> return (ratio * (1 - p) /
        ratio.sum(1, keepdim=True) > 0.5).double()
""",
    names=("The probabilities",),
    cause=_row,
    note="For an exact generator, q = p, this is (1 − p) / n: the best discriminator then states "
    "how improbable each token is.",
)
