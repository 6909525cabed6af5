"""What the loops check before and at each step, so that no training silently learns nothing.

A notebook cell that runs again builds a new model, while its losses or its optimizer may still
refer to the old one. PyTorch accepts that: the loss is displayed, and nothing is learned.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from lmcourse.errors import CourseError
from lmcourse.training.distributed import Processes


def check_parts(
    model: nn.Module, optimizer: Optimizer, scheduler: LRScheduler | None
) -> list[Tensor]:
    """Check that the optimizer is the model's and the scheduler is the optimizer's.

    Returns:
        The parameters that are trained: those of the optimizer, which may be some of the model's.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    if not {id(p) for p in model.parameters()} & {id(p) for p in parameters}:
        raise CourseError(
            f"The {type(optimizer).__name__} has no parameter of this {type(model).__name__}.",
            "Build the optimizer from the parameters of the model that is trained: "
            "torch.optim.Adam(model.parameters()).",
        )
    if scheduler is not None and scheduler.optimizer is not optimizer:
        raise CourseError(
            f"The {type(scheduler).__name__} belongs to another optimizer.",
            "Pass the optimizer that it was built with, too: optimizer=optimizer, "
            "scheduler=scheduler.",
        )
    return parameters


def terms_of_loss(loss: Any, step: int) -> list[tuple[Tensor, float]]:
    """The terms of a loss: means, and the number of predictions in each (1 if it is not given)."""
    terms = loss if isinstance(loss, list) else [loss if isinstance(loss, tuple) else (loss, 1)]
    for mean, _ in terms:
        if not (isinstance(mean, Tensor) and mean.numel() == 1 and mean.requires_grad):
            raise CourseError(
                f"The loss of step {step} is not a scalar tensor that depends on a parameter: "
                f"{mean!r:.80}.",
                "Compute it from the model's output, outside torch.no_grad(), and yield the tensor "
                "itself, not loss.item().",
            )
    return [(mean, float(count)) for mean, count in terms]


def single_loss(loss: Any, step: int) -> Tensor:
    """The loss of a step that has one."""
    means, counts = zip(*terms_of_loss(loss, step), strict=True)
    check_predictions(sum(counts), step)
    return torch.stack(means).sum()


def check_predictions(count: float, step: int) -> None:
    """Check that a step has predictions."""
    if count == 0:
        raise CourseError(
            f"Step {step} has no predictions, so it has no mean loss.",
            "Use larger batches, or labels and masks that leave a prediction in each of them.",
        )


def gradient_norm(parameters: Sequence[Tensor], step: int) -> Tensor:
    """The norm of the gradient of all parameters together."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        raise CourseError(
            f"The loss of step {step} depends on no parameter that is trained: there is no "
            "gradient.",
            "Compute the losses from this model, as it was last built, and freeze only parameters "
            "that the optimizer does not have.",
        )
    return nn.utils.get_total_norm(gradients)


def check_finite(model: nn.Module, step: int, loss: float, norm: float) -> None:
    """Stop before a step that would destroy the parameters."""
    if math.isfinite(loss) and math.isfinite(norm):
        return
    parameters = dict(model.named_parameters())
    bad = not_finite({n: p.grad for n, p in parameters.items() if p.grad is not None})
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    where = f"; not finite: the gradient of {bad[0]}{more}" if bad else ""
    destroyed = not_finite(parameters)
    raise CourseError(
        f"Step {step} has a loss of {loss:.3g} and a gradient norm of {norm:.3g}{where}.",
        f"{destroyed[0]} has not been finite since an earlier step: rebuild the model, and lower "
        "the learning rate or the clipping norm."
        if destroyed
        else "Lower the learning rate or the clipping norm. This step was not taken: the model "
        "keeps its parameters.",
    )


def check_taken(losses: Sequence[float], accumulate: int = 1) -> None:
    """Check that a training took a step."""
    if not losses:
        raise CourseError(
            "The losses ended before the first step: no step was taken.",
            f"Provide at least {accumulate}. A generator can be read only once: create a new one "
            "for each training.",
        )


def check_exchange(processes: Processes, norm: float) -> None:
    """Check that all processes have the same gradient, until a finite one was the same in all."""
    if processes.exchanged:
        return
    mine = (norm if rank == processes.rank else 0.0 for rank in range(processes.count))
    norms = processes.summed([*mine])
    processes.exchanged = all(map(math.isfinite, norms))
    if np.allclose(norms, norms[0], rtol=1e-5, atol=0, equal_nan=True):
        return
    raise CourseError(
        f"The gradients of the {processes.count} processes differ, so their models would, too: "
        f"their norms are {', '.join(f'{it:.4g}' for it in norms)}.",
        "Build the losses and the optimizer from model = parallel(model), not from the model that "
        "it was called with.",
    )


def not_finite(tensors: Mapping[str, Tensor]) -> list[str]:
    """The names of the tensors with an element that is not finite."""
    return [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
