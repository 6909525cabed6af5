"""The loss on reviews that a model does not learn from, batch by batch: how a training is watched.

Masked models predict the same tokens as in gap tables: 15 % of a review's, all of them masked
at once. So the curve comes down towards BookWorld's masked floor, and a causal model's towards that
of language models.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.corpus.bookworld import Review
from lmcourse.corpus.bookworld.floors import hidden_positions
from lmcourse.models.inputs import IGNORED
from lmcourse.tokenizers import words
from lmcourse.training.examples import Batch, padded

HeldOut = Callable[[nn.Module], float]
"""The loss of a network, in evaluation mode and without gradients; see `EarlyStopping`."""

_SIZE = 50  # reviews in a batch


def masked(reviews: Sequence[Review], device: torch.device) -> HeldOut:
    """The mean of −log q over the hidden tokens, of a model with ``logits``."""
    batches = [
        {name: tensor.to(device) for name, tensor in hidden(batch, part).items()}
        for batch, part in _batches(reviews)
    ]

    def loss(network: nn.Module) -> float:
        return _mean(_nats_hidden(network, batch) for batch in batches)

    return loss


def causal(reviews: Sequence[Review], device: torch.device) -> HeldOut:
    """The mean of −log q over all tokens and the end, each given those before it."""
    batches = [
        {name: tensor.to(device) for name, tensor in batch.items()}
        for batch, _ in _batches(reviews)
    ]

    def loss(network: nn.Module) -> float:
        return _mean(_nats_after(network, batch) for batch in batches)

    return loss


def hidden(batch: Batch, reviews: Sequence[Review]) -> Batch:
    """The reviews of a batch with their hidden tokens masked, and these as labels."""
    ids, labels = batch["input_ids"].clone(), torch.full_like(batch["input_ids"], IGNORED)
    for row, review in enumerate(reviews):
        positions = torch.tensor(hidden_positions(review)) + 1  # after [CLS]
        labels[row, positions] = ids[row, positions]
        ids[row, positions] = words.MASK
    return {**batch, "input_ids": ids, "labels": labels}


def _batches(reviews: Sequence[Review]) -> Iterator[tuple[Batch, Sequence[Review]]]:
    """Reviews of like length together."""
    ordered = sorted(reviews, key=lambda review: len(review.ids))
    for start in range(0, len(ordered), _SIZE):
        part = ordered[start : start + _SIZE]
        yield padded(words.examples(part), words.PAD), part


def _nats_hidden(network: nn.Module, batch: Batch) -> tuple[float, int]:
    given = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return _nats(network(**given).logits, batch["labels"])


def _nats_after(network: nn.Module, batch: Batch) -> tuple[float, int]:
    ids = batch["input_ids"]
    labels = ids.masked_fill(batch["attention_mask"] == 0, IGNORED)
    return _nats(network(input_ids=ids).logits[:, :-1], labels[:, 1:])


def _nats(logits: Tensor, labels: Tensor) -> tuple[float, int]:
    """The sum of −log q, and over how many tokens it is."""
    chosen = labels != IGNORED
    nats = functional.cross_entropy(logits[chosen].float(), labels[chosen], reduction="sum")
    return nats.item(), int(chosen.sum())


def _mean(parts: Iterator[tuple[float, int]]) -> float:
    sums, counts = zip(*parts, strict=True)
    return sum(sums) / sum(counts)
