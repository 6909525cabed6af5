"""`Run`: what a training consists of; and `Keeper`: what saves and resumes it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from lmcourse.training.distributed import Processes, unwrapped
from lmcourse.training.fit import History


@dataclass
class Run:
    """A training.

    Attributes:
        losses: computes the next loss.
        stop: decides when to stop early; None: never.
        settings: of the loop itself, such as ``clip``.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    scheduler: LRScheduler | None
    losses: Any
    stop: Any
    history: History
    processes: Processes
    settings: dict[str, Any]

    @property
    def step(self) -> int:
        """The number of steps taken."""
        return len(self.history.losses)

    @property
    def module(self) -> nn.Module:
        """The model, without the wrapper that exchanges gradients with other processes."""
        return unwrapped(self.model)

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return next(self.model.parameters(), torch.empty(0)).device

    @property
    def parameters(self) -> list[Tensor]:
        """The optimizer's parameters, which may be some of the model's."""
        return [p for group in self.optimizer.param_groups for p in group["params"]]


@runtime_checkable
class Keeper(Protocol):
    """Saves a run and resumes it, such as `research.runs.Checkpoints`."""

    def keeping(self, run: Run) -> AbstractContextManager[None]:
        """Resume the run if there is one, and save its end."""
        ...

    def before(self, run: Run) -> None:
        """Prepare for the next step, which may fail or be incomplete."""

    def after(self, run: Run) -> None:
        """Save the run after this step, if it is time to."""

    def rescue(self, run: Run) -> str:
        """Save the run before a step that failed; return a sentence on how to continue."""
        ...
