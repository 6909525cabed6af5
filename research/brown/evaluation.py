"""log p of every word of a split, from each kind of model, and what follows from it.

All models predict the same words, none is left out. The first words of a split are predicted from
the last ones of the split before it, so no word lacks the context that its model can read.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from research.brown.kneser_ney import KneserNey
from research.brown.networks import Network
from research.brown.softmax import log_p

AT_ONCE = 2048  # words that are read in a batch of windows
WEIGHTS = [step / 20 for step in range(21)]
"""Those of the network in a mixture, of which validation chooses."""


def of_ngram(
    model: KneserNey, ids: Int[Tensor, " words"], start: int, end: int
) -> Float[Tensor, " predicted"]:
    """log p of the words from ``start`` to ``end``, each from the ``context`` words before it."""
    words = ids[start - max(model.context, 1) : end].tolist()
    return model.probabilities(words)[-(end - start) :].log()


@torch.no_grad()
def of_network(
    network: Network, ids: Int[Tensor, " words"], start: int, end: int
) -> Float[Tensor, " predicted"]:
    """log p of the words from ``start`` to ``end``, each from at least the network's scope.

    Beyond the end of the corpus, its last word is repeated for a network that reads on.
    """
    before, count, after = network.scope
    ids = torch.cat([ids, ids[-1:].expand(after)])
    starts = list(range(start, end, count))
    rows = max(1, AT_ONCE // (before + count + after))
    found = []
    while starts:
        # All windows but the last are of the same length.
        size = min(count, end - starts[0])
        batch = [at for at in starts[:rows] if min(count, end - at) == size]
        windows = torch.stack([ids[at - before : at + size + after] for at in batch])
        features = network.scored(windows, size).flatten(0, 1)
        words = torch.stack([ids[at : at + size] for at in batch]).flatten()
        found.append(log_p(features, network.weight, network.bias, words))
        starts = starts[len(batch) :]
    return torch.cat(found).double()


def perplexity(log_probabilities: Float[Tensor, " predicted"]) -> float:
    """exp of the mean −log p: the geometric mean of 1 / p, as in the paper."""
    return math.exp(-log_probabilities.double().mean().item())


def mixed(
    network: Float[Tensor, " predicted"], ngram: Float[Tensor, " predicted"], weight: float
) -> Float[Tensor, " predicted"]:
    """log p of the mixture of two models' probabilities.

    Args:
        weight: of the first; the rest is the second's.
    """
    return torch.log(weight * network.double().exp() + (1 - weight) * ngram.double().exp())


def best_weight(network: Tensor, ngram: Tensor, weights: Sequence[float] = WEIGHTS) -> float:
    """The weight with which a mixture has the lowest perplexity, on validation."""
    return min(weights, key=lambda weight: perplexity(mixed(network, ngram, weight)))
