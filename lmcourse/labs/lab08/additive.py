"""08.3 Scores by a small network: softmax over the keys of rᵀ tanh(W q + U k), for all queries."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# query, key, query_size, key_size, hidden, value_width. Equal first: confused axes run.
_SHAPES = ((3, 3, 3, 3, 3, 3), (2, 5, 4, 6, 7, 3), (4, 2, 3, 5, 2, 6))


class _Given(NamedTuple):
    q: Tensor
    k: Tensor
    values: Tensor
    w: Tensor
    u: Tensor
    r: Tensor


def judge(answer: Answer) -> str:
    for seed, shape in enumerate(_SHAPES):
        given = _probe(seed, *shape)
        value = tensor(answer(*given), (shape[0], shape[-1]))
        if not same(value, _answers(_scores(given), given)):
            explain(value, MISTAKES, given)
            raise Wrong(
                "The numbers differ from the equation's. Look at the parts: W q + U k for each "
                "pair of query and key, [query, key, hidden]; tanh; times r; a softmax over the "
                "keys; weights times values."
            )
    return (
        "No √d, and queries and keys may differ in width. The price is a vector for each pair, "
        "[query, key, hidden], where a product needs a number."
    )


def _probe(seed: int, queries: int, keys: int, *sizes: int) -> _Given:
    generator = torch.Generator().manual_seed(seed)
    query, key, hidden, value = sizes
    shapes = ((queries, query), (keys, key), (keys, value), (hidden, query), (hidden, key))
    return _Given(*(1.2 * torch.randn(shape, generator=generator) for shape in (*shapes, hidden)))


def _sums(g: _Given) -> Tensor:
    return (g.q @ g.w.T)[:, None] + (g.k @ g.u.T)[None]


def _scores(g: _Given) -> Tensor:
    return _sums(g).tanh() @ g.r


def _answers(scores: Tensor, g: _Given) -> Tensor:
    return scores.softmax(-1) @ g.values


# Each takes what the student's function is given.
MISTAKES = (
    Mistake(
        "In yours tanh is missing. Without it the query's part, r · W q, is the same for every "
        "key, and a softmax ignores it: all your rows are equal.",
        lambda g: _answers(_sums(g) @ g.r, g),
    ),
    Mistake(
        "The activation is a ReLU here; this score has tanh.",
        lambda g: _answers(_sums(g).relu() @ g.r, g),
    ),
    Mistake(
        "The query has no effect: all your rows are equal. Is tanh applied to W q and to U k each "
        "by itself, or W q left out? First their sum, then tanh.",
        lambda g: _answers(
            ((g.q @ g.w.T).tanh()[:, None] + (g.k @ g.u.T).tanh()[None]) @ g.r,
            g,
        ),
    ),
    Mistake(
        "In yours tanh comes last: it belongs between the sum and r.",
        lambda g: _answers((_sums(g) @ g.r).tanh(), g),
    ),
    Mistake(
        "In yours W q and U k are multiplied with each other: this score adds them.",
        lambda g: _answers(((g.q @ g.w.T)[:, None] * (g.k @ g.u.T)[None]).tanh() @ g.r, g),
    ),
    Mistake(
        "In yours `r` is missing: the hidden entries are added up, each weighted by 1.",
        lambda g: _answers(_sums(g).tanh().sum(-1), g),
    ),
    Mistake(
        "In yours the scores are divided by √hidden: this score has no such scale.",
        lambda g: _answers(_scores(g) / math.sqrt(len(g.r)), g),
    ),
    Mistake(
        "`W` and `U` have changed places: W is the queries', U the keys'.",
        lambda g: _answers(_scores(g._replace(w=g.u, u=g.w)), g),
    ),
    Mistake(
        "The matrices are not transposed. In the equation q is a column, W q; here the queries are "
        "rows.",
        lambda g: _answers(_scores(g._replace(w=g.w.T, u=g.u.T)), g),
    ),
    Mistake(
        "In yours the softmax runs over the queries: each query's weights, a row, should sum to 1.",
        lambda g: _scores(g).softmax(0) @ g.values,
    ),
    Mistake(
        "In yours the softmax runs over the hidden entries: the product with `r` comes first, then "
        "a softmax over the keys.",
        lambda g: _sums(g).tanh().softmax(-1) @ g.r @ g.values,
    ),
    Mistake(
        "In yours every answer is the sum of all values: the softmax runs over the hidden entries, "
        "so it sums to 1 for each pair. It belongs behind that sum, over the keys.",
        lambda g: (_sums(g).tanh() * g.r).softmax(-1).sum(-1) @ g.values,
    ),
    Mistake(
        "The softmax is missing: the scores themselves weight the values.",
        lambda g: _scores(g) @ g.values,
    ),
    Mistake(
        "These are the weights: multiply them with the values.",
        lambda g: _scores(g).softmax(-1),
    ),
    Mistake(
        "The keys stand where the values should: keys are compared, values are returned.",
        lambda g: _scores(g).softmax(-1) @ g.k,
    ),
    Mistake(
        "Queries and keys have changed places: the scores are [query, key], a row for each query.",
        lambda g: _answers(_scores(g).T, g),
    ),
)
