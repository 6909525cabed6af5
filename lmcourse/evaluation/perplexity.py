"""Perplexity of a language model on held-out text."""

import math

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.corpus.windows import windows
from lmcourse.models.rnn import RNNLanguageModel


def perplexity(nats_per_token: float) -> float:
    """exp of the mean negative log-likelihood: the inverse probability, normalized by length."""
    return math.exp(nats_per_token)


@torch.no_grad()
def mean_negative_log_likelihood(
    model: RNNLanguageModel, ids: Int[Tensor, " tokens"], batch: int = 16, time: int = 64
) -> float:
    """The model's mean −log p of the next token over a text, in nats.

    The text is read as ``batch`` streams whose state is carried from window to window.
    """
    model.eval()
    state, total, count = None, 0.0, 0
    for input_ids, labels in windows(ids, batch, time, next(model.parameters()).device):
        result = model(input_ids=input_ids, labels=labels, state=state)
        state = result.state
        total += result.loss.item() * labels.numel()
        count += labels.numel()
    return total / count
