"""Parts of the Transformer (Vaswani et al. 2017; Shazeer 2019)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task
from lmcourse.models.encoder_decoder import sinusoids

Map = Callable[..., Tensor]


def steps_at(rate: float, width: int, warmup: int) -> tuple[float, float]:
    y = rate * width**0.5
    up = y * warmup**1.5
    down = y**-2
    return up, down


STEPS = Task(
    steps_at,
    examples=[(7e-4, 512, 400), (1e-3, 64, 1000), (2.1e-3, 256, 300), (1e-4, 128, 400)],
    slips="""
The two steps are exchanged: the step on the way up comes first.
    up, down -> down, up
Only one of the two steps is returned, or one of them twice. Each rate below the peak occurs twice.
    up, down -> up || down || up, up || down, down
The width is missing or has the wrong exponent. In the schedule it is d^(−1/2), at every step.
    width**0.5 -> 1 || width**-0.5 || width
On the way up, s_0 has the wrong exponent. In the schedule it is s_0^(−3/2).
    warmup**1.5 -> warmup**-1.5 || warmup**0.5 || warmup || warmup**2
On the way down, y = s^(−1/2) is solved wrongly for s. Square all of y = r √d, then invert it.
    y**-2 -> y**-1 || y**-0.5 || y**2 || rate**-2 || rate**-2 / width**0.5 || warmup**0.5 / y
On the way down, s_0 is added or subtracted. The schedule counts s from the first step of training.
    up, down -> up, down + warmup || up, down - warmup
`rate` is treated as a fraction of the peak. It is the learning rate itself.
    rate * width**0.5 -> rate * warmup**-0.5
The steps are rounded. Return them as real numbers.
    up, down -> round(up), round(down) || int(up), int(down) || math.ceil(up), math.ceil(down)
""",
    names=("The step on the way up", "The step on the way down"),
    note="At the peak the two are one step, s_0. The lower the rate, the farther they are apart.",
)


def _encodings(seed: int, pairs: int, width: int) -> Example:
    p, q = torch.randint(200, (2, pairs), generator=torch.Generator().manual_seed(seed))
    table = sinusoids(205, width)
    return table[p], table[torch.where(p == q, q + 5, q)]


def distance(first: Tensor, second: Tensor) -> Tensor:
    sin_p, cos_p = first[:, 0::2], first[:, 1::2]
    sin_q, cos_q = second[:, 0::2], second[:, 1::2]
    sine = sin_q * cos_p - cos_q * sin_p
    cosine = cos_q * cos_p + sin_q * sin_p
    return torch.stack([sine, cosine], -1).flatten(1)


DISTANCE = Task(
    distance,
    examples=[_encodings(0, 8, 8), _encodings(1, 5, 12), _encodings(2, 1, 2)],
    slips="""
This is PE(t − u), the distance from the second position to the first: each sine has the wrong sign.
    sin_q * cos_p - cos_q * sin_p -> cos_q * sin_p - sin_q * cos_p
The sines or the cosines, or both, are those of the *sum* of the angles.
    cos_p - cos_q -> cos_p + cos_q
    cos_p + sin_q -> cos_p + sin_q || cos_p - sin_q
    or
    cos_p + sin_q -> cos_p - sin_q
Encodings are subtracted or multiplied. sin(a − b) takes the sine and the cosine of both angles.
    torch.stack([sine, cosine], -1).flatten(1) -> second - first || first - second || first * second
The order of the result is wrong: entry 2i is a sine, and its cosine follows it.
    torch.stack([sine, cosine], -1).flatten(1) -> torch.cat([sine, cosine], 1) ||
        torch.stack([cosine, sine], -1).flatten(1)
The first half of the entries is used as the sines. They alternate: the sines are `[:, 0::2]`.
    first[:, 0::2], first[:, 1::2] -> first.chunk(2, 1)
    second[:, 0::2], second[:, 1::2] -> second.chunk(2, 1)
    torch.stack([sine, cosine], -1).flatten(1) -> torch.cat([sine, cosine], 1) ||
        torch.stack([sine, cosine], -1).flatten(1)
The sign is lost: √(1 − x²) is never negative, but a sine or a cosine can be.
    sin_q * cos_p - cos_q * sin_p -> (1 - (cos_q * cos_p + sin_q * sin_p) ** 2).clamp(min=0).sqrt()
    or
    cos_q * cos_p + sin_q * sin_p -> (1 - sine**2).clamp(min=0).sqrt()
`asin`, `acos` and `atan` find angles of half a turn only. `atan2` uses the sine and the cosine.
    cosine = -> angle = sin_q.asin() - sin_p.asin(); cosine = ||
        angle = cos_q.acos() - cos_p.acos(); cosine = ||
        angle = (sin_q / cos_q).atan() - (sin_p / cos_p).atan(); cosine =
    [sine, cosine] -> [angle.sin(), angle.cos()]
Each pair of the result is the sine and the cosine of an angle: not the angle, nor one of the two.
    cosine = -> angle = torch.atan2(sin_q, cos_q) - torch.atan2(sin_p, cos_p); cosine =
    torch.stack([sine, cosine], -1) -> torch.stack([angle, angle], -1) || angle || sine || cosine ||
        torch.stack([cosine, cosine], -1)
""",
    note="You needed neither position, and a distance to the left differs from one to the right: "
    "relative positions can be computed from the encodings, by a network that learns to do so.",
)


def _heads(seed: int, batch: int, queries: int, keys: int, width: int, heads: int) -> Example:
    generator = torch.Generator().manual_seed(seed)
    sizes = ((queries, width), (keys, width // heads), (keys, width // heads))
    query, key, value = (1.5 * torch.randn(batch, *size, generator=generator) for size in sizes)
    visible = torch.ones(batch, queries, keys, dtype=torch.bool)
    for text in visible[: seed * batch]:  # no mask in the first example
        # Each query has a masked key, another one each, so every key is visible to some query.
        text[range(queries), torch.randperm(keys, generator=generator)[:queries]] = False
    return query - 2, key + 7, value, heads, visible  # scores near −20: a mask of −20 hides nothing


def shared_heads(query: Tensor, key: Tensor, value: Tensor, heads: int, visible: Tensor) -> Tensor:
    size = query.shape[-1] // heads
    q = query.unflatten(-1, (heads, size)).transpose(1, 2)
    scores = q @ key[:, None].mT / size**0.5
    scores = scores.masked_fill(~visible[:, None], -math.inf)
    found = scores.softmax(-1) @ value[:, None]
    return found.transpose(1, 2).flatten(2)


HEADS = Task(
    shared_heads,
    # The simplest first; where sizes are equal, axes can be confused.
    examples=[
        *(_heads(0, 1, 3, 4, 8, 1), _heads(1, 1, 3, 4, 8, 1), _heads(2, 3, 3, 3, 12, 3)),
        *(_heads(3, 2, 4, 4, 8, 2), _heads(4, 2, 3, 4, 6, 3)),
    ],
    slips="""
The scores have the wrong scale. Divide them by the root of d/h, the width of a head and of a key.
    size**0.5 -> query.shape[-1] ** 0.5 || 1 || size || size**-0.5 || heads**0.5 ||
        query.shape[1] ** 0.5 || key.shape[1] ** 0.5
The softmax is over the queries or the heads. It is over the keys, the last axis.
    -math.inf -> -math.inf || -1e9
    softmax(-1) -> softmax(-2) || softmax(1)
The mask is inverted, unused, or that of the first sequence. True: a query may attend to a key.
    ~visible[:, None] -> visible[:, None] || (visible & False)[:, None] || ~visible[:1, None]
Masked scores are set to 0, but e⁰ = 1 is still a weight. Set them to −∞.
    -math.inf -> 0.0
The mask is applied after the softmax, so the remaining weights do not sum to 1. Mask the scores.
    scores.masked_fill(~visible[:, None], -math.inf) -> scores
    softmax(-1) -> softmax(-1) * visible[:, None]
The batch and the heads are confused. Scores are [batch, head, query, key]; `key`, `value` and
`visible` have no axis of heads: give each one of size 1, after the batch.
    key[:, None] -> key[:, None] || key
    value[:, None] -> value
    visible[:, None] -> visible[:, None] || visible
    or
    key[:, None] -> key
    or
    visible[:, None] -> visible
The heads' scores are summed before one softmax. Each head has its own softmax and weights.
    scores = q @ -> key, value = key.repeat(1, 1, heads), value.repeat(1, 1, heads); scores = q @
    (heads, size) -> (1, -1)
    size**0.5 -> size**0.5 || query.shape[-1] ** 0.5
The heads are interleaved, when split or when joined. Head 0 has the *first* d/h entries.
    (heads, size)).transpose(1, 2) -> (size, heads)).permute(0, 3, 1, 2)
    found.transpose(1, 2) -> found.transpose(1, 2) || found.permute(0, 2, 3, 1)
    or
    found.transpose(1, 2) -> found.permute(0, 2, 3, 1)
A `view` or `reshape` mixes positions. Split the width, then transpose; to join, transpose first.
    found.transpose(1, 2).flatten(2) -> found.reshape(query.shape)
    or
    query.unflatten(-1, (heads, size)).transpose(1, 2) ->
        query.reshape(len(query), heads, query.shape[1], size)
    found.transpose(1, 2) -> found.transpose(1, 2) || found.reshape(query.shape)
""",
    cause=lambda arguments, *results: (
        f"Right for one head, wrong for {heads} heads. Check how they are split and joined."
        if (heads := arguments[3]) > 1
        else "Wrong even for one head without a mask. That case is softmax(Q Kᵀ / √d) V."
        if arguments[4].all()
        else "Right for one head without a mask, wrong with a mask."
    ),
    note="While a model generates, it stores the keys and values of all earlier positions. Shared "
    "heads store `heads` times fewer numbers than heads with keys and values of their own.",
)


def _layer(seed: int, target: int, source: int, norm_first: bool) -> Example:
    generator = torch.Generator().manual_seed(seed)
    first, second, third = torch.randn(3, 6, 6, generator=generator)
    scales = 1 + 0.5 * torch.randn(3, 6, generator=generator)

    def attention(x: Tensor) -> Tensor:
        masked = torch.ones(len(x), len(x)).triu(1).bool()
        return (x @ first @ x.mT).masked_fill(masked, -math.inf).softmax(-1) @ x.sin()

    def cross_attention(x: Tensor, memory: Tensor) -> Tensor:
        return (x @ second @ memory.mT).softmax(-1) @ memory.sin()

    x = torch.randn(target, 6, generator=generator)
    memory = 2 * torch.randn(source, 6, generator=generator)
    norms = tuple(lambda x, scale=scale: F.layer_norm(x, (6,)) * scale for scale in scales)
    return x, memory, attention, cross_attention, lambda x: (x @ third).tanh(), norms, norm_first


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    attention: Map,
    cross_attention: Map,
    feed_forward: Map,
    norms: tuple[Map, ...],
    norm_first: bool,
) -> Tensor:
    sublayers = attention, lambda y: cross_attention(y, memory), feed_forward
    for f, norm in zip(sublayers, norms, strict=True):
        x = x + f(norm(x)) if norm_first else norm(x + f(x))
    return x


LAYER = Task(
    decoder_layer,
    # With as many positions in the source as in the target, exchanged arguments give a result.
    examples=[_layer(*sizes, pre) for sizes in ((0, 4, 4), (1, 3, 5)) for pre in (False, True)],
    slips="""
`norm_first` is inverted or ignored. If it is true, each norm precedes its sublayer.
    if norm_first -> if not norm_first || if False || if True
A residual connection is missing: what a sublayer computes is added to its input.
    x + f(norm(x)) -> f(norm(x)) || x + f(norm(x))
    x + f(x) -> f(x)
    or
    x + f(norm(x)) -> f(norm(x))
The norm is applied to f(x) alone. In post-norm it applies to the sum, in pre-norm to f's input.
    norm(x + f(x)) -> x + norm(f(x))
    x + f(norm(x)) -> x + f(norm(x)) || x + norm(f(x))
    or
    x + f(norm(x)) -> x + norm(f(x))
In pre-norm, a norm is applied to the x that is added, or to a sum. Norm only the input of f.
    x + f(norm(x)) -> norm(x) + f(norm(x)) || norm(x + f(norm(x)))
    or
    return x -> return norms[0](x) if norm_first else x || return norms[2](x) if norm_first else x
The norms are missing, or used for other sublayers. `norms[0]` belongs to attention, and so on.
    norms, strict -> [lambda y: y] * 3, strict || norms[::-1], strict || [norms[0]] * 3, strict
The sublayers are in another order. It is attention, cross-attention, feed-forward network.
    (sublayers, -> ((sublayers[i] for i in (1, 0, 2)), || ((sublayers[i] for i in (0, 2, 1)),
    norms, strict -> norms, strict || (norms[1], norms[0], norms[2]), strict ||
        (norms[0], norms[2], norms[1]), strict
A sublayer is missing. There are three: attention, cross-attention, and the feed-forward network.
    (sublayers, norms, -> (sublayers[:2], norms[:2], || (sublayers[::2], norms[::2],
Cross-attention has wrong arguments: queries come from the target, keys and values from `memory`.
    cross_attention(y, memory) -> cross_attention(memory, y) || cross_attention(y, y)
A norm is applied to the memory. The encoder's output is normalized already.
    cross_attention(y, memory) -> cross_attention(y, norms[1](memory)) ||
        cross_attention(y, norms[1](memory) if norm_first else memory)
A sublayer reads the x that entered the layer, or is added to it, not to the sublayer's own input.
    sublayers = -> start = x; sublayers =
    x + f(norm(x)) -> x + f(norm(start)) || start + f(norm(x))
    x + f(x) -> x + f(start) || start + f(x)
    or
    sublayers = -> start = x; sublayers =
    cross_attention(y, memory) -> cross_attention(norms[1](start) if norm_first else start, memory)
""",
    cause=lambda arguments, *results: (
        "Post-norm is right; pre-norm (`norm_first=True`) is wrong."
        if arguments[-1]
        else "Post-norm (`norm_first=False`) is wrong. Start with x + attention(x), then its norm."
    ),
    note="Without cross-attention this is a layer of the encoder, or of a language model that has "
    "no source.",
)
