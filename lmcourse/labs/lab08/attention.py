"""08.3 Attention: softmax(Q Kᵀ / √d) V."""

import math

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# query, key, width, value_width. All equal first: what confuses axes then runs, and can be told.
_SHAPES = ((3, 3, 3, 3), (2, 5, 4, 6), (4, 2, 8, 3))


def judge(answer: Answer) -> str:
    for seed, (queries, keys, width, value_width) in enumerate(_SHAPES):
        probe = _probe(seed, queries, keys, width, value_width)
        value = tensor(answer(*probe), (queries, value_width))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            raise Wrong(
                "The numbers differ from the equation's. Look at the parts: scores [query, key], "
                "divided by √d; a softmax over the keys; weights times values."
            )
    return "Every answer is a mean of the values: no entry is above the largest or below the least."


def _probe(seed: int, queries: int, keys: int, width: int, value_width: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((queries, width), (keys, width), (keys, value_width))
    return tuple(1.5 * torch.randn(shape, generator=generator) for shape in shapes)


def _right(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v


# Each takes (Q, K, V).
MISTAKES = (
    Mistake(
        "The scale is missing: divide the scores by √d.",
        lambda q, k, v: (q @ k.T).softmax(-1) @ v,
    ),
    Mistake(
        "The scores are divided by d; divide by its square root.",
        lambda q, k, v: (q @ k.T / q.shape[-1]).softmax(-1) @ v,
    ),
    Mistake(
        "The scores are multiplied by √d; divide.",
        lambda q, k, v: (q @ k.T * math.sqrt(q.shape[-1])).softmax(-1) @ v,
    ),
    Mistake(
        "The scale comes after the softmax, where it makes the weights sum to 1/√d: it belongs to "
        "the scores, inside.",
        lambda q, k, v: (q @ k.T).softmax(-1) / math.sqrt(q.shape[-1]) @ v,
    ),
    Mistake(
        "The scale is √(number of keys); d is the width of a query.",
        lambda q, k, v: (q @ k.T / math.sqrt(len(k))).softmax(-1) @ v,
    ),
    Mistake(
        "The scale is √(number of queries); d is the width of a query.",
        lambda q, k, v: (q @ k.T / math.sqrt(len(q))).softmax(-1) @ v,
    ),
    Mistake(
        "The scale is √(width of the values); d is the width of queries and keys.",
        lambda q, k, v: (q @ k.T / math.sqrt(v.shape[-1])).softmax(-1) @ v,
    ),
    Mistake(
        "The softmax runs over the queries (the first axis): each query's weights, a row, should "
        "sum to 1.",
        lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(0) @ v,
    ),
    Mistake(
        "The softmax is missing: the scores themselves weight the values.",
        lambda q, k, v: q @ k.T / math.sqrt(q.shape[-1]) @ v,
    ),
    Mistake(
        "V is inside the softmax: the weights are a softmax of the scores alone, and V comes after "
        "it.",
        lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1]) @ v).softmax(-1),
    ),
    Mistake(
        "These are the weights: multiply them with the values.",
        lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1),
    ),
    Mistake(
        "The keys stand where the values should: keys are compared, values are returned.",
        lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ k,
    ),
    Mistake(
        "The queries are compared with the values: `V` has no part in the scores.",
        lambda q, k, v: (q @ v.T / math.sqrt(q.shape[-1])).softmax(-1) @ v,
    ),
    Mistake(
        "Queries and keys have changed places: the scores are [query, key], a row for each query.",
        lambda q, k, v: (k @ q.T / math.sqrt(q.shape[-1])).softmax(-1) @ v,
    ),
    Mistake(
        "`K` is not transposed: Q K multiplies other pairs of numbers.",
        lambda q, k, v: (q @ k / math.sqrt(q.shape[-1])).softmax(-1) @ v,
    ),
    Mistake(
        "The answer is transposed: one row for each query.",
        lambda q, k, v: ((q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v).T,
    ),
)
