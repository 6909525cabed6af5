"""DeBERTa once more, straight from the paper: one head, one pair of places at a time.

Built on the slow form of BERT. The distance of each pair picks its row by the three cases of eq. 3,
and each score is the sum of its three products (eq. 4), as the paper has them: position to content
at δ(j, i). A sequence has no padding.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from tests.parity.slow_bert import Weights, activation, linear, norm, shares


def distance(i: int, j: int, k: int) -> int:
    """δ(i, j) (He et al. 2021, eq. 3)."""
    if i - j <= -k:
        return 0
    if i - j >= k:
        return 2 * k - 1
    return i - j + k


def attention(
    w: Weights,
    at: str,
    query: Sequence[Tensor],
    x: Sequence[Tensor],
    config: Any,
) -> tuple[list[Tensor], Tensor]:
    """What each place found, and the weights, (head, query, key)."""
    k = config.max_relative_positions
    k = config.max_position_embeddings if k < 1 else k
    heads, terms = config.num_attention_heads, config.pos_att_type
    size = config.hidden_size // heads
    P = w.get("encoder.distance.weight")
    rows = []
    found: list[list[Tensor]] = [[] for _ in x]
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(len(x)):
            q_i = linear(w, f"{at}.query", query[i])[own]
            scores = []
            for j in range(len(x)):
                k_j = (w[f"{at}.key.weight"] @ x[j])[own]
                score = (q_i * k_j).sum()
                if P is not None and "c2p" in terms:
                    k_r = (w[f"{at}.position_key.weight"] @ P[distance(i, j, k)])[own]
                    score = score + (q_i * k_r).sum()
                if P is not None and "p2c" in terms:
                    pair = (j, i) if config.p2c_as_in_paper else (i, j)
                    q_r = linear(w, f"{at}.position_query", P[distance(*pair, k)])[own]
                    score = score + (k_j * q_r).sum()
                scores.append(score / math.sqrt((1 + len(terms)) * size))
            weights = shares(scores)
            values = [linear(w, f"{at}.value", one)[own] for one in x]
            found[i].append(
                torch.stack([a * v for a, v in zip(weights, values, strict=True)]).sum(0)
            )
            rows.append(torch.stack(weights))
    outputs = [linear(w, f"{at}.output", torch.cat(one)) for one in found]
    return outputs, torch.stack(rows).unflatten(0, (heads, len(x)))


def layer(
    w: Weights, at: str, query: Sequence[Tensor], x: Sequence[Tensor], config: Any
) -> tuple[list[Tensor], Tensor]:
    """A layer whose queries come from one place and its keys and values from another."""
    eps = config.layer_norm_eps
    found, seen = attention(w, f"{at}.attention", query, x, config)
    out = []
    for before, change in zip(query, found, strict=True):
        one = norm(w, f"{at}.attention_residual.norm", before + change, eps)
        inner = activation(config.hidden_act, linear(w, f"{at}.feed_forward.intermediate", one))
        change = linear(w, f"{at}.feed_forward.output", inner)
        out.append(norm(w, f"{at}.feed_forward_residual.norm", one + change, eps))
    return out, seen


def sequence(
    w: Weights, config: Any, words: Sequence[Tensor]
) -> tuple[list[list[Tensor]], list[Tensor]]:
    """The state of each place, layer by layer, and each layer's weights.

    Args:
        words: each token's embedding. Segments and absolute places are not for this form.
    """
    states = [[norm(w, "embeddings.norm", word, config.layer_norm_eps) for word in words]]
    weights = []
    for number in range(config.num_hidden_layers):
        x = states[-1]
        x, seen = layer(w, f"encoder.layers.{number}", x, x, config)
        states.append(x)
        weights.append(seen)
    return states, weights


def decoded(
    w: Weights, positions: Sequence[Tensor], config: Any, hidden: Sequence[Tensor]
) -> tuple[list[list[Tensor]], list[Tensor]]:
    """What the two steps of the enhanced mask decoder give (section 3.2), and their weights.

    Args:
        positions: the absolute ones' embeddings, of these places.
        hidden: what went into the encoder's last layer.
    """
    last = f"encoder.layers.{config.num_hidden_layers - 1}"
    query = [h + position for h, position in zip(hidden, positions, strict=True)]
    states, weights = [], []
    for _ in range(2):
        query, seen = layer(w, last, query, hidden, config)
        states.append(query)
        weights.append(seen)
    return states, weights


def scores(w: Weights, config: Any, state: Tensor) -> Tensor:
    """A masked token's scores, from its place's state."""
    x = activation(config.hidden_act, linear(w, "predictions.dense", state))
    x = norm(w, "predictions.norm", x, config.layer_norm_eps)
    return w["bert.embeddings.word.weight"] @ x + w["predictions.bias"]


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """KL(p ‖ q) + KL(q ‖ p) of two rows of scores."""
    p, q = shares(list(one)), shares(list(other))
    total = 0 * one[0]
    for a, b in zip(p, q, strict=True):
        total = total + a * torch.log(a / b) + b * torch.log(b / a)
    return total


def squared_error(one: Tensor, other: Tensor) -> Tensor:
    """The mean squared difference of two rows of numbers."""
    total = 0 * one[0]
    for a, b in zip(one, other, strict=True):
        total = total + (a - b) ** 2 / len(one)
    return total


def sift(
    predict: Callable[[list[Tensor]], Tensor],
    words: Sequence[Tensor],
    start: Sequence[Tensor],
    step: float,
    distance: Callable[[Tensor, Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """SiFT's loss of one text (section 4), and the scores from its normalized words.

    Args:
        words: their embeddings.
        start: δ₀ of each.
        step: how far it goes.
        distance: `divergence` or `squared_error`.
    """
    x = []
    for word in words:
        mean = word.sum() / len(word)
        spread = ((word - mean) ** 2).sum() / len(word)
        x.append((word - mean) / torch.sqrt(spread + 1e-7))
    clean = predict(x)
    fixed = clean.detach()
    first = [one.detach().clone().requires_grad_() for one in start]
    moved = predict([a.detach() + b for a, b in zip(x, first, strict=True)])
    slopes = torch.autograd.grad(distance(moved, fixed), first)
    delta = []
    for one, slope in zip(first, slopes, strict=True):
        steepest = max(abs(float(number)) for number in slope)
        delta.append((one + step * slope / (steepest + 1e-6)).detach())
    moved = predict([a + b for a, b in zip(x, delta, strict=True)])
    return distance(moved, clean), clean
