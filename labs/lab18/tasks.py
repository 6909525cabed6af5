"""Weights, and their entropy."""

import torch
from torch import Tensor

from lmcourse.labs.kit import Task, normal


def weights(z: Tensor) -> Tensor:
    shifted = (z - z.max()).exp()
    return shifted / shifted.sum()


WEIGHTS = Task(
    weights,
    examples=[(torch.tensor([3000.0, 2999.0, 0.0]),), (normal(3, seed=1),), (normal(8, seed=2) - 300,)],
    slips="""
The exponential overflows. Subtract the largest score first.
    (z - z.max()).exp() -> z.exp() || (z - z.min()).exp() || (z - z.mean()).exp()
The weights do not sum to 1. Divide by the sum of the exponentials.
    shifted / shifted.sum() -> shifted || shifted / shifted.mean()
The scores are divided by their sum. The softmax needs their exponentials.
    (z - z.max()).exp() -> z
The smallest score has the largest weight.
    (z - z.max()) -> (z.min() - z)
The weights are powers of 2, not of e.
    .exp() -> .exp2()
""",
    note="Subtracting a constant from all scores does not change the softmax.",
)


def entropy(p: Tensor) -> Tensor:
    return -torch.xlogy(p, p).sum()


ENTROPY = Task(
    entropy,
    examples=[
        (torch.tensor([0.5, 0.5]),),
        (torch.tensor([1.0, 0.0]),),
        (weights(normal(6, seed=3)),),
    ],
    slips="""
The sign is missing: a logarithm of a probability is not positive.
    -torch.xlogy -> torch.xlogy
0 log 0 gives NaN. Its limit is 0.
    torch.xlogy(p, p) -> (p * p.log())
The logarithms are not weighted by the probabilities.
    torch.xlogy(p, p) -> p.clamp(min=1e-30).log()
The result is a mean over classes. The entropy is a sum.
    .sum() -> .mean()
The unit is bits. The exercise asks for nats.
    -torch.xlogy(p, p).sum() -> -torch.xlogy(p, p).sum() / 0.6931471805599453
""",
    note="The entropy is 0 if one class is certain, and log n if all n are equally probable.",
)
