"""The training loop in its plain form: zero_grad, backward, clip, step.

`fit` is enough to train a model in one session and one process. Resuming from checkpoints,
accumulating gradients, early stopping and several processes are the business of
`lmcourse.training.train`, which takes the same steps.

Both take *losses*, an iterable that computes each loss when the loop requests it. What a batch is,
and what passes from one batch to the next, is the iterable's business: `window_losses` carries a
recurrent state; `lmcourse.training.BatchLosses` masks tokens or runs a teacher.
"""

import signal
import threading
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from lmcourse.models.recurrent import detached
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.training.checks import (
    check_finite,
    check_parts,
    check_taken,
    gradient_norm,
    single_loss,
)
from lmcourse.training.watching import Watch, watching

Terms = list[tuple[Tensor, int | float]]
"""Means over predictions of different kinds, each with their number; the loss is their sum."""
Loss = Tensor | tuple[Tensor, int | float] | Terms
"""The mean loss over some predictions, alone or with their number; or the terms of a loss."""


@dataclass
class History:
    """What each step recorded: the loss (nats), and the gradient's norm before clipping."""

    losses: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)

    def record(self, loss: float, norm: float) -> None:
        """Append a step."""
        self.losses.append(loss)
        self.gradient_norms.append(norm)


def fit(
    model: nn.Module,
    losses: Iterable[Loss],
    *,
    learning_rate: float = 2e-3,
    clip: float | None = 1.0,
    optimizer: Optimizer | None = None,
    scheduler: LRScheduler | None = None,
    watch: Watch = "line",
) -> History:
    """Take one optimization step for each loss.

    Ctrl-C ends the training after the current step: the model keeps what it has learned.

    Args:
        model: trained in place; only the parameters that the ``optimizer`` has change.
        losses: scalar tensors, each computed from the current parameters; or pairs of such a mean
            and the number of predictions in it; or lists of such pairs, whose means are summed.
        learning_rate: of Adam (Kingma and Ba 2015), if no ``optimizer`` is given.
        clip: the maximal norm of the gradient (Pascanu et al. 2013); None: no clipping.
        optimizer, scheduler: PyTorch's, in place of Adam at a constant rate.
        watch: what is displayed meanwhile: "line", "log" or "nothing".

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        CourseError: a loss or a gradient is not finite (the step is not taken), no loss depends on
            a trained parameter, or there are no losses.
    """
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=learning_rate)
    parameters = check_parts(model, optimizer, scheduler)
    history, steps = History(), len(losses) if isinstance(losses, Sized) else None
    model.train()
    with interruptible() as interrupt, watching(watch, history, steps) as watcher:
        for step, computed in enumerate(losses):
            loss = single_loss(computed, step)
            optimizer.zero_grad()
            loss.backward()
            norm = gradient_norm(parameters, step)
            check_finite(model, step, loss.item(), norm.item())
            if clip is not None:
                nn.utils.clip_grads_with_norm_(parameters, clip, norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
            history.record(loss.item(), norm.item())
            watcher.tick()
            if interrupt.pressed:
                break
    check_taken(history.losses)
    return history


def window_losses(
    model: RNNLanguageModel, windows: Iterable[tuple[Tensor, Tensor]]
) -> Iterator[Tensor]:
    """The losses of successive windows: the state crosses their boundaries, the gradient does not.

    Args:
        windows: pairs (input_ids, labels), each [batch, time], from `lmcourse.corpus.windows`.
    """
    state = None
    for input_ids, labels in windows:
        result = model(input_ids=input_ids, labels=labels, state=state)
        state = detached(result.state)  # regular truncation, one window long
        assert result.loss is not None  # there were labels
        yield result.loss


class Interrupt:
    """Whether Ctrl-C was pressed, so that a training is to end after this step."""

    pressed = False


@contextmanager
def interruptible(single_process: bool = True) -> Iterator[Interrupt]:
    """Defer the first Ctrl-C to the end of the block; let the second one through.

    Python raises `KeyboardInterrupt` wherever it happens to be: between the loss of a step and its
    gradient, or while an optimizer has updated half of its parameters.

    Only Python's default handler is replaced, and it is restored at the end: other threads than
    the main one have none, and a program with its own handler keeps it. Several processes would
    each end after another step, and wait for each other: they are interrupted at once.

    Raises:
        KeyboardInterrupt: at the end of the block, if Ctrl-C was pressed in it.
    """
    interrupt = Interrupt()
    main = threading.current_thread() is threading.main_thread()
    default = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not (single_process and default):
        yield interrupt
        return

    def defer(number: int, frame: FrameType | None) -> None:
        interrupt.pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, defer)
    try:
        yield interrupt
    except Exception as error:
        if interrupt.pressed:  # whoever handles the error must not swallow the interrupt
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupt.pressed:
        raise KeyboardInterrupt
