"""What a head does, in a few numbers: how sharp it is, and where its weight goes."""

from collections.abc import Sequence

import numpy as np

from lmcourse.widgets.packing import Array

MEASURES = ("entropy", "itself", "previous", "next", "first", "separators", "distance")
SEPARATORS = frozenset({"[SEP]", "</s>", "<sep>", "<|endoftext|>", "[EOS]", "<end>"})
_WORDS = {
    "itself": "on the token itself",
    "previous": "on the one before",
    "next": "on the one behind",
    "first": "on the first",
    "separators": "on separators",
}
TINY = 1e-30  # whose logarithm exists; times 0 it is 0
NOT_THERE = -1.0  # a measure that makes no sense here: queries and keys are not the same tokens


def measures(weights: Array, key_tokens: Sequence[str], same: bool) -> Array:
    """The means over all queries that look somewhere, float32 (layer, head, measure).

    Args:
        weights: (layer, head, query, key).
        key_tokens: the keys, among which separators are looked for.
        same: whether queries and keys are the same tokens, so that there are distances.

    Returns:
        In the order of ``MEASURES``: the entropy in bits; the shares of the weight on the token
        itself, the one before, the one behind, the first, and on separators (Clark et al. 2019,
        "What does BERT look at?", section 3); the distance |query − key| that the weight goes.
    """
    out = np.full((*weights.shape[:2], len(MEASURES)), NOT_THERE, np.float32)
    separators = [i for i, token in enumerate(key_tokens) if token in SEPARATORS]
    places = [np.arange(size, dtype=np.float32) for size in weights.shape[2:]]
    far = np.abs(np.subtract.outer(*places)) if same else None
    for at in np.ndindex(*weights.shape[:2]):
        p = weights[at]
        looking = max(int((p.max(-1) > 0).sum()), 1)
        out[at][0] = float(np.vdot(p, np.log2(np.maximum(p, TINY)))) / -looking
        if far is not None:
            shares = [p.trace(offset) for offset in (0, -1, 1)]
            out[at][1:4] = np.divide(shares, looking)
            out[at][4] = p[:, 0].sum() / looking
            out[at][6] = np.vdot(p, far) / looking
        if separators:
            out[at][5] = p[:, separators].sum() / looking
    return out


def said(found: Array, strongest: str = "") -> str:
    """One head's measures in words, of the weights as they are given and over all tokens; where the
    weight goes, the largest share first; and its strongest pair, in words.
    """
    values = dict(zip(MEASURES, found.tolist(), strict=True))
    shares = sorted(_WORDS, key=lambda name: -values[name])
    parts = [f"{values[name]:.2f} {_WORDS[name]}" for name in shares if values[name] >= 0.005]
    if values["distance"] != NOT_THERE:
        parts.append(f"mean distance {values['distance']:.1f}")
    entropy = f"mean entropy {abs(values['entropy']):.2f} bits"
    return "; ".join([entropy, *parts, *([strongest] if strongest else [])])


def strongest(weights: Array, same: bool, quotes: Sequence[Sequence[str]]) -> list[str]:
    """Of each head the largest weight with its place, in words; "" where there is none.

    Args:
        weights: (layer, head, query, key).
        same: whether queries and keys are the same tokens: then a token's weight on itself is left
            out.
        quotes: queries and keys as sentences name them.
    """
    out = []
    for p in weights.reshape(-1, *weights.shape[2:]):
        i, j, most = largest(p, same)
        found = f"strongest {quotes[0][i]} → {quotes[1][j]} {most:.2f}"
        out.append(found if most >= 0.005 else "")
    return out


def largest(weights: Array, same: bool) -> tuple[int, int, float]:
    """The query and the key of the largest weight, and how large it is.

    Args:
        weights: (query, key).
        same: as in `strongest`.
    """
    p = np.where(np.eye(len(weights), dtype=bool), 0, weights) if same else weights
    i, j = map(int, np.unravel_index(np.argmax(p), p.shape))
    return i, j, float(p[i, j])


def most_telling(
    weights: Array,
    entropies: Array,
    same: bool,
    given: Sequence[int | None] = (None,) * 4,
    among: Sequence[Sequence[int]] | None = None,
) -> tuple[int, ...]:
    """What to show first: the head whose keys depend most on the query, and a pair that shows it.

    It is the head with the largest mutual information of query and key, H(mean of the rows) − mean
    of their H: 0 where all queries look at the same, such as [SEP] or everything. The pair adds
    most to it.

    Args:
        weights: (layer, head, query, key).
        entropies: mean H of the rows, (layer, head).
        same: whether queries and keys are the same tokens: then no token is paired with itself if
            there is another.
        given: layer, head, query and key, as far as they are settled; out of range they stay so.
        among: the queries and keys that the pair is taken from; None: all.

    Returns:
        Layer, head, query, key.
    """
    places = [list(range(size)) for size in weights.shape]  # along each axis, where to look
    places[2:] = places[2:] if among is None else map(list, among)
    for axis, it in enumerate(given):
        if type(it) is int and 0 <= it < weights.shape[axis]:
            places[axis] = [it]
    mean = weights.mean(2)
    information = -(mean * np.log2(np.maximum(mean, TINY))).sum(-1) - entropies
    layer, head = _largest(information, places[0], places[1])
    p = weights[layer, head].astype(np.float64)
    told = p * np.log2(np.maximum(p, TINY) / np.maximum(p.mean(0), TINY))
    if same and len(p) > 1:
        told -= 1e3 * np.eye(len(p))
    found = (layer, head, *_largest(told, places[2], places[3]))
    return tuple(a if b is None else b for a, b in zip(found, given, strict=True))


def _largest(values: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, int]:
    """Where the largest value of a part of a matrix stands in the whole."""
    part = values[np.ix_(rows, columns)]
    row, column = np.unravel_index(np.argmax(part), part.shape)
    return rows[int(row)], columns[int(column)]
