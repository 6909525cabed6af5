"""Early stopping: look at held-out data now and then, and keep the best parameters.

Training goes on until the score has not improved for so many looks ("patience": Prechelt 1998,
"Early stopping — but when?"). In the end the model has the parameters of its best look, not of its
last one.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.inputs import whole_number
from lmcourse.training.distributed import Processes


class EarlyStopping:
    """Stop when the score has not improved for ``patience`` looks in a row.

    Args:
        evaluate: gives the model's score on held-out data. It is called with the model in
            evaluation mode and no gradient; the random numbers that it draws of PyTorch's do not
            change those of the training.
        every: the number of steps between two looks. The end of training is looked at too.
        patience: how many looks in a row may be no better than the best one.
        best: whether the lowest score is the best (a loss) or the highest (an accuracy).

    Attributes:
        scores: (step, score) of each look of the last training that it was given to.
        best_step: the step after which the score was best; None before the first look.
        now: whether it is time to stop.
    """

    def __init__(
        self,
        evaluate: Callable[[nn.Module], float],
        *,
        every: int,
        patience: int = 3,
        best: Literal["lowest", "highest"] = "lowest",
    ) -> None:
        whole_number(every, "every", "early stopping")
        whole_number(patience, "patience", "early stopping")
        if not callable(evaluate):
            raise CourseError(
                f"evaluate={evaluate!r:.60} computes no score.",
                "Give a function of the model that returns a number.",
            )
        if best not in ("lowest", "highest"):
            raise CourseError(f"best={best!r} is no choice.", 'Give "lowest" or "highest".')
        self.evaluate, self.every, self.patience, self.best = evaluate, every, patience, best
        self.begin()

    def begin(self) -> None:
        """Forget an earlier training: its best parameters are another model's."""
        self.scores: list[tuple[int, float]] = []
        self.best_step: int | None = None
        self._best_state: dict[str, Any] | None = None

    @property
    def config(self) -> dict[str, Any]:
        """What makes two of these the same, as far as it can be written down."""
        return {"every": self.every, "patience": self.patience, "best": self.best}

    @property
    def now(self) -> bool:
        looks = [step for step, _ in self.scores]
        return self.best_step is not None and len(looks) - looks.index(self.best_step) > (
            self.patience
        )

    def after(self, step: int, model: nn.Module, processes: Processes, last: bool = False) -> None:
        """Look at the model, if this is a step to look at or the last one.

        Raises:
            CourseError: the score is no number.
        """
        looked = bool(self.scores) and self.scores[-1][0] == step
        if step == 0 or looked or (step % self.every and not last):
            return
        # Several processes must come to one decision: their mean score is the same to all.
        score = processes.summed([self._score(model)])[0] / processes.count
        if math.isnan(score):
            raise CourseError(
                f"The score after step {step} is NaN, which is neither better nor worse.",
                "See that the held-out data is not empty and that its labels are in range.",
            )
        if self._improves(score):
            self.best_step = step
            self._best_state = {
                name: value.detach().clone() if isinstance(value, Tensor) else value
                for name, value in model.state_dict().items()
            }
        self.scores.append((step, score))

    def restore(self, model: nn.Module) -> None:
        """Give the model its best parameters back, if it was ever looked at."""
        if self._best_state is not None:
            model.load_state_dict(self._best_state)

    def state_dict(self) -> dict[str, Any]:
        """The scores, and the best parameters."""
        return {"scores": self.scores, "best_step": self.best_step, "state": self._best_state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take on what `state_dict` gave."""
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
