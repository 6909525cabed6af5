"""word2vec and GloVe once more, straight from the papers' equations: plain numbers, plain loops.

Nothing here is shared with the models. Gradients are worked out by hand.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def dot(a: Array, b: Array) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True)))


def noise(counts: Sequence[int], power: float) -> list[float]:
    total = sum(count**power for count in counts if count)
    return [count**power / total if count else 0.0 for count in counts]


def keep(counts: Sequence[int], threshold: float, program: bool) -> list[float]:
    kept = []
    for count in counts:
        frequency = count / sum(counts)
        p = math.sqrt(threshold / frequency) + (threshold / frequency if program else 0.0)
        kept.append(min(1.0, p))
    return kept


def windows(
    sentences: Sequence[Sequence[int]], window: int
) -> list[tuple[int, list[tuple[int, int]]]]:
    """Each word with what stands around it: (word, distance to the right)."""
    found = []
    for sentence in sentences:
        for i, center in enumerate(sentence):
            around = [
                (sentence[j], j - i)
                for j in range(i - window, i + window + 1)
                if j != i and 0 <= j < len(sentence)
            ]
            found.append((center, around))
    return found


def predict(
    hidden: Array, target: int, negatives: Sequence[int] | None, u: Array, scale: float
) -> tuple[float, Array, Array]:
    """One prediction's loss, its gradient by the hidden vector, and by u; all times a scale."""
    if negatives is None:  # eq. 2
        exponentials = [math.exp(dot(row, hidden)) for row in u]
        total = sum(exponentials)
        errors = {w: e / total - (w == target) for w, e in enumerate(exponentials)}
        loss = math.log(total) - math.log(exponentials[target])
        terms = list(errors.items())
    else:  # eq. 4
        score = dot(u[target], hidden)
        loss = -math.log(sigmoid(score))
        terms = [(target, sigmoid(score) - 1)]
        for word in negatives:
            if word != target:
                score = dot(u[word], hidden)
                loss -= math.log(sigmoid(-score))
                terms.append((word, sigmoid(score)))
    by_hidden, by_u = np.zeros_like(hidden), np.zeros_like(u)
    for word, error in terms:
        by_hidden += scale * error * u[word]
        by_u[word] += scale * error * hidden
    return scale * loss, by_hidden, by_u


def skip_gram(
    v: Array,
    u: Array,
    pairs: Sequence[tuple[int, int]],
    negatives: Sequence[Sequence[int]] | None,
) -> tuple[float, Array, Array]:
    """The mean loss over the pairs (center, context), and the gradients by v and u."""
    loss, by_v, by_u = 0.0, np.zeros_like(v), np.zeros_like(u)
    for number, (center, context) in enumerate(pairs):
        drawn = None if negatives is None else negatives[number]
        one, hidden, output = predict(v[center], context, drawn, u, 1 / len(pairs))
        loss += one
        by_v[center] += hidden
        by_u += output
    return loss, by_v, by_u


def cbow(
    v: Array,
    u: Array,
    contexts: Sequence[tuple[int, Sequence[int]]],
    negatives: Sequence[Sequence[int]] | None,
    mean: bool,
) -> tuple[float, Array, Array]:
    """The mean loss over (center, its context), and the gradients by v and u."""
    loss, by_v, by_u = 0.0, np.zeros_like(v), np.zeros_like(u)
    for number, (center, context) in enumerate(contexts):
        hidden = np.zeros_like(v[0])
        share = 1 / len(context) if mean and context else 1.0
        for word in context:
            hidden = hidden + share * v[word]
        drawn = None if negatives is None else negatives[number]
        one, by_hidden, output = predict(hidden, center, drawn, u, 1 / len(contexts))
        loss += one
        by_u += output
        for word in context:
            by_v[word] += share * by_hidden
    return loss, by_v, by_u


def cooccurrences(
    sentences: Sequence[Sequence[int]], size: int, window: int, symmetric: bool, by_distance: bool
) -> Array:
    """X, dense."""
    counts = np.zeros((size, size))
    for center, around in windows(sentences, window):
        for word, step in around:
            if symmetric or step < 0:
                counts[center, word] += 1 / abs(step) if by_distance else 1
    return counts


def glove(
    parameters: tuple[Array, Array, Array, Array], counts: Array, x_max: float, alpha: float
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    """J over the number of pairs that occur, and its gradients by w, w̃, b and b̃."""
    w, context, b, context_b = parameters
    gradients = tuple(np.zeros_like(each) for each in parameters)
    pairs = [(i, j) for i in range(len(counts)) for j in range(len(counts)) if counts[i, j] > 0]
    total = 0.0
    for i, j in pairs:
        x = float(counts[i, j])
        f = (x / x_max) ** alpha if x < x_max else 1.0
        error = dot(w[i], context[j]) + float(b[i, 0]) + float(context_b[j, 0]) - math.log(x)
        total += f * error**2 / len(pairs)
        slope = 2 * f * error / len(pairs)
        gradients[0][i] += slope * context[j]
        gradients[1][j] += slope * w[i]
        gradients[2][i] += slope
        gradients[3][j] += slope
    return total, (gradients[0], gradients[1], gradients[2], gradients[3])
