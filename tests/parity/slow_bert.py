"""BERT once more, straight from the equations: one sequence, one place, one head at a time.

It is what the slow forms of models that stand on BERT have in common. Nothing here is shared with
the models but the names of their weights. Each place is told which places it sees, so there is no
padding and no mask. Everything is a torch operation on one place's numbers, so that autograd gives
exact gradients that owe nothing to the models.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]


def copied(model: torch.nn.Module) -> dict[str, Tensor]:
    """A model's weights by name, each a leaf of its own."""
    return {n: p.detach().clone().requires_grad_() for n, p in model.named_parameters()}


def linear(w: Weights, at: str, x: Tensor) -> Tensor:
    return w[f"{at}.weight"] @ x + w[f"{at}.bias"]


def norm(w: Weights, at: str, x: Tensor, eps: float) -> Tensor:
    mean = x.sum() / len(x)
    spread = ((x - mean) ** 2).sum() / len(x)
    return w[f"{at}.weight"] * (x - mean) / torch.sqrt(spread + eps) + w[f"{at}.bias"]


def activation(name: str, x: Tensor) -> Tensor:
    if name == "relu":
        return torch.where(x > 0, x, torch.zeros_like(x))
    if name == "gelu":
        return x * (1 + torch.erf(x / math.sqrt(2))) / 2
    assert name == "gelu_new"
    return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def shares(scores: Sequence[Tensor]) -> list[Tensor]:
    """The softmax: each one's part in the sum of the exponentials."""
    exponentials = [torch.exp(score) for score in scores]
    total = sum(exponentials[1:], exponentials[0])
    return [one / total for one in exponentials]


def attention(
    w: Weights, at: str, x: Sequence[Tensor], added: Sequence[Sequence[float]], heads: int
) -> tuple[list[Tensor], Tensor]:
    """What each place found, and the weights, (head, query, key).

    Args:
        added: a number for each query and key that is added to the score: −∞ hides the key.
    """
    q, k, v = ([linear(w, f"{at}.{name}", one) for one in x] for name in ("query", "key", "value"))
    size = len(q[0]) // heads
    found: list[list[Tensor]] = [[] for _ in x]
    rows = []
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(len(x)):
            products = [(q[i][own] * k[j][own]).sum() for j in range(len(x))]
            weights = shares(
                [
                    product / math.sqrt(size) + extra
                    for product, extra in zip(products, added[i], strict=True)
                ]
            )
            found[i].append(sum((a * v[j][own] for j, a in enumerate(weights)), 0 * v[0][own]))
            rows.append(torch.stack(weights))
    outputs = [linear(w, f"{at}.output", torch.cat(one)) for one in found]
    return outputs, torch.stack(rows).unflatten(0, (heads, len(x)))


def sequence(
    w: Weights,
    config: Any,
    ids: Sequence[int],
    positions: Sequence[int],
    segments: Sequence[int],
    added: Sequence[Sequence[float]] | None = None,
) -> tuple[list[list[Tensor]], list[Tensor]]:
    """One sequence of tokens: the state of each place, layer by layer, and each layer's weights.

    Args:
        w: the weights of a `Bert`, by name.
        config: its configuration.
        positions, segments: of each token.
        added: see `attention`; None: every place sees every other.
    """
    eps, act = config.layer_norm_eps, config.hidden_act
    if added is None:
        added = [[0.0] * len(ids)] * len(ids)
    x = []
    for token, position, segment in zip(ids, positions, segments, strict=True):
        word = w["embeddings.word.weight"][token]
        if token == config.pad_token_id:
            word = word.detach()  # it does not learn from being read
        one = word + w["embeddings.position.weight"][position]
        if config.type_vocab_size:
            one = one + w["embeddings.segment.weight"][segment]
        x.append(norm(w, "embeddings.norm", one, eps))
    states, weights = [x], []
    for number in range(config.num_hidden_layers):
        at = f"encoder.layers.{number}"
        found, seen = attention(w, f"{at}.attention", x, added, config.num_attention_heads)
        x = [
            norm(w, f"{at}.attention_residual.norm", one + change, eps)
            for one, change in zip(x, found, strict=True)
        ]
        changes = [
            linear(
                w,
                f"{at}.feed_forward.output",
                activation(act, linear(w, f"{at}.feed_forward.intermediate", one)),
            )
            for one in x
        ]
        x = [
            norm(w, f"{at}.feed_forward_residual.norm", one + change, eps)
            for one, change in zip(x, changes, strict=True)
        ]
        states.append(x)
        weights.append(seen)
    return states, weights


def below(w: Weights, part: str = "bert.") -> dict[str, Tensor]:
    """The weights of the model below a head, under their names there."""
    return {name.removeprefix(part): tensor for name, tensor in w.items() if name.startswith(part)}


def cost(scores: Tensor, target: int) -> Tensor:
    """−log of the target's share in the exponentials."""
    return torch.log(torch.exp(scores).sum()) - scores[target]
