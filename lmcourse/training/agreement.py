"""What must agree before a training begins and at each of its steps, or it would learn nothing.

A cell of a notebook that is run again makes a new model, and its losses or its optimizer may still
be the old one's. PyTorch takes that without a word: the loss is shown, and nothing is learned.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from lmcourse.errors import CourseError
from lmcourse.models.inputs import whole_number
from lmcourse.training.batches import BatchLosses
from lmcourse.training.checkpoints import Checkpoints
from lmcourse.training.distributed import without_gradient
from lmcourse.training.run import Run, not_finite
from lmcourse.training.stopping import EarlyStopping

_KINDS = {
    "optimizer": (torch.optim.Optimizer, "torch.optim.Adam(model.parameters())"),
    "scheduler": (LRScheduler, "lmcourse.training.schedules.scheduled(optimizer, curve)"),
    "checkpoints": (Checkpoints, "Checkpoints(folder)"),
    "stop": (EarlyStopping, "EarlyStopping(evaluate, every=100)"),
}


def check_arguments(
    losses: Any,
    optimizer: Any,
    scheduler: Any,
    *,
    accumulate: Any,
    clip: Any,
    checkpoints: Any,
    stop: Any,
) -> None:
    """See that `lmcourse.training.train` is given what it asks for.

    Raises:
        CourseError: something is of another kind; or the scheduler is another optimizer's.
    """
    given = {
        "optimizer": optimizer,
        "scheduler": scheduler,
        "checkpoints": checkpoints,
        "stop": stop,
    }
    for name, (kind, example) in _KINDS.items():
        if given[name] is not None and not isinstance(given[name], kind):
            raise CourseError(
                f"{name}={given[name]!r:.60} is no {kind.__name__}.", f"Give {name}={example}."
            )
    if isinstance(losses, Tensor | nn.Module) or not isinstance(losses, Iterable):
        raise CourseError(
            f"A {type(losses).__name__} gives no losses one after the other.",
            "Give BatchLosses(objective, examples, epochs=1), or an iterator of your own.",
        )
    whole_number(accumulate, "accumulate", "training")
    if clip is not None and not (isinstance(clip, int | float) and clip > 0):
        raise CourseError(
            f"clip={clip!r} is no length that a gradient can be cut to.",
            "Give a number above 0; None does not clip.",
        )
    if scheduler is not None:
        _check_scheduler(scheduler, optimizer)


def _check_scheduler(scheduler: Any, optimizer: torch.optim.Optimizer | None) -> None:
    name = type(scheduler).__name__
    if isinstance(scheduler, ReduceLROnPlateau):
        raise CourseError(
            f"{name} asks for a score at each step, and steps have none.",
            "Give a schedule of lmcourse.training.schedules; to end the run when a score gets no "
            "better, give stop=EarlyStopping(…).",
        )
    if scheduler.optimizer is not optimizer:
        raise CourseError(
            f"The {name} moves the rate of another optimizer than the one that takes the steps.",
            "Give the optimizer that it was made with, too: train(…, optimizer=optimizer, "
            "scheduler=scheduler).",
        )


def check_parts(run: Run) -> None:
    """See that the parts of a run belong together.

    Raises:
        CourseError: they do not.
    """
    model = {id(parameter) for parameter in run.module.parameters()}
    if not any(id(parameter) in model for parameter in run.parameters):
        kind = type(run.module).__name__
        raise CourseError(
            f"The {type(run.optimizer).__name__} has no parameter of this {kind}: it would train "
            "another model.",
            "Build the optimizer from the parameters of this model: model.parameters().",
        )
    losses, place = run.losses, (run.processes.rank, run.processes.count)
    if isinstance(losses, BatchLosses) and (losses.rank, losses.count) != place:
        raise CourseError(
            f"The losses read share {losses.rank} of {losses.count} of each batch, and this is "
            f"process {place[0]} of {place[1]}.",
            "Build them after parallel(model), and leave their share= out.",
        )


def _check_exchange(run: Run, norm: float) -> None:
    """See that all processes have the same gradient, until one was finite."""
    count, rank = run.processes.count, run.processes.rank
    if count == 1 or run.exchanged:
        return
    norms = run.processes.summed([norm if at == rank else 0.0 for at in range(count)])
    run.exchanged = all(map(math.isfinite, norms))
    if not np.allclose(norms, norms[0], rtol=1e-5, atol=0, equal_nan=True):
        parameters = run.module.named_parameters()
        idle = [name for name, p in parameters if p.requires_grad and p.grad is None]
        if idle:
            raise without_gradient(idle)
        raise CourseError(
            f"The gradients of the {count} processes differ, and so would their models: their "
            f"norms are {', '.join(f'{it:.4g}' for it in norms)}.",
            "Build the losses and the optimizer from model = parallel(model), not from the model "
            "that was given to it.",
        )


def checked_loss(loss: Any, step: int) -> tuple[Tensor, float]:
    """The loss and its weight, if they can be what a step is made of.

    Raises:
        CourseError: they cannot.
    """
    mean, weight = loss if isinstance(loss, tuple) else (loss, 1)
    weight = float(weight)
    if not (isinstance(mean, Tensor) and mean.numel() == 1 and mean.requires_grad):
        raise CourseError(
            f"The loss of step {step} is no number that depends on a parameter: {mean!r:.80}.",
            "Give a scalar tensor that is computed from the model outside torch.no_grad().",
        )
    if not (math.isfinite(weight) and weight >= 0):
        raise CourseError(
            f"The loss of step {step} has the weight {weight}.",
            "Give the number of predictions that it is the mean of.",
        )
    return mean, weight


def check_step(
    run: Run,
    loss: float,
    norm: float,
    gradients: Sequence[Tensor],
    checkpoints: Checkpoints | None = None,
) -> None:
    """Stop before a step that would destroy the parameters, or do nothing.

    Where there are checkpoints, what the run was before this step is kept.

    Raises:
        CourseError: no gradient has arrived; or processes have different ones; or the loss or the
            gradient is not finite.
    """
    if not gradients:
        raise CourseError(
            f"The loss of step {run.step} reaches no parameter that is trained: there is no "
            "gradient.",
            "Build the losses from this model, after it was built for the last time; and freeze "
            "only parameters that the optimizer does not have.",
        )
    _check_exchange(run, norm)
    if math.isfinite(loss) and (math.isfinite(norm) or run.scaled.may_overflow):
        return
    parameters = dict(run.module.named_parameters())
    bad = not_finite({n: p.grad for n, p in parameters.items() if p.grad is not None})
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    where = f"; not finite: the gradient of {bad[0]}{more}" if bad else ""
    destroyed = not_finite(parameters)
    remedy = (
        f"{destroyed[0]} is not finite since an earlier step: build the model anew, and lower the "
        "learning rate or the clipping norm."
        if destroyed
        else "Lower the learning rate or the clipping norm. This step was not taken: the model "
        "keeps the parameters that it had before."
    )
    if checkpoints is not None:
        remedy += checkpoints.rescue(run)
    raise CourseError(
        f"Step {run.step} has a loss of {loss:.3g} and a gradient of norm {norm:.3g}{where}.",
        remedy,
    )


def check_predictions(run: Run, predictions: float) -> None:
    """See that there is something that a step's loss is the mean of.

    Raises:
        CourseError: there is nothing.
    """
    if predictions == 0:
        raise CourseError(
            f"Step {run.step} has no predictions: there is no mean of their losses.",
            "Give batches in which there is always something to predict: larger ones, with labels; "
            "or masks that always hide a token of a text.",
        )


def check_taken(run: Run) -> None:
    """See that a training has taken a step, now or before it was taken up again.

    Raises:
        CourseError: it has not.
    """
    if run.step == 0:
        least = run.settings["accumulate"]
        raise CourseError(
            "The losses came to their end before one step was full, and no step was taken.",
            f"Give at least {least}, the number of losses that make a step. What computes them may "
            "have been read to its end by a training before: build it anew.",
        )
