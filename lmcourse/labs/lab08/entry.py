"""08.1 One entry more: a weighted mean, brought up to date when an entry is added."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong


def judge(answer: Answer) -> str:
    for seed, (entries, width) in enumerate(((4, 3), (1, 5), (7, 2))):
        probe = _probe(seed, entries, width)
        value = tensor(answer(*probe), (width,))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            if multiple(value, _right(*probe)) is not None:
                raise Wrong(
                    "The answer points the right way and has the wrong size: do the two shares sum "
                    "to 1?"
                )
            raise Wrong(
                "Not the mean over all entries. What would the sum of φ_j v_j over the old entries "
                "be? Undo the old division, add the new entry, divide again."
            )
    return (
        "The old answer and the sum of the similarities were all that you needed: to keep a "
        "weighted mean, no entry has to be kept."
    )


def _probe(seed: int, entries: int, width: int) -> tuple[Tensor, float, float, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    phi = 0.2 + 3 * torch.rand(entries + 1, generator=generator, dtype=torch.float64)
    values = torch.randn(entries + 1, width, generator=generator, dtype=torch.float64)
    old = phi[:-1] @ values[:-1] / phi[:-1].sum()
    return old, phi[:-1].sum().item(), phi[-1].item(), values[-1]


def _right(o: Tensor, total: float, phi: float, v: Tensor) -> Tensor:
    return (total * o + phi * v) / (total + phi)


# Each takes (answer, total, similarity, value).
MISTAKES = (
    Mistake(
        "In yours the new entry is added on top of the old answer, which keeps its share of 1: the "
        "shares of old and new must sum to 1.",
        lambda o, total, phi, v: o + phi * v,
    ),
    Mistake(
        "The new entry's share is right, and the old answer still counts whole: it must give up as "
        "much.",
        lambda o, total, phi, v: o + phi / (total + phi) * v,
    ),
    Mistake(
        "In yours the old answer counts like one entry of similarity 1. It stands for all old "
        "entries: its weight is their total.",
        lambda o, total, phi, v: (o + phi * v) / (1 + phi),
    ),
    Mistake(
        "In yours old and new count half each: weigh them by their similarities.",
        lambda o, total, phi, v: (o + v) / 2,
    ),
    Mistake(
        "This is the sum of all φ_j v_j: it is not divided yet.",
        lambda o, total, phi, v: total * o + phi * v,
    ),
    Mistake(
        "The sum is divided by the old total, in which the new entry's similarity is missing.",
        lambda o, total, phi, v: (total * o + phi * v) / total,
    ),
    Mistake(
        "In yours the new entry gets φ / total, a share of the *old* total: its own φ belongs to "
        "the new one.",
        lambda o, total, phi, v: (1 - phi / total) * o + phi / total * v,
    ),
    Mistake(
        "The two weights have changed places: the old answer has the weight `total`, the new value "
        "`similarity`.",
        lambda o, total, phi, v: (phi * o + total * v) / (total + phi),
    ),
    Mistake(
        "In yours the new entry counts 1, whatever its similarity.",
        lambda o, total, phi, v: (total * o + v) / (total + 1),
    ),
    Mistake(
        "The similarity is φ itself, and positive already: no exponential is needed.",
        lambda o, total, phi, v: _right(o, total, float(torch.tensor(phi).double().exp()), v),
    ),
)
