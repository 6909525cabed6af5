"""09.3 Heads that share one key and one value (Shazeer 2019, multi-query attention)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

# batch, query, key, width, heads. Equal sizes first: axes that are mixed up then run, and are told.
_SHAPES = ((3, 3, 3, 12, 3), (2, 4, 4, 8, 2), (3, 2, 5, 12, 3), (1, 3, 4, 6, 1))
_TOLERANCE = 1e-4


def judge(answer: Answer) -> str:
    for seed, shape in enumerate(_SHAPES):
        probe = _probe(seed, *shape)
        value = _read(_call(answer, probe), (shape[0], shape[1], shape[3]))
        if not same(value, _right(*probe), _TOLERANCE):
            explain(value, MISTAKES, *probe, tolerance=_TOLERANCE)
            raise Wrong(_where(answer))
    return (
        "A model that writes keeps the keys and values of all that it has read: of yours it keeps "
        "`heads` times fewer numbers than with keys of each head's own."
    )


def _call(answer: Answer, probe: tuple[object, ...]) -> object:
    try:
        return answer(*probe)
    except Wrong as wrong:
        if "view size is not compatible" in str(wrong):
            raise Wrong(
                f"{wrong}\nBehind a transpose, `view` cannot join axes: use `reshape` or "
                "`flatten`, once the axes to be joined stand side by side."
            ) from None
        raise


def _read(value: object, shape: tuple[int, ...]) -> Tensor:
    try:
        return tensor(value, shape)
    except Wrong as wrong:
        if "contains NaN" not in str(wrong):
            raise
        raise Wrong(
            "Your result contains NaN: some query has no key left to look at, and `visible` leaves "
            "each at least one. The scores are [batch, head, query, key], the mask is [batch, "
            "query, key]: which axes meet which?"
        ) from None


def _where(answer: Answer) -> str:
    """Which part is wrong, by leaving others out."""
    query, key, value, _, visible = _probe(seed=10, batch=2, queries=3, keys=4, width=8, heads=1)
    everywhere = torch.ones_like(visible)
    for hint, probe in (
        (
            "Wrong already for one head without a mask, which is chapter 08's attention: "
            "softmax(Q Kᵀ / √d) V.",
            (query, key, value, 1, everywhere),
        ),
        ("Right for one head without a mask, wrong with one.", (query, key, value, 1, visible)),
        (
            "Right for one head, wrong for two: how is the query's width split, and joined again?",
            (query, key[..., :4], value[..., :4], 2, everywhere),
        ),
    ):
        try:
            found = tensor(answer(*probe), query.shape)
        except Wrong:
            return hint
        if not same(found, _right(*probe), _TOLERANCE):
            return hint
    return "Right for two heads with a mask of its own each, wrong for other sizes: is one fixed?"


def _probe(
    seed: int, batch: int, queries: int, keys: int, width: int, heads: int
) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sizes = ((queries, width), (keys, width // heads), (keys, width // heads))
    drawn = [1.5 * torch.randn(batch, *size, generator=generator) for size in sizes]
    visible = torch.stack([_mask(queries, keys, generator) for _ in range(batch)])
    return drawn[0], drawn[1], drawn[2], heads, visible


def _mask(queries: int, keys: int, generator: torch.Generator) -> Tensor:
    """No query sees everything or nothing, and each key is seen: no mistake ends in a NaN."""
    while True:
        visible = torch.rand(queries, keys, generator=generator) < 0.6
        if bool(visible.any(0).all() and visible.any(1).all() and not visible.all(1).any()):
            return visible


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _hidden(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible[:, None], -math.inf)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    visible: Tensor,
    split: Callable[[Tensor, int], Tensor] = _split,
    scale: Callable[[int, int], float] = lambda width, heads: (width / heads) ** -0.5,
    mask: Callable[[Tensor, Tensor], Tensor] = _hidden,
    weigh: Callable[[Tensor, Tensor], Tensor] = lambda scores, visible: scores.softmax(-1),
    join: Callable[[Tensor], Tensor] = _join,
) -> Tensor:
    """Multi-query attention, with one piece changed: so does each mistake."""
    q, k, v = split(query, heads), key[:, None], value[:, None]
    scores = mask(q @ k.mT * scale(query.shape[-1], heads), visible)
    return join(weigh(scores, visible) @ v)


_right = _attention


def _with(**piece: Callable[..., object]) -> Callable[..., Tensor]:
    return lambda *probe: _attention(*probe, **piece)  # type: ignore[arg-type]


def _one_softmax(query: Tensor, key: Tensor, value: Tensor, heads: int, visible: Tensor) -> Tensor:
    """One head of the whole width, the shared key and value repeated to it."""
    repeated = key.repeat(1, 1, heads), value.repeat(1, 1, heads)
    return _attention(query, *repeated, 1, visible)


# Each takes (query, key, value, heads, visible).
MISTAKES = (
    Mistake(
        "The scores are divided by the root of the whole width: a head's queries, and the keys, "
        "have width / heads numbers.",
        _with(scale=lambda width, heads: width**-0.5),
    ),
    Mistake(
        "The scores are not scaled: divide them by the root of a head's width.",
        _with(scale=lambda width, heads: 1.0),
    ),
    Mistake(
        "The scores are divided by a head's width; its root is asked for.",
        _with(scale=lambda width, heads: heads / width),
    ),
    Mistake(
        "The scores are divided by the root of the number of heads: it is the width of a head that "
        "counts.",
        _with(scale=lambda width, heads: heads**-0.5),
    ),
    Mistake(
        "The softmax runs over the queries: over the keys, the last axis, each query's weights "
        "sum to 1.",
        _with(weigh=lambda scores, visible: scores.softmax(-2)),
    ),
    Mistake(
        "The mask is turned around: `visible` is True where a query may look.",
        _with(mask=lambda scores, visible: scores.masked_fill(visible[:, None], -math.inf)),
    ),
    Mistake(
        "Hidden scores are set to 0, and e⁰ = 1 is still a weight: set them to −∞.",
        _with(mask=lambda scores, visible: scores * visible[:, None]),
    ),
    Mistake(
        "Weights are hidden after the softmax, so what is left does not sum to 1: hide the scores, "
        "before it.",
        _with(
            mask=lambda scores, visible: scores,
            weigh=lambda scores, visible: scores.softmax(-1) * visible[:, None],
        ),
    ),
    Mistake(
        "The mask lacks an axis for the heads, so that its batch is taken for them: the scores are "
        "[batch, head, query, key], the mask is [batch, query, key].",
        _with(mask=lambda scores, visible: scores.masked_fill(~visible, -math.inf)),
    ),
    Mistake(
        "The mask is not used: every query looks everywhere.",
        _with(mask=lambda scores, visible: scores),
    ),
    Mistake(
        "One softmax serves all heads: their scores are added up (by a key that is repeated to the "
        "whole width, say). Each head has scores of its own.",
        _one_softmax,
    ),
    Mistake(
        "The heads share out the width like cards, one number each in turn: head 0 has the first "
        "width / heads numbers, head 1 the next.",
        _with(
            split=lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
            join=lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
    ),
    Mistake(
        "The width is split by a `view` that cuts across the tokens, and joined in the same way: "
        "first make the axes [batch, time, head, …], then move the head forward.",
        _with(
            split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
            join=lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
    ),
    Mistake(
        "The width is split by a `view` that cuts across the tokens: first make the axes [batch, "
        "time, head, …], then move the head forward.",
        _with(split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1)),
    ),
    Mistake(
        "The heads are split rightly, and joined while [batch, head, query, …] still stands in "
        "that order: first move the head behind the query.",
        _with(join=lambda x: x.reshape(len(x), x.shape[2], -1)),
    ),
    Mistake(
        "The heads' results stand in the opposite order.",
        _with(join=lambda x: _join(x.flip(1))),
    ),
)
