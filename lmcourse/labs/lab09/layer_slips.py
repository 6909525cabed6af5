"""What the wrong answers to 09.4 compute, and what each is told."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.values import Mistake

Map = Callable[[Tensor], Tensor]
Cross = Callable[[Tensor, Tensor], Tensor]
Parts = tuple[Tensor, Tensor, Map, Cross, Map, tuple[Map, Map, Map]]

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


right = _layer


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


def _normed_memory(always: bool) -> Callable[..., Tensor]:
    """The second norm is taken of the memory, too: in both forms, or in pre-norm."""

    def form(x: Tensor, memory: Tensor, *rest: Any) -> Tensor:
        *_, norms, norm_first = rest
        seen = norms[1](memory) if always or norm_first else memory
        return _layer(x, seen, *rest)

    return _both(form)


def _in_turn(order: Sequence[int]) -> Callable[..., Tensor]:
    """The sublayers in another order, and the norms in theirs."""

    def form(*parts: Any) -> Tensor:
        x, memory, attention, cross, network, norms, norm_first = parts
        kept = [attention, lambda it: cross(it, memory), network]
        for place, norm in zip(order, norms, strict=True):
            x = (_pre if norm_first else _post)(x, kept[place], norm)
        return x

    return _both(form)


def _summed(last: int) -> Callable[..., Tensor]:
    """All three read the x that came in, and are added; in post-norm one norm takes the sum."""

    def form(*parts: Any) -> Tensor:
        x, memory, attention, cross, network, norms, norm_first = parts
        read = [norm(x) if norm_first else x for norm in norms]
        total = x + attention(read[0]) + cross(read[1], memory) + network(read[2])
        return total if norm_first else norms[last](total)

    return _both(form)


def _norm_at_the_end(number: int) -> Callable[..., Tensor]:
    """A norm of the sum that leaves a pre-norm layer."""

    def form(*parts: Any) -> Tensor:
        x, norms, norm_first = _layer(*parts), parts[-2], parts[-1]
        return norms[number](x) if norm_first else x

    return _both(form)


_CROSS_FIRST = (
    "In yours cross-attention comes first: before it looks at the source, a place looks at the "
    "target."
)
_NETWORK_SECOND = (
    "In yours the feed-forward network comes before cross-attention: it is the last of the three."
)
_PARALLEL = (
    "In yours all three sublayers read the x that came in: each should read what the one before "
    "it made."
)
_FINAL_NORM = (
    "In yours a norm is taken of what leaves the layer: in pre-norm the sum goes on as it is, to "
    "the next layer. (The norm after the whole stack is not this layer's.)"
)

# Each takes (x, memory, attention, cross_attention, feed_forward, norms), and gives both forms.
MISTAKES = (
    Mistake(
        "In yours pre- and post-norm have changed places: with `norm_first` the norm stands in "
        "front of the sublayer.",
        _with(post=_pre, pre=_post),
    ),
    Mistake("In yours `norm_first` is not looked at: both forms are post-norm.", _with(pre=_post)),
    Mistake("In yours `norm_first` is not looked at: both forms are pre-norm.", _with(post=_pre)),
    Mistake(
        "In yours the residual connection is missing: what a sublayer computes is added to what "
        "came in.",
        _with(post=lambda x, f, norm: norm(f(x)), pre=lambda x, f, norm: f(norm(x))),
    ),
    Mistake(
        "In yours the norm is taken of the change alone, x + norm(f(x)): it belongs around the sum "
        "in post-norm, and around what f reads in pre-norm.",
        _with(post=lambda x, f, norm: x + norm(f(x)), pre=lambda x, f, norm: x + norm(f(x))),
    ),
    Mistake(
        "In yours the normed x is added, too: the way around the sublayer keeps x as it came.",
        _with(pre=lambda x, f, norm: norm(x) + f(norm(x))),
    ),
    Mistake(
        "In yours a second norm stands around each sum: in pre-norm x + f(norm(x)) goes on as it "
        "is.",
        _with(pre=lambda x, f, norm: norm(x + f(norm(x)))),
    ),
    *(Mistake(_FINAL_NORM, _norm_at_the_end(number)) for number in range(3)),
    Mistake("In yours there is no norm at all.", _norms(lambda norms: [lambda x: x] * 3)),
    Mistake(
        "In yours the norms belong to other sublayers: the first to attention, the second to "
        "cross-attention, the third to the feed-forward network.",
        _norms(lambda norms: norms[::-1]),
    ),
    Mistake(
        "In yours one norm serves all sublayers: each has its own, `norms[0]` to `norms[2]`.",
        _norms(lambda norms: [norms[0]] * 3),
    ),
    Mistake(_CROSS_FIRST, _with(order=(1, 0, 2))),
    Mistake(_CROSS_FIRST, _in_turn((1, 0, 2))),
    Mistake(_NETWORK_SECOND, _with(order=(0, 2, 1))),
    Mistake(_NETWORK_SECOND, _in_turn((0, 2, 1))),
    Mistake(
        "In yours cross-attention is missing: nothing of the source comes in.",
        _with(order=(0, 2)),
    ),
    Mistake(
        "In yours the feed-forward network is missing: it is the third sublayer.",
        _with(order=(0, 1)),
    ),
    Mistake(
        "In yours the source asks in cross-attention: the queries are the target's, the memory "
        "answers.",
        _with(ask=lambda cross, x, memory: cross(memory, x)),
    ),
    Mistake(
        "In yours cross-attention looks at the target, not at `memory`.",
        _with(ask=lambda cross, x, memory: cross(x, x)),
    ),
    Mistake(
        "In yours pre-norm norms the memory, too: it comes from the encoder's end, which has a "
        "norm of its own.",
        _normed_memory(always=False),
    ),
    Mistake(
        "In yours the memory is normed once more: the encoder has done so, and in post-norm "
        "nothing is normed before a sublayer.",
        _normed_memory(always=True),
    ),
    Mistake(
        "In yours cross-attention asks with the x that came into the layer: it should ask with "
        "what attention made of it.",
        _both(_cross_reads_the_first),
    ),
    Mistake(_PARALLEL, _from_the_first(reads_first=True)),
    *(Mistake(_PARALLEL, _summed(last)) for last in range(3)),
    Mistake(
        "In yours each residual connection adds the x that came into the layer: it should add what "
        "went into its own sublayer.",
        _from_the_first(adds_first=True),
    ),
)
