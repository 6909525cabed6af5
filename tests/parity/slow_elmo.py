"""ELMo once more, straight from the equations: one word, one step, one filter at a time.

Nothing here is shared with the model but the names of its weights. Sequences come one by one and
without padding; each direction is a walk over the places. Everything is a torch operation on one
place's numbers, so that autograd gives exact gradients that owe nothing to the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class SlowResult:
    """One sequence: for each place its vectors, layer by layer, and both predictions.

    Attributes:
        layers: (layer, time, 2 · width).
        forward, backward: (time, vocab) scores of the next and of the previous word.
    """

    layers: Tensor
    forward: Tensor
    backward: Tensor


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


def tanh(x: Tensor) -> Tensor:
    return 2 * sigmoid(2 * x) - 1


def larger(a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a > b, a, b)


def limited(x: Tensor, limit: float | None) -> Tensor:
    """x between −limit and limit."""
    if limit is None:
        return x
    x = torch.where(x > limit, torch.full_like(x, limit), x)
    return torch.where(x < -limit, torch.full_like(x, -limit), x)


def word(w: Weights, characters: Sequence[int], activation: str) -> Tensor:
    """A word's vector from its characters' ids (Kim et al. 2015, eq. 5, 6 and 8)."""
    found = []
    for number in range(sum(name.endswith("weight") and "convol" in name for name in w)):
        F = w[f"tokens.convolutions.{number}.weight"]  # (filter, embedding, width)
        b = w[f"tokens.convolutions.{number}.bias"]
        width = F.shape[2]
        for one, bias in zip(F, b, strict=True):
            best = None
            for i in range(len(characters) - width + 1):
                score = bias
                for step in range(width):
                    vector = w["tokens.embedding.weight"][characters[i + step]]
                    score = score + (one[:, step] * vector).sum()
                score = tanh(score) if activation == "tanh" else larger(score, 0 * score)
                best = score if best is None else larger(best, score)
            assert best is not None
            found.append(best)
    y = torch.stack(found)
    for number in range(sum(name.endswith("gate.weight") for name in w)):
        at = f"tokens.highway.{number}"
        T = sigmoid(w[f"{at}.gate.weight"] @ y + w[f"{at}.gate.bias"])
        new = w[f"{at}.transform.weight"] @ y + w[f"{at}.transform.bias"]
        y = T * larger(new, 0 * new) + (1 - T) * y
    return w["tokens.projection.weight"] @ y + w["tokens.projection.bias"]


def walk(
    w: Weights, at: str, inputs: list[Tensor], cell_clip: float | None, clip: float | None
) -> list[Tensor]:
    """One LSTM over the places in the order in which they are given."""
    U, W, b, P = (w[f"{at}.{name}"] for name in "UWbP")
    size = P.shape[1]
    h, c = P.new_zeros(P.shape[0]), P.new_zeros(size)
    outputs = []
    for x in inputs:
        gates = U @ x + W @ h + b
        i, f, g, o = (gates[k * size : (k + 1) * size] for k in range(4))
        c = limited(sigmoid(f) * c + sigmoid(i) * tanh(g), cell_clip)
        h = limited(P @ (sigmoid(o) * tanh(c)), clip)
        outputs.append(h)
    return outputs


def sequence(w: Weights, ids: Sequence[Any], config: Any) -> SlowResult:
    """One sequence of words' ids, or of lists of their characters' ids.

    Args:
        w: the weights of an `ElmoForPreTraining`, by name.
        config: its configuration.
    """
    below = {name.removeprefix("elmo."): tensor for name, tensor in w.items()}
    if config.characters is None:
        tokens = [below["tokens.weight"][one] for one in ids]
    else:
        tokens = [word(below, one, config.characters.activation) for one in ids]
    layers = [[torch.cat([x, x]) for x in tokens]]
    left, right = tokens, tokens
    for number in range(config.bilm.num_hidden_layers):
        clips = config.bilm.cell_clip, config.bilm.projection_clip
        new_left = walk(below, f"bilm.forward_direction.layers.{number}", left, *clips)
        back = walk(below, f"bilm.backward_direction.layers.{number}", right[::-1], *clips)
        new_right = back[::-1]
        if number > 0:
            new_left = [a + x for a, x in zip(new_left, left, strict=True)]
            new_right = [a + x for a, x in zip(new_right, right, strict=True)]
        left, right = new_left, new_right
        layers.append([torch.cat([a, b]) for a, b in zip(left, right, strict=True)])
    matrix, bias = w["softmax.weight"], w["softmax.bias"]
    return SlowResult(
        torch.stack([torch.stack(layer) for layer in layers]),
        torch.stack([matrix @ a + bias for a in left]),
        torch.stack([matrix @ b + bias for b in right]),
    )


def cost(scores: Tensor, target: int) -> Tensor:
    """−log of the target's share in the exponentials."""
    return torch.log(torch.exp(scores).sum()) - scores[target]


def loss(results: Sequence[SlowResult], words: Sequence[Sequence[int | None]]) -> Tensor:
    """The mean over all predictions: of each word from the place before it, and the one behind.

    Args:
        words: each sequence's words; None where no word is to be predicted.
    """
    costs = []
    for result, sentence in zip(results, words, strict=True):
        for k, target in enumerate(sentence):
            if target is not None and k > 0:
                costs.append(cost(result.forward[k - 1], target))
            if target is not None and k + 1 < len(sentence):
                costs.append(cost(result.backward[k + 1], target))
    return torch.stack(costs).mean() if costs else torch.zeros(())


def mix(w: Tensor, gamma: Tensor, layers: Tensor, normalized: bool) -> Tensor:
    """γ Σ_j s_j h_j of one sequence (eq. 1)."""
    exponentials = [torch.exp(one) for one in w]
    total = sum(exponentials[1:], exponentials[0])
    found = torch.zeros_like(layers[0])
    for share, layer in zip(exponentials, layers, strict=True):
        if normalized:
            mean = layer.mean(-1, keepdim=True)
            spread = ((layer - mean) ** 2).mean(-1, keepdim=True)
            layer = (layer - mean) / torch.sqrt(spread + 1e-5)
        found = found + share / total * layer
    return gamma * found
