"""Measures of a head: how sharp its attention is, and where its weight goes."""

from collections.abc import Sequence

import numpy as np

from lmcourse.widgets.packing import Array

MEASURES = ("entropy", "itself", "previous", "next", "first", "separators", "distance")
SEPARATORS = frozenset({"[SEP]", "</s>", "<sep>", "<|endoftext|>", "[EOS]", "<end>"})
_WORDS = {
    "itself": "on the token itself",
    "previous": "on the previous token",
    "next": "on the next token",
    "first": "on the first",
    "separators": "on separators",
}
TINY = 1e-30  # whose logarithm exists; times 0 it is 0
UNDEFINED = -1.0  # for measures that need the same queries and keys


def measures(weights: Array, key_tokens: Sequence[str], same: bool) -> Array:
    """Return means over all queries with weights, float32 (layer, head, measure).

    Args:
        weights: (layer, head, query, key).
        key_tokens: the tokens of the keys, to find separators.
        same: whether queries and keys are the same tokens, so that there are distances.

    Returns:
        In the order of ``MEASURES``: the entropy in bits; the fractions of the weight on the token
        itself, the previous, the next and the first token, and on separators (Clark et al. 2019,
        "What does BERT look at?", section 3); the mean distance |query − key|.
    """
    out = np.full((*weights.shape[:2], len(MEASURES)), UNDEFINED, np.float32)
    separators = [i for i, token in enumerate(key_tokens) if token in SEPARATORS]
    positions = [np.arange(size, dtype=np.float32) for size in weights.shape[2:]]
    distance = np.abs(np.subtract.outer(*positions)) if same else None
    for at in np.ndindex(*weights.shape[:2]):
        p = weights[at]
        queries = max(int((p.max(-1) > 0).sum()), 1)
        out[at][0] = float(np.vdot(p, np.log2(np.maximum(p, TINY)))) / -queries
        if distance is not None:
            shares = [p.trace(offset) for offset in (0, -1, 1)]
            out[at][1:4] = np.divide(shares, queries)
            out[at][4] = p[:, 0].sum() / queries
            out[at][6] = np.vdot(p, distance) / queries
        if separators:
            out[at][5] = p[:, separators].sum() / queries
    return out


def described(measured: Array, strongest: str = "") -> str:
    """Return the description of one head: its measures, largest share first, and strongest pair."""
    values = dict(zip(MEASURES, measured.tolist(), strict=True))
    shares = sorted(_WORDS, key=lambda name: -values[name])
    parts = [f"{values[name]:.2f} {_WORDS[name]}" for name in shares if values[name] >= 0.005]
    if values["distance"] != UNDEFINED:
        parts.append(f"mean distance {values['distance']:.1f}")
    entropy = f"mean entropy {abs(values['entropy']):.2f} bits"
    return "; ".join([entropy, *parts, *([strongest] if strongest else [])])


def strongest(weights: Array, same: bool, quotes: Sequence[Sequence[str]]) -> list[str]:
    """Return the description of each head's largest weight; "" if there is none.

    Args:
        weights: (layer, head, query, key).
        same: whether queries and keys are the same tokens; if so, the diagonal is excluded.
        quotes: queries and keys, as quoted in sentences.
    """
    out = []
    for p in weights.reshape(-1, *weights.shape[2:]):
        i, j, most = largest(p, same)
        found = f"strongest {quotes[0][i]} → {quotes[1][j]} {most:.2f}"
        out.append(found if most >= 0.005 else "")
    return out


def largest(weights: Array, same: bool) -> tuple[int, int, float]:
    """Return query, key and value of the largest weight.

    Args:
        weights: (query, key).
        same: as for `strongest`.
    """
    p = np.where(np.eye(len(weights), dtype=bool), 0, weights) if same else weights
    i, j = map(int, np.unravel_index(np.argmax(p), p.shape))
    return i, j, float(p[i, j])


def most_informative(
    weights: Array,
    entropies: Array,
    same: bool,
    given: Sequence[int | None] = (None,) * 4,
    among: Sequence[Sequence[int]] | None = None,
) -> tuple[int, ...]:
    """Return what to show first: the head whose keys depend most on the query, and such a pair.

    It is the head with the largest mutual information of query and key, H(mean of the rows) − mean
    of their H, which is 0 if all queries have the same distribution. The pair contributes most.

    Args:
        weights: (layer, head, query, key).
        entropies: mean H of the rows, (layer, head).
        same: whether queries and keys are the same tokens; if so, the diagonal is avoided.
        given: layer, head, query and key, as far as they are fixed; kept even if out of range.
        among: the queries and keys to choose from; None: all.

    Returns:
        Layer, head, query, key.
    """
    candidates = [list(range(size)) for size in weights.shape]  # along each axis
    candidates[2:] = candidates[2:] if among is None else map(list, among)
    for axis, it in enumerate(given):
        if type(it) is int and 0 <= it < weights.shape[axis]:
            candidates[axis] = [it]
    mean = weights.mean(2)
    information = -(mean * np.log2(np.maximum(mean, TINY))).sum(-1) - entropies
    layer, head = _largest(information, candidates[0], candidates[1])
    p = weights[layer, head].astype(np.float64)
    terms = p * np.log2(np.maximum(p, TINY) / np.maximum(p.mean(0), TINY))
    if same and len(p) > 1:
        terms -= 1e3 * np.eye(len(p))
    found = (layer, head, *_largest(terms, candidates[2], candidates[3]))
    return tuple(a if b is None else b for a, b in zip(found, given, strict=True))


def _largest(values: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, int]:
    """Return the index of the largest value among these rows and columns."""
    part = values[np.ix_(rows, columns)]
    row, column = np.unravel_index(np.argmax(part), part.shape)
    return rows[int(row)], columns[int(column)]
