"""08.5 The gradient, by hand: from the answer of one query back to its scores."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.guards import watched_autograd
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_SHAPES = ((4, 4), (6, 3), (3, 5))  # key, value_width


def judge(answer: Answer) -> str:
    for seed, (keys, width) in enumerate(_SHAPES):
        probe = _probe(seed, keys, width)
        value = tensor(answer(*probe), (keys,))
        wanted = _right(*probe)
        if not same(value, wanted):
            explain(value, MISTAKES, *probe)
            factor = multiple(value, wanted)
            if factor is not None:
                raise Wrong(
                    f"Every entry is {factor:.4g} times what it should be: is there a scale in it? "
                    "The gradient by the scores themselves is asked for."
                )
            if abs(float(value.sum())) > 1e-6 * float(value.abs().max()):
                raise Wrong(
                    "The entries do not sum to 0, and they must: adding one number to all scores "
                    "changes nothing. Does each score reach every weight, through the sum below "
                    "the fraction?"
                )
            raise Wrong(
                "It sums to 0, as it must, and yet differs. In two steps: dL/da_j from g and v_j, "
                "then through the softmax."
            )
    with watched_autograd() as seen:
        answer(*probe)
    if seen:
        raise Wrong(
            "The numbers are right, and autograd computed them. You know now what has to come out: "
            "now write it by hand, without `grad` or `backward()`."
        )
    return (
        "Its entries sum to 0: what some scores gain the others lose, since a number added to all "
        "of them changes nothing."
    )


def _probe(seed: int, keys: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(keys, generator=generator, dtype=torch.float64).softmax(-1)
    v = torch.randn(keys, width, generator=generator, dtype=torch.float64)
    return a, v, torch.randn(width, generator=generator, dtype=torch.float64)


def _right(a: Tensor, v: Tensor, g: Tensor) -> Tensor:
    da = v @ g
    return a * (da - a @ da)


# Each takes (a, V, g).
MISTAKES = (
    Mistake(
        "This is dL/da, the gradient by the weights: one step is left, through the softmax.",
        lambda a, v, g: v @ g,
    ),
    Mistake(
        "Only the direct part of the softmax's derivative is there, a_j dL/da_j: a score also "
        "lowers all other weights, through the sum below the fraction.",
        lambda a, v, g: a * (v @ g),
    ),
    Mistake(
        "This treats every weight as a sigmoid of its own, a (1 − a): the weights of a softmax "
        "depend on each other.",
        lambda a, v, g: a * (1 - a) * (v @ g),
    ),
    Mistake(
        "In yours the mean that is taken off is the plain one: weight it by a.",
        lambda a, v, g: a * (v @ g - (v @ g).mean()),
    ),
    Mistake(
        "In yours the factor a_j in front is missing: a key without weight learns nothing.",
        lambda a, v, g: v @ g - a @ (v @ g),
    ),
    Mistake(
        "In yours the sign is turned.",
        lambda a, v, g: -_right(a, v, g),
    ),
    Mistake(
        "In yours `a` stands before the first part alone: the second part, the mean, is multiplied "
        "by a_p as well.",
        lambda a, v, g: a * (v @ g) - a @ (v @ g),
    ),
    Mistake(
        "In yours the mean is added, and has to be taken off: see the sign of a_p in the softmax's "
        "derivative.",
        lambda a, v, g: a * (v @ g + a @ (v @ g)),
    ),
    Mistake(
        "The values are transposed: dL/da_j is the product of g with *row* j of V.",
        lambda a, v, g: a * (v.T @ g - a @ (v.T @ g)),
    ),
    Mistake(
        "In yours the sum of all dL/da is taken off: weight each by its a first.",
        lambda a, v, g: a * (v @ g - (v @ g).sum()),
    ),
    Mistake(
        "The part that is taken off lacks a sum: a_j² dL/da_j is the diagonal alone, and every "
        "other weight counts, too. Write the matrix diag(a) − a aᵀ out for two keys.",
        lambda a, v, g: a * (v @ g) - a**2 * (v @ g).sum(),
    ),
)
