"""The training loop with all that a long run needs; `lmcourse.training.fit` is the plain one.

Losses may come with weights: the number of predictions that each is the mean of. The gradient of a
step is then that of the mean over all predictions of its losses together, whether these losses are
computed one after the other (``accumulate``) or by several processes
(`lmcourse.training.distributed`). A mean of means would have another gradient: a batch with few
predictions would count as much as one with many. A loss that is a sum of means over different
things, such as masked tokens and pairs of sentences, is a list of terms, each with its own number:

    loss = Σ_k  Σ_j n_jk m_jk / Σ_j n_jk        m_jk, n_jk: mean and number of term k in part j
"""

from collections.abc import Iterable, Iterator, Sized
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from lmcourse.errors import CourseError
from lmcourse.training import checks
from lmcourse.training.distributed import Processes, unwrapped
from lmcourse.training.fit import History, Loss, interruptible
from lmcourse.training.watching import Watch, watching


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


def train(
    model: nn.Module,
    losses: Iterable[Loss],
    *,
    learning_rate: float = 2e-3,
    clip: float | None = 1.0,
    optimizer: Optimizer | None = None,
    scheduler: LRScheduler | None = None,
    accumulate: int = 1,
    checkpoints: Any = None,
    stop: Any = None,
    watch: Watch = "line",
) -> History:
    """Take one optimization step for every loss, or for every ``accumulate`` losses.

    Args:
        model, losses, learning_rate, clip, optimizer, scheduler, watch: see `fit`.
        accumulate: how many losses make one step. Those left over at the end make none.
        checkpoints: where the run is saved, and resumed from if it is there
            (`research.runs.Checkpoints`). A run that is complete there is not repeated: its
            history is returned at once.
        stop: when to stop early, such as `research.runs.EarlyStopping`.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed. The step was finished first, and saved if there are
            checkpoints: the same call continues from there. A second Ctrl-C interrupts at once.
        CourseError: for the reasons of `fit`.
    """
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=learning_rate)
    checks.check_parts(model, optimizer, scheduler)
    history, processes = History(), Processes(model)
    settings = {"clip": clip, "accumulate": accumulate}
    run = Run(model, optimizer, scheduler, losses, stop, history, processes, settings)
    if stop:
        stop.begin()
    model.train()
    kept = checkpoints.keeping(run) if checkpoints else nullcontext()
    steps = len(losses) // accumulate if isinstance(losses, Sized) else None
    with interruptible(processes.count == 1) as interrupt:
        with kept, watching(watch, history, steps) as watcher:
            stream = iter(losses)
            while not (interrupt.pressed or (stop and stop.now)):
                if not _step(run, stream, checkpoints):
                    break
                watcher.tick()
                if stop:
                    stop.after(run.step, run.module, processes)
                if checkpoints:
                    checkpoints.after(run)
            if stop and not interrupt.pressed:
                stop.after(run.step, run.module, processes, last=True)
        if stop:
            stop.restore(run.module)
    checks.check_taken(history.losses, accumulate)
    return history


def _step(run: Run, stream: Iterator[Loss], checkpoints: Any) -> bool:
    """Take a step, if there are enough losses left for one, and say whether there were."""
    if checkpoints:
        checkpoints.before(run)
    run.optimizer.zero_grad()
    loss = _backward(run, stream)
    if loss is None:
        return False
    norm = checks.gradient_norm(run.parameters, run.step)
    length = norm.item()
    checks.check_exchange(run.processes, length)
    try:
        checks.check_finite(run.module, run.step, loss, length)
    except CourseError as error:
        rescued = checkpoints.rescue(run) if checkpoints else ""
        raise CourseError(error.cause, error.remedy + rescued) from None
    clip = run.settings["clip"]
    if clip is not None:
        nn.utils.clip_grads_with_norm_(run.parameters, clip, norm)
    run.optimizer.step()
    if run.scheduler is not None:
        run.scheduler.step()
    run.history.record(loss, length)
    return True


def _backward(run: Run, stream: Iterator[Loss]) -> float | None:
    """Compute the gradient of a step's loss.

    Returns:
        That loss; None if there are not enough losses left for a step.
    """
    processes, accumulate = run.processes, run.settings["accumulate"]
    total = counted = 0.0
    in_step: list[float] | None = None
    for at in range(accumulate):
        with processes.together(last=at == accumulate - 1):
            loss = next(stream, None)
            if loss is None:
                return None
            terms = checks.terms_of_loss(loss, run.step)
            if at == 0:
                in_step = _predictions_in_step(run, [count for _, count in terms])
            # Processes exchange the mean of their gradients, and their sum is needed.
            parts = [
                mean * (processes.count * count / (whole or 1))
                for (mean, count), whole in zip(terms, in_step or [1], strict=True)
            ]
            part = torch.stack(parts).sum()
            part.backward()
        total += part.item() / processes.count
        counted += terms[0][1]
    total, counted = processes.summed([total, counted])
    if in_step:
        return total
    checks.check_predictions(counted, run.step)
    for parameter in run.parameters:
        if parameter.grad is not None:
            parameter.grad.div_(counted)
    return total / counted


def _predictions_in_step(run: Run, counts: list[float]) -> list[float] | None:
    """The number of predictions of each term in a step.

    Args:
        counts: those in the first loss of this process.

    Returns:
        None if there is one term and further losses follow: then the sum of all gradients is
        divided by the number at the end.
    """
    further = run.settings["accumulate"] - 1
    if further and len(counts) == 1:
        return None
    if further:
        counts = [sum(each) for each in zip(counts, *run.losses.ahead(further), strict=True)]
    in_step = run.processes.summed(counts)
    checks.check_predictions(sum(in_step), run.step)
    return in_step
