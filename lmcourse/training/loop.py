"""The training loop: loss, gradient, clip, step.

The loop takes *losses*, an iterator that computes each loss when it is asked for the next one. What
a batch is, and what passes from one batch to the next, is the iterator's business: `window_losses`
carries a recurrent state; `lmcourse.training.batches` masks tokens or asks a teacher.

A loss may come with its weight: the number of predictions that it is the mean of. Then the gradient
of a step is that of the mean over all predictions of its losses together, whether these losses were
computed one after the other (``accumulate``) or by several processes
(`lmcourse.training.distributed`). A mean of means would be another gradient: a batch with few
predictions would count as much as one with many.
"""

from collections.abc import Iterable, Iterator, Sized
from contextlib import nullcontext

import torch
from torch import Tensor, nn

from lmcourse.models.recurrent import detached
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.training.agreement import (
    check_arguments,
    check_parts,
    check_predictions,
    check_step,
    check_taken,
    checked_loss,
)
from lmcourse.training.checkpoints import Checkpoints
from lmcourse.training.distributed import Processes
from lmcourse.training.interrupts import interruptible
from lmcourse.training.precision import Precision, Scaled
from lmcourse.training.run import History, Run, whole
from lmcourse.training.stopping import EarlyStopping
from lmcourse.training.watching import Watch, watching

__all__ = ["History", "Loss", "train", "window_losses"]

Loss = Tensor | tuple[Tensor, int | float]
"""The mean loss of some predictions, alone or with their number."""


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
    losses: Iterable[Loss],
    *,
    learning_rate: float = 2e-3,
    clip: float | None = 1.0,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    accumulate: int = 1,
    precision: Precision = "float32",
    checkpoints: Checkpoints | None = None,
    stop: EarlyStopping | None = None,
    watch: Watch = "line",
) -> History:
    """Take one optimization step for each loss, or for so many of them.

    Args:
        model: its parameters are trained, or those of them that the ``optimizer`` has.
        losses: scalar tensors, each computed from the parameters as they are at that moment; or
            pairs of such a mean and the number of predictions in it.
        learning_rate: of Adam (Kingma and Ba 2015), if no ``optimizer`` is given.
        clip: the largest norm that the gradient of the trained parameters may have (Pascanu et al.
            2013); None: no clipping.
        optimizer, scheduler: PyTorch's own, in place of Adam at a constant rate.
        accumulate: how many losses make one step. What is left over at the end makes none.
        precision: "float32"; or "bfloat16" or "float16", in which losses are computed where it is
            safe (mixed precision: the parameters stay in float32; Micikevicius et al. 2018).
        checkpoints: where the run is kept, and taken up from if it is there. A run that is there
            to its end is not repeated: its history comes back at once.
        stop: when to stop early; the best parameters are the model's in the end.
        watch: "line", "plot" or "nothing": what a reader sees of it meanwhile.

    Raises:
        KeyboardInterrupt: someone pressed Ctrl-C. The step was finished first, and kept if there
            are checkpoints: the same call goes on from there. The second time, it is not.
        CourseError: a loss or a gradient is not finite, or a step has no predictions (that step is
            not taken); no loss reaches a parameter that is trained, or no step was taken at all;
            the arguments do not belong together; or what `Checkpoints`, `EarlyStopping` or the
            precision refuse.
    """
    more = {"accumulate": accumulate, "clip": clip, "checkpoints": checkpoints, "stop": stop}
    check_arguments(losses, optimizer, scheduler, **more)
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=learning_rate)
    history, scaled, processes = History(), Scaled(model, precision), Processes(model)
    settings = {"clip": clip, "accumulate": accumulate, "precision": precision}
    run = Run(model, optimizer, scheduler, losses, scaled, stop, history, processes, settings)
    check_parts(run)
    if stop:
        stop.begin()
    model.train()
    kept = checkpoints.keeping(run) if checkpoints else nullcontext()
    steps = len(losses) // accumulate if isinstance(losses, Sized) else None
    alone = processes.count == 1
    with interruptible(alone) as interrupt, kept, watching(watch, history, steps) as watcher:
        stream = iter(losses)
        while not (interrupt.came or (stop and stop.now)):
            # 1. The gradient of the mean loss over all predictions of this step.
            if checkpoints:
                run.begin_step()
            optimizer.zero_grad()
            loss = _backward(run, stream)
            if loss is None:
                break
            # 2. Its length, and a shorter one where it is too long.
            scaled.unscale(optimizer)
            gradients = [p.grad for p in run.parameters if p.grad is not None]
            norm = whole(nn.utils.get_total_norm(gradients))
            length = norm.item()
            check_step(run, loss, length, gradients, checkpoints)
            if clip is not None:
                nn.utils.clip_grads_with_norm_(run.parameters, clip, norm)
            # 3. The step.
            if scaled.step(optimizer) and scheduler is not None:
                scheduler.step()
            # 4. What is kept and shown of it.
            run.end_step(loss, length)
            watcher.tick()
            if stop:
                stop.after(run.step, run.module, processes)
            if checkpoints:
                checkpoints.after(run)
        if stop and not interrupt.came:
            stop.after(run.step, run.module, processes, last=True)
    if stop:
        stop.restore(run.module)
    interrupt.pass_on()
    check_taken(run)
    return history


def _backward(run: Run, stream: Iterator[Loss]) -> float | None:
    """Leave the gradient of a step's mean loss in the parameters.

    Returns:
        That loss; None if there are not enough losses left for a step.
    """
    scaled, processes, accumulate = run.scaled, run.processes, run.settings["accumulate"]
    alone = accumulate == processes.count == 1
    total = predictions = 0.0
    for at in range(accumulate):
        with processes.together(last=at == accumulate - 1):
            with scaled.computing():
                loss = next(stream, None)
            if loss is None:
                return None
            mean, weight = checked_loss(loss, run.step)
            if alone and weight > 0:  # the only loss of its step needs no weight
                scaled.backward(mean)
                return mean.item()
            scaled.backward(mean * weight)
        total += mean.item() * weight
        predictions += weight
    total, predictions = processes.summed([total, predictions])
    check_predictions(run, predictions)
    for parameter in run.parameters:
        if parameter.grad is not None:
            # Processes exchange the mean of their gradients, and their sum is wanted.
            parameter.grad.mul_(processes.count / predictions)
    return total / predictions
