"""09.4 A layer: two sublayers, each in a residual connection, the norm behind or in front."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

Map = Callable[[Tensor], Tensor]
_SHAPES = ((4, 6), (3, 5))  # time, width


def judge(answer: Answer) -> str:
    for seed, (time, width) in enumerate(_SHAPES):
        x, attention, feed_forward, norms = _parts(seed, time, width)
        values, wanted = [], []
        for norm_first in (False, True):
            found = answer(x, attention, feed_forward, norms, norm_first)
            values.append(tensor(found, (time, width)))
            wanted.append(_right(x, attention, feed_forward, norms, norm_first))
        if not same(torch.stack(values), torch.stack(wanted)):
            explain(torch.stack(values), MISTAKES, x, attention, feed_forward, norms)
            raise Wrong(_where([same(*each) for each in zip(values, wanted, strict=True)]))
    return (
        "In pre-norm the sum of all changes runs through the whole stack untouched; therefore one "
        "more LayerNorm stands behind the last layer."
    )


def _where(right: list[bool]) -> str:
    if right[0]:
        return "Post-norm is right, pre-norm (`norm_first=True`) is not."
    if right[1]:
        return "Pre-norm is right, post-norm (`norm_first=False`) is not."
    return (
        "Neither form is right yet. Take post-norm first: x + attention(x), then the first norm of "
        "that; of the result call it x again, and do the same with the other two."
    )


def _parts(seed: int, time: int, width: int) -> tuple[Tensor, Map, Map, tuple[Map, Map]]:
    generator = torch.Generator().manual_seed(seed)
    mix = torch.randn(time, time, generator=generator).softmax(-1)
    matrices = torch.randn(2, width, width, generator=generator) / width**0.5
    scales = 1 + 0.5 * torch.randn(2, width, generator=generator)

    def norm(number: int) -> Map:
        def normed(x: Tensor) -> Tensor:
            return torch.nn.functional.layer_norm(x, (x.shape[-1],)) * scales[number]

        return normed

    return (
        torch.randn(time, width, generator=generator),
        lambda x: mix @ x @ matrices[0],
        lambda x: torch.tanh(x @ matrices[1]),
        (norm(0), norm(1)),
    )


def _right(
    x: Tensor, attention: Map, feed_forward: Map, norms: Sequence[Map], norm_first: bool
) -> Tensor:
    for f, norm in zip((attention, feed_forward), norms, strict=True):
        x = x + f(norm(x)) if norm_first else norm(x + f(x))
    return x


Rule = Callable[[Tensor, Map, Map], Tensor]  # x, sublayer, norm


def _post(x: Tensor, f: Map, norm: Map) -> Tensor:
    return norm(x + f(x))


def _pre(x: Tensor, f: Map, norm: Map) -> Tensor:
    return x + f(norm(x))


def _by(post: Rule = _post, pre: Rule = _pre) -> Callable[..., Tensor]:
    """Both forms, one after the other, with the sublayers' rules given."""

    def both(x: Tensor, attention: Map, feed_forward: Map, norms: Sequence[Map]) -> Tensor:
        found = []
        for rule in (post, pre):
            y = rule(x, attention, norms[0])
            found.append(rule(y, feed_forward, norms[1]))
        return torch.stack(found)

    return both


def _both(form: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Both forms of a whole layer: form(x, attention, feed_forward, norms, norm_first)."""
    return lambda *parts: torch.stack([form(*parts, norm_first) for norm_first in (False, True)])


def _parallel(
    x: Tensor, attention: Map, feed_forward: Map, norms: Sequence[Map], norm_first: bool
) -> Tensor:
    """Both sublayers read the same x."""
    if norm_first:
        return x + attention(norms[0](x)) + feed_forward(norms[1](x))
    return norms[1](norms[0](x + attention(x)) + feed_forward(x))


def _first_x(
    x: Tensor, attention: Map, feed_forward: Map, norms: Sequence[Map], norm_first: bool
) -> Tensor:
    """The second residual connection adds what came into the layer."""
    if norm_first:
        return x + feed_forward(norms[1](x + attention(norms[0](x))))
    return norms[1](x + feed_forward(norms[0](x + attention(x))))


# Each takes (x, attention, feed_forward, norms), and gives post-norm and pre-norm.
MISTAKES = (
    Mistake(
        "Pre- and post-norm have changed places: with `norm_first` the norm stands in front of the "
        "sublayer.",
        _by(post=_pre, pre=_post),
    ),
    Mistake("`norm_first` is not looked at: both forms are post-norm.", _by(pre=_post)),
    Mistake("`norm_first` is not looked at: both forms are pre-norm.", _by(post=_pre)),
    Mistake(
        "The residual connection is missing: what a sublayer computes is added to what came in.",
        _by(
            post=lambda x, f, norm: norm(f(x)),
            pre=lambda x, f, norm: f(norm(x)),
        ),
    ),
    Mistake(
        "In post-norm the norm is taken of the change alone: it belongs around the sum.",
        _by(post=lambda x, f, norm: x + norm(f(x))),
    ),
    Mistake(
        "In pre-norm the normed x is added, too: the way around the sublayer keeps x as it came.",
        _by(pre=lambda x, f, norm: norm(x) + f(norm(x))),
    ),
    Mistake(
        "In pre-norm a second norm stands behind the sum: x + f(norm(x)) goes on as it is.",
        _by(pre=lambda x, f, norm: norm(x + f(norm(x)))),
    ),
    Mistake(
        "There is no norm at all.",
        _by(post=lambda x, f, norm: x + f(x), pre=lambda x, f, norm: x + f(x)),
    ),
    Mistake(
        "The two norms have changed places: the first belongs to attention.",
        _both(lambda x, a, f, norms, first: _right(x, a, f, norms[::-1], first)),
    ),
    Mistake(
        "One norm serves both sublayers: each has its own, `norms[0]` and `norms[1]`.",
        _both(lambda x, a, f, norms, first: _right(x, a, f, (norms[0], norms[0]), first)),
    ),
    Mistake(
        "The feed-forward network comes first: attention does.",
        _both(lambda x, a, f, norms, first: _right(x, f, a, norms, first)),
    ),
    Mistake(
        "Both sublayers read the x that came in: the second reads what the first one made of it.",
        _both(_parallel),
    ),
    Mistake(
        "The second residual connection adds the x that came into the layer: it adds what went "
        "into the second sublayer.",
        _both(_first_x),
    ),
    Mistake(
        "Only attention is there: the feed-forward network is the second sublayer.",
        _both(lambda x, a, f, norms, first: x + a(norms[0](x)) if first else norms[0](x + a(x))),
    ),
)
