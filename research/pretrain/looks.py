"""How a training is watched by its own objective, on examples that it does not learn from."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from lmcourse.tokenizers import words
from lmcourse.training.examples import Example, length_of, padded
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of
from research.pretrain.held_out import HeldOut

SIZE = 50  # examples in a batch


def loss_of(
    objective: Callable[[nn.Module], Objective], examples: Sequence[Example], size: int = SIZE
) -> HeldOut:
    """The objective's loss, each term the mean over all predictions, as a function of the network.

    What the objective draws, such as negative samples, is the same at each look.
    """
    ordered = sorted(examples, key=length_of)
    parts = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    batches = [padded(part, words.PAD) for part in parts]

    @torch.no_grad()
    def loss(network: nn.Module) -> float:
        asked, looks = objective(network), []
        for number, batch in enumerate(batches):
            terms = asked(batch, generator_of(number))
            looks.append([(mean.item() * count, count) for mean, count in terms])
        sums = [map(sum, zip(*term, strict=True)) for term in zip(*looks, strict=True)]
        return sum(total / (count or 1) for total, count in sums)

    return loss
