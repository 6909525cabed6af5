"""09.4 A decoder's layer: three sublayers, each in a residual connection with its norm."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

Map = Callable[[Tensor], Tensor]
Cross = Callable[[Tensor, Tensor], Tensor]
_SHAPES = ((4, 4, 6), (3, 5, 6))  # target, source, width; equal first: what is mixed up then runs


def judge(answer: Answer) -> str:
    for seed, shape in enumerate(_SHAPES):
        parts = _parts(seed, *shape)
        values, wanted = [], []
        for norm_first in (False, True):
            values.append(tensor(_call(answer, *parts, norm_first), (shape[0], shape[2])))
            wanted.append(_right(*parts, norm_first))
        if not same(torch.stack(values), torch.stack(wanted)):
            explain(torch.stack(values), MISTAKES, *parts)
            raise Wrong(_where([same(*each) for each in zip(values, wanted, strict=True)]))
    return (
        "Without the second sublayer this is a layer of the encoder, or of a language model that "
        "has no source."
    )


def _call(answer: Answer, *arguments: object) -> object:
    try:
        return answer(*arguments)
    except Wrong as wrong:
        if "positional argument" in str(wrong):
            raise Wrong(
                f"{wrong}\n`cross_attention` takes two tensors, who asks and who is asked; "
                "`attention` and `feed_forward` take one."
            ) from None
        raise


def _where(right: list[bool]) -> str:
    if right[0]:
        return "Post-norm is right, pre-norm (`norm_first=True`) is not."
    if right[1]:
        return "Pre-norm is right, post-norm (`norm_first=False`) is not."
    return (
        "Neither form is right yet. Take post-norm first: x + attention(x), then the first norm of "
        "that; call the result x again, and go on with the other two sublayers and norms."
    )


Parts = tuple[Tensor, Tensor, Map, Cross, Map, tuple[Map, Map, Map]]


def _parts(seed: int, time: int, source: int, width: int) -> Parts:
    generator = torch.Generator().manual_seed(seed)
    matrices = torch.randn(4, width, width, generator=generator) / width**0.5
    scales = 1 + 0.5 * torch.randn(3, width, generator=generator)

    def norm(number: int) -> Map:
        def normed(x: Tensor) -> Tensor:
            return torch.nn.functional.layer_norm(x, (x.shape[-1],)) * scales[number]

        return normed

    def look(x: Tensor, memory: Tensor, matrix: Tensor, causal: bool = False) -> Tensor:
        scores = x @ matrix @ memory.mT
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1) & torch.tensor(causal)
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ memory @ matrices[3]

    return (
        torch.randn(time, width, generator=generator),
        2 * torch.randn(source, width, generator=generator),
        lambda x: look(x, x, matrices[0], causal=True),
        lambda x, memory: look(x, memory, matrices[1]),
        lambda x: torch.tanh(x @ matrices[2]),
        (norm(0), norm(1), norm(2)),
    )


Rule = Callable[[Tensor, Map, Map], Tensor]  # x, sublayer, norm


def _post(x: Tensor, f: Map, norm: Map) -> Tensor:
    return norm(x + f(x))


def _pre(x: Tensor, f: Map, norm: Map) -> Tensor:
    return x + f(norm(x))


def _layer(
    x: Tensor,
    memory: Tensor,
    attention: Map,
    cross: Cross,
    feed_forward: Map,
    norms: Sequence[Map],
    norm_first: bool,
    post: Rule = _post,
    pre: Rule = _pre,
    order: Sequence[int] = (0, 1, 2),
    ask: Callable[[Cross, Tensor, Tensor], Tensor] = lambda cross, x, memory: cross(x, memory),
) -> Tensor:
    """A decoder's layer, with one piece changed: so does each mistake."""
    sublayers = (attention, lambda x: ask(cross, x, memory), feed_forward)
    for place in order:
        x = (pre if norm_first else post)(x, sublayers[place], norms[place])
    return x


_right = _layer


def _both(form: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Both forms: form(x, memory, attention, cross, feed_forward, norms, norm_first)."""
    return lambda *parts: torch.stack([form(*parts, norm_first) for norm_first in (False, True)])


def _with(**pieces: Any) -> Callable[..., Tensor]:
    return _both(functools.partial(_layer, **pieces))


def _norms(of: Callable[[Sequence[Map]], Sequence[Map]]) -> Callable[..., Tensor]:
    return _both(
        lambda x, memory, attention, cross, network, norms, norm_first: _layer(
            x, memory, attention, cross, network, of(norms), norm_first
        )
    )


def _from_the_first(adds_first: bool = False, reads_first: bool = False) -> Callable[..., Tensor]:
    """Later sublayers add, or read, the x that came into the layer."""

    def form(
        x: Tensor,
        memory: Tensor,
        attention: Map,
        cross: Cross,
        network: Map,
        norms: Sequence[Map],
        norm_first: bool,
    ) -> Tensor:
        now = x
        sublayers: tuple[Map, ...] = (attention, lambda it: cross(it, memory), network)
        for f, norm in zip(sublayers, norms, strict=True):
            read, kept = x if reads_first else now, x if adds_first else now
            now = kept + f(norm(read)) if norm_first else norm(kept + f(read))
        return now

    return _both(form)


def _cross_reads_the_first(
    x: Tensor,
    memory: Tensor,
    attention: Map,
    cross: Cross,
    network: Map,
    norms: Sequence[Map],
    norm_first: bool,
) -> Tensor:
    """The queries of cross-attention are made of the x that came into the layer."""
    first = norms[1](x) if norm_first else x
    rest = (lambda _, memory: cross(first, memory), network, norms, norm_first)
    return _layer(x, memory, attention, *rest)


def _normed_memory(
    x: Tensor,
    memory: Tensor,
    attention: Map,
    cross: Cross,
    network: Map,
    norms: Sequence[Map],
    norm_first: bool,
) -> Tensor:
    seen = norms[1](memory) if norm_first else memory
    return _layer(x, seen, attention, cross, network, norms, norm_first)


# Each takes (x, memory, attention, cross_attention, feed_forward, norms), and gives both forms.
MISTAKES = (
    Mistake(
        "Pre- and post-norm have changed places: with `norm_first` the norm stands in front of the "
        "sublayer.",
        _with(post=_pre, pre=_post),
    ),
    Mistake("`norm_first` is not looked at: both forms are post-norm.", _with(pre=_post)),
    Mistake("`norm_first` is not looked at: both forms are pre-norm.", _with(post=_pre)),
    Mistake(
        "The residual connection is missing: what a sublayer computes is added to what came in.",
        _with(post=lambda x, f, norm: norm(f(x)), pre=lambda x, f, norm: f(norm(x))),
    ),
    Mistake(
        "In post-norm the norm is taken of the change alone: it belongs around the sum.",
        _with(post=lambda x, f, norm: x + norm(f(x))),
    ),
    Mistake(
        "In pre-norm the normed x is added, too: the way around the sublayer keeps x as it came.",
        _with(pre=lambda x, f, norm: norm(x) + f(norm(x))),
    ),
    Mistake(
        "In pre-norm a second norm stands behind the sum: x + f(norm(x)) goes on as it is.",
        _with(pre=lambda x, f, norm: norm(x + f(norm(x)))),
    ),
    Mistake("There is no norm at all.", _norms(lambda norms: [lambda x: x] * 3)),
    Mistake(
        "The norms belong to other sublayers: the first to attention, the second to "
        "cross-attention, the third to the feed-forward network.",
        _norms(lambda norms: norms[::-1]),
    ),
    Mistake(
        "One norm serves all sublayers: each has its own, `norms[0]` to `norms[2]`.",
        _norms(lambda norms: [norms[0]] * 3),
    ),
    Mistake(
        "Cross-attention comes first: before it looks at the source, a place looks at the target.",
        _with(order=(1, 0, 2)),
    ),
    Mistake(
        "The feed-forward network comes before cross-attention: it is the last of the three.",
        _with(order=(0, 2, 1)),
    ),
    Mistake(
        "Cross-attention is missing: nothing of the source comes in.",
        _with(order=(0, 2)),
    ),
    Mistake("The feed-forward network is missing: it is the third sublayer.", _with(order=(0, 1))),
    Mistake(
        "In cross-attention the source asks: the queries are the target's, the memory answers.",
        _with(ask=lambda cross, x, memory: cross(memory, x)),
    ),
    Mistake(
        "Cross-attention looks at the target, not at `memory`.",
        _with(ask=lambda cross, x, memory: cross(x, x)),
    ),
    Mistake(
        "In pre-norm the memory is normed by this layer, too: it comes from the encoder's end, "
        "which has a norm of its own.",
        _both(_normed_memory),
    ),
    Mistake(
        "Cross-attention asks with the x that came into the layer: it asks with what attention "
        "made of it.",
        _both(_cross_reads_the_first),
    ),
    Mistake(
        "All three sublayers read the x that came in: each reads what the one before it made.",
        _from_the_first(reads_first=True),
    ),
    Mistake(
        "Each residual connection adds the x that came into the layer: it adds what went into its "
        "own sublayer.",
        _from_the_first(adds_first=True),
    ),
)
