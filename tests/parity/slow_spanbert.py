"""SpanBERT's two tasks once more, straight from the equations: one span, one token at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.parity import slow_bert as slow

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class SlowResult:
    """One sequence.

    Attributes:
        states, weights: as `slow_bert.sequence` has them.
        logits: each place's scores of all tokens.
        boundary_logits: the scores of those places that are told from their span's boundaries.
    """

    states: list[list[Tensor]]
    weights: list[Tensor]
    logits: list[Tensor]
    boundary_logits: dict[int, Tensor]


def layer(w: Weights, at: str, x: Tensor, config: Any) -> Tensor:
    """LayerNorm(GELU(W x + b))."""
    x = slow.activation(config.hidden_act, slow.linear(w, f"{at}.dense", x))
    return slow.norm(w, f"{at}.norm", x, config.layer_norm_eps)


def scores(w: Weights, at: str, x: Tensor) -> Tensor:
    embeddings = w["bert.embeddings.word.weight"]
    return torch.stack([(e * x).sum() for e in embeddings]) + w[f"{at}.bias"]


def sequence(
    w: Weights,
    config: Any,
    ids: Sequence[int],
    positions: Sequence[int],
    segments: Sequence[int],
    spans: Sequence[tuple[int, int]],
) -> SlowResult:
    """One sequence and its spans, each from its first place s to its last, e.

    Args:
        w: the weights of a `SpanBertForPreTraining`, by name.
    """
    states, weights = slow.sequence(slow.below(w), config, ids, positions, segments)
    x = states[-1]
    logits = [scores(w, "predictions", layer(w, "predictions", one, config)) for one in x]
    told = {}
    for s, e in spans:
        for i in range(s, e + 1):
            step = i - s + 1
            if step > config.max_span_length:
                continue
            p = w["span_boundary.position.weight"][step - 1]  # p₁, p₂, … from row 0
            h = torch.cat([x[s - 1], x[e + 1], p])
            h = layer(w, "span_boundary", h, config)
            y = layer(w, "span_boundary.predictions", h, config)
            told[i] = scores(w, "span_boundary.predictions", y)
    return SlowResult(states, weights, logits, told)


def losses(
    results: Sequence[SlowResult],
    targets: Sequence[Mapping[int, int]],
) -> tuple[Tensor, Tensor]:
    """The masked tokens' mean loss from their own states, and from the boundaries.

    Args:
        targets: each sequence's masked places, and the tokens that belong there.
    """
    own, told = [], []
    for result, masked in zip(results, targets, strict=True):
        own += [slow.cost(result.logits[i], token) for i, token in masked.items()]
        told += [slow.cost(one, masked[i]) for i, one in result.boundary_logits.items()]
    return torch.stack(own).mean(), torch.stack(told).mean()
