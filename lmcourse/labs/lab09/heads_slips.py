"""What the wrong answers to 09.3 compute, and what each is told."""

import math
from collections.abc import Callable

from torch import Tensor

from lmcourse.labs.values import Mistake

Probe = tuple[Tensor, Tensor, Tensor, int, Tensor]  # query, key, value, heads, visible


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _one_head(x: Tensor) -> Tensor:
    return x[:, None]


def _no_axis(x: Tensor) -> Tensor:
    return x


def _hidden(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible[:, None], -math.inf)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    visible: Tensor,
    split: Callable[[Tensor, int], Tensor] = _split,
    scale: Callable[..., float] = lambda width, heads, **_: (width / heads) ** -0.5,
    mask: Callable[[Tensor, Tensor], Tensor] = _hidden,
    weigh: Callable[[Tensor, Tensor], Tensor] = lambda scores, visible: scores.softmax(-1),
    join: Callable[[Tensor], Tensor] = _join,
    keys: Callable[[Tensor], Tensor] = _one_head,
    values: Callable[[Tensor], Tensor] = _one_head,
) -> Tensor:
    """Multi-query attention, with one piece changed: so does each mistake."""
    q, k, v = split(query, heads), keys(key), values(value)
    counts = {"queries": query.shape[1], "keys": key.shape[1]}
    scores = mask(q @ k.mT * scale(query.shape[-1], heads, **counts), visible)
    return join(weigh(scores, visible) @ v)


right = _attention


def _with(**piece: Callable[..., object]) -> Callable[..., Tensor]:
    return lambda *probe: _attention(*probe, **piece)  # type: ignore[arg-type]


def _one_softmax(divided_by: Callable[[int, int], float]) -> Callable[..., Tensor]:
    """One head of the whole width, the shared key and value repeated to it."""

    def form(query: Tensor, key: Tensor, value: Tensor, heads: int, visible: Tensor) -> Tensor:
        repeated = key.repeat(1, 1, heads), value.repeat(1, 1, heads)
        scale = divided_by(query.shape[-1], heads) ** -0.5
        return _attention(query, *repeated, 1, visible, scale=lambda width, heads, **_: scale)

    return form


_ONE_SOFTMAX = (
    "In yours one softmax serves all heads: their scores are added up (by a key that is repeated "
    "to the whole width, say). Each head has scores of its own."
)


def _batch_for_heads(what: str, **pieces: Callable[..., Tensor]) -> Mistake:
    return Mistake(
        f"In yours {what} an axis for the heads, so that the batch is taken for it: the queries "
        "are [batch, head, query, size], and `x[:, None]` makes [batch, 1, key, size] of keys or "
        "values.",
        _with(**pieces),
    )


def _no_axis_for_the_mask(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -math.inf)


# Each takes (query, key, value, heads, visible).
MISTAKES = (
    Mistake(
        "In yours the scores are divided by the root of the whole width: a head's queries, and the "
        "keys, have width / heads numbers.",
        _with(scale=lambda width, heads, **_: width**-0.5),
    ),
    Mistake(
        "In yours the scores are not scaled: divide them by the root of a head's width.",
        _with(scale=lambda width, heads, **_: 1.0),
    ),
    Mistake(
        "In yours the scores are divided by a head's width; its root is asked for.",
        _with(scale=lambda width, heads, **_: heads / width),
    ),
    Mistake(
        "In yours the scores are multiplied by the root of a head's width: divide.",
        _with(scale=lambda width, heads, **_: (width / heads) ** 0.5),
    ),
    Mistake(
        "In yours the scores are divided by the root of the number of heads: it is the width of a "
        "head that counts.",
        _with(scale=lambda width, heads, **_: heads**-0.5),
    ),
    Mistake(
        "In yours the scores are divided by the root of the number of keys: it is the width of a "
        "key, its last axis, that counts.",
        _with(scale=lambda width, heads, keys, **_: keys**-0.5),
    ),
    Mistake(
        "In yours the scores are divided by the root of the number of queries: it is the width of "
        "a head, the last axis, that counts.",
        _with(scale=lambda width, heads, queries, **_: queries**-0.5),
    ),
    Mistake(
        "In yours the softmax runs over the queries: over the keys, the last axis, each query's "
        "weights sum to 1.",
        _with(weigh=lambda scores, visible: scores.softmax(-2)),
    ),
    Mistake(
        "In yours the softmax runs over the heads: the scores are [batch, head, query, key], and "
        "the weights sum to 1 over the keys, the last axis.",
        _with(
            mask=lambda scores, visible: scores.masked_fill(~visible[:, None], -1e9),
            weigh=lambda scores, visible: scores.softmax(1),
        ),
    ),
    _batch_for_heads("the key lacks", keys=_no_axis),
    _batch_for_heads("the value lacks", values=_no_axis),
    _batch_for_heads("key and value lack", keys=_no_axis, values=_no_axis),
    _batch_for_heads(
        "key, value and mask lack", keys=_no_axis, values=_no_axis, mask=_no_axis_for_the_mask
    ),
    Mistake(
        "In yours the mask is turned around: `visible` is True where a query may look.",
        _with(mask=lambda scores, visible: scores.masked_fill(visible[:, None], -math.inf)),
    ),
    Mistake(
        "In yours hidden scores are set to 0, and e⁰ = 1 is still a weight: set them to −∞.",
        _with(mask=lambda scores, visible: scores * visible[:, None]),
    ),
    Mistake(
        "In yours weights are hidden after the softmax, so what is left does not sum to 1: hide "
        "the scores, before it.",
        _with(
            mask=lambda scores, visible: scores,
            weigh=lambda scores, visible: scores.softmax(-1) * visible[:, None],
        ),
    ),
    Mistake(
        "In yours the mask lacks an axis for the heads, so that its batch is taken for them: the "
        "scores are [batch, head, query, key], the mask is [batch, query, key].",
        _with(mask=_no_axis_for_the_mask),
    ),
    Mistake(
        "In yours the mask is not used: every query looks everywhere.",
        _with(mask=lambda scores, visible: scores),
    ),
    Mistake(_ONE_SOFTMAX, _one_softmax(lambda width, heads: width)),
    Mistake(_ONE_SOFTMAX, _one_softmax(lambda width, heads: width / heads)),
    Mistake(
        "In yours the heads share out the width like cards, one number each in turn: head 0 should "
        "have the first width / heads numbers, head 1 the next.",
        _with(
            split=lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
            join=lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
    ),
    Mistake(
        "In yours the heads are split rightly, and their results stand in turn, one number of "
        "each: they stand one whole head after the other.",
        _with(join=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
    ),
    Mistake(
        "In yours the width is split by a `view` that cuts across the tokens, and joined in the "
        "same way: first make the axes [batch, time, head, …], then move the head forward.",
        _with(
            split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
            join=lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
    ),
    Mistake(
        "In yours the width is split by a `view` that cuts across the tokens: first make the axes "
        "[batch, time, head, …], then move the head forward.",
        _with(split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1)),
    ),
    Mistake(
        "In yours the heads are split rightly, and joined while [batch, head, query, …] still "
        "stands in that order: first move the head behind the query.",
        _with(join=lambda x: x.reshape(len(x), x.shape[2], -1)),
    ),
    Mistake(
        "In yours the heads' results stand in the opposite order.",
        _with(join=lambda x: _join(x.flip(1))),
    ),
)
