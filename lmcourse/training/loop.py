"""The training loop: loss, gradient, clip, step.

The loop takes *losses*, an iterator that computes each loss when it is asked for the next one. What
a batch is, and what passes from one batch to the next, is the iterator's business: `window_losses`
carries a recurrent state; later chapters mask tokens or ask a teacher.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.recurrent import detached
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.training.ticker import Ticker


@dataclass
class History:
    """What happened at each step: loss (nats), and the gradient's norm before clipping."""

    losses: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)


def window_losses(
    model: RNNLanguageModel, windows: Iterable[tuple[Tensor, Tensor]]
) -> Iterator[Tensor]:
    """Read windows in order: the state crosses from one to the next, the gradient does not.

    Args:
        windows: pairs (input_ids, labels), each [batch, time], as `lmcourse.corpus.windows` gives.
    """
    state = None
    for input_ids, labels in windows:
        result = model(input_ids=input_ids, labels=labels, state=state)
        state = detached(result.state)  # regular truncation: one window long
        assert result.loss is not None  # there were labels
        yield result.loss


def train(
    model: nn.Module,
    losses: Iterable[Tensor],
    *,
    learning_rate: float = 2e-3,
    clip: float | None = 1.0,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> History:
    """Take one optimization step for each loss.

    Args:
        model: its parameters are trained.
        losses: scalar tensors, each computed from the parameters as they are at that moment.
        learning_rate: of Adam (Kingma and Ba 2015), if no ``optimizer`` is given.
        clip: the largest gradient norm that is allowed (Pascanu et al. 2013); None: no clipping.
        optimizer, scheduler: PyTorch's own, in place of Adam at a constant rate.

    Raises:
        CourseError: a loss or a gradient is not finite. That step is not taken.
    """
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=learning_rate)
    history, ticker = History(), Ticker()
    model.train()
    for step, loss in enumerate(losses):
        optimizer.zero_grad()
        loss.backward()
        largest = math.inf if clip is None else clip
        norm = nn.utils.clip_grad_norm_(model.parameters(), largest)
        if not (math.isfinite(loss.item()) and math.isfinite(norm.item())):
            raise CourseError(
                f"Step {step} has a loss of {loss.item():.3g} and a gradient of norm "
                f"{norm.item():.3g}.",
                "Lower the learning rate or the clipping norm. This step was not taken: the model "
                "keeps the parameters that it had before.",
            )
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        history.losses.append(loss.item())
        history.gradient_norms.append(norm.item())
        ticker.tick(step, loss.item())
    if history.losses:
        ticker.end(len(history.losses), history.losses[-1])
    return history
