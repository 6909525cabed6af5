"""Distillation once more, straight from the papers' equations: one place, one class at a time.

Nothing here is shared with the models but the names of the weights. What counts is a list of
places; every sum is a loop over numbers of their own, so that autograd gives exact gradients.
"""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

Places = Sequence[tuple[int, ...]]


def mean(terms: Iterable[Tensor]) -> Tensor:
    found = list(terms)
    return sum(found[1:], found[0]) / len(found) if found else torch.zeros(())


def shares(logits: Tensor, T: float) -> list[Tensor]:
    """exp(z_i / T) over the sum of all of them (Hinton et al. 2015, eq. 1)."""
    largest = max(float(z) for z in logits.detach())
    exponentials = [torch.exp((z - largest) / T) for z in logits]
    total = sum(exponentials[1:], exponentials[0])
    return [one / total for one in exponentials]


def soft_cross_entropy(student: Tensor, teacher: Tensor, T: float, places: Places) -> Tensor:
    """The mean over the places of −Σ_i t_i log s_i."""
    costs = []
    for place in places:
        t, s = shares(teacher[place], T), shares(student[place], T)
        for i in range(len(t)):
            costs.append(-t[i] * torch.log(s[i]))
    return sum(costs[1:], costs[0]) / len(places) if costs else torch.zeros(())


def distillation_loss(student: Tensor, teacher: Tensor, T: float, places: Places) -> Tensor:
    """T² times the mean over the places of Σ_i t_i log(t_i / s_i)."""
    costs = []
    for place in places:
        t, s = shares(teacher[place], T), shares(student[place], T)
        for i in range(len(t)):
            costs.append(t[i] * torch.log(t[i] / s[i]))
    return T * T * sum(costs[1:], costs[0]) / len(places) if costs else torch.zeros(())


def cosine_loss(student: Tensor, teacher: Tensor, places: Places) -> Tensor:
    """The mean over the places of 1 − s·t / (|s| |t|)."""
    costs = []
    for place in places:
        s, t = student[place], teacher[place]
        costs.append(1 - (s * t).sum() / torch.sqrt((s * s).sum() * (t * t).sum()))
    return mean(costs)


def label_loss(logits: Tensor, wanted: Mapping[tuple[int, ...], int]) -> Tensor:
    """The mean over the labelled places of −log of the label's share."""
    return mean(-torch.log(shares(logits[place], 1.0)[label]) for place, label in wanted.items())


def linear(w: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    return torch.stack(
        [(row * x).sum() + b for row, b in zip(w[f"{name}.weight"], w[f"{name}.bias"], strict=True)]
    )


def squared(student: Tensor, teacher: Tensor, matrix: Tensor, places: Places) -> Tensor:
    """MSE(S W, T) over the places, W given transposed (Jiao et al. 2020, eq. 8 and 9)."""
    errors = []
    for place in places:
        for i, row in enumerate(matrix):
            errors.append(((row * student[place]).sum() - teacher[place][i]) ** 2)
    return mean(errors)


def scores(w: Mapping[str, Tensor], hidden: Tensor, layer: int, heads: int) -> Tensor:
    """A layer's Q Kᵀ / √d of one sequence, (head, query, key), from what it read (eq. 1)."""
    at = next(name for name in w if name.endswith(f"encoder.layers.{layer - 1}.attention.key.bias"))
    at = at.removesuffix("key.bias")
    queries = [linear(w, f"{at}query", x) for x in hidden]
    keys = [linear(w, f"{at}key", x) for x in hidden]
    d = len(queries[0]) // heads
    return torch.stack(
        [
            torch.stack(
                [torch.stack([(q[part] * k[part]).sum() / d**0.5 for k in keys]) for q in queries]
            )
            for part in (slice(i * d, (i + 1) * d) for i in range(heads))
        ]
    )


def attention(
    student: Sequence[Tensor], teacher: Sequence[Tensor], seen: Sequence[Sequence[Sequence[bool]]]
) -> Tensor:
    """1/h Σ_i MSE(A_i, A_i) over the pairs that count (eq. 7).

    Args:
        student, teacher: the scores of each sequence, (head, query, key).
        seen: whether a pair counts, by sequence, query and key.
    """
    heads = len(student[0])
    by_head = []
    for i in range(heads):
        errors = []
        for row, (own, other) in enumerate(zip(student, teacher, strict=True)):
            for q in range(own.shape[1]):
                for k in range(own.shape[2]):
                    if seen[row][q][k]:
                        errors.append((own[i, q, k] - other[i, q, k]) ** 2)
        by_head.append(mean(errors))
    return sum(by_head[1:], by_head[0]) / heads
