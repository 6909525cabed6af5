"""A training on some words of a text and on nothing else, as two of the benchmarks ask for it."""

from collections.abc import Iterable
from statistics import fmean
from typing import Any

LAST = 30  # steps whose loss is told


def learned(recipe: Any, model: Any, batches: Iterable[tuple[Any, Any, Any]]) -> float:
    """The loss in nats at the end of a training by a recipe's optimizer; it changes the model.

    Args:
        batches: (``input_ids``, ``attention_mask``, ``labels``), one a step. Where each is read
            once, it is a loss on texts that were not learned from.
    """
    from torch import nn

    optimizer, told = recipe.optimizer(model.train()), []
    for ids, mask, labels in batches:
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.budget.clip)
        optimizer.step()
        told.append(loss.item())
    return fmean(told[-LAST:])
