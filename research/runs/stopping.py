"""Early stopping: evaluate on held-out data now and then, and keep the best parameters.

Training continues until the score has not improved for a number of evaluations ("patience":
Prechelt 1998, "Early stopping — but when?"). The model ends with the parameters of its best
evaluation, not of its last one.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.training.distributed import Processes


class EarlyStopping:
    """Stop when the score has not improved for ``patience`` evaluations in a row.

    Args:
        evaluate: returns the model's score on held-out data. It is called with the model in
            evaluation mode and without gradients; random numbers that it draws from PyTorch do not
            change those of the training.
        every: the number of steps between two evaluations. The last step is evaluated, too.
        patience: the number of evaluations in a row that may be no better than the best one.
        best: whether the lowest score is the best (a loss) or the highest (an accuracy).

    Attributes:
        scores: (step, score) of each evaluation of the current or last training.
        best_step: the step with the best score; None before the first evaluation.
    """

    def __init__(
        self,
        evaluate: Callable[[nn.Module], float],
        *,
        every: int,
        patience: int = 3,
        best: Literal["lowest", "highest"] = "lowest",
    ) -> None:
        self.evaluate, self.every, self.patience, self.best = evaluate, every, patience, best
        self.begin()

    def begin(self) -> None:
        """Forget an earlier training, whose best parameters are another model's."""
        self.scores: list[tuple[int, float]] = []
        self.best_step: int | None = None
        self._best_state: dict[str, Any] | None = None

    @property
    def config(self) -> dict[str, Any]:
        """The settings that must be the same when a run is resumed."""
        return {"every": self.every, "patience": self.patience, "best": self.best}

    @property
    def now(self) -> bool:
        """Whether to stop now."""
        steps = [step for step, _ in self.scores]
        if self.best_step is None:
            return False
        return len(steps) - steps.index(self.best_step) > self.patience

    def after(self, step: int, model: nn.Module, processes: Processes, last: bool = False) -> None:
        """Evaluate the model, if it is time to or this is the last step."""
        evaluated = bool(self.scores) and self.scores[-1][0] == step
        if step == 0 or evaluated or (step % self.every and not last):
            return
        # All processes must decide alike, from the mean of their scores.
        score = processes.summed([self._score(model)])[0] / processes.count
        if math.isnan(score):
            raise CourseError(
                f"The score after step {step} is NaN, neither better nor worse than another.",
                "Check that the held-out data is not empty and that its labels are in range.",
            )
        if self._improves(score):
            self.best_step = step
            self._best_state = {
                name: value.detach().clone() if isinstance(value, Tensor) else value
                for name, value in model.state_dict().items()
            }
        self.scores.append((step, score))

    def restore(self, model: nn.Module) -> None:
        """Load the best parameters into the model, if it was ever evaluated."""
        if self._best_state is not None:
            model.load_state_dict(self._best_state)

    def state_dict(self) -> dict[str, Any]:
        """The scores, and the best parameters."""
        return {"scores": self.scores, "best_step": self.best_step, "state": self._best_state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        self.scores = list(state["scores"])
        self.best_step, self._best_state = state["best_step"], state["state"]

    def _score(self, model: nn.Module) -> float:
        devices = {p.device for p in model.parameters() if p.is_cuda}
        with torch.random.fork_rng(devices), torch.no_grad():
            model.eval()
            try:
                return float(self.evaluate(model))
            finally:
                model.train()

    def _improves(self, score: float) -> bool:
        if self.best_step is None:
            return True
        best = dict(self.scores)[self.best_step]
        return score < best if self.best == "lowest" else score > best
