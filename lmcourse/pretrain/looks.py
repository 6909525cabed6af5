"""How a training is watched by its own objective, on examples that it does not learn from."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from lmcourse.pretrain import words
from lmcourse.pretrain.held_out import HeldOut
from lmcourse.training.examples import Example, length_of, padded
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of

SIZE = 50  # examples in a batch


def loss_of(
    objective: Callable[[nn.Module], Objective], examples: Sequence[Example], size: int = SIZE
) -> HeldOut:
    """The mean of the objective's loss over all predictions, as a function of the network.

    What the objective draws, such as negative samples, is the same at each look.
    """
    ordered = sorted(examples, key=length_of)
    parts = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    batches = [padded(part, words.PAD) for part in parts]

    @torch.no_grad()
    def loss(network: nn.Module) -> float:
        asked, total, predictions = objective(network), 0.0, 0.0
        for number, batch in enumerate(batches):
            mean, weight = asked(batch, generator_of(number))
            total, predictions = total + mean.item() * weight, predictions + weight
        return total / predictions

    return loss
