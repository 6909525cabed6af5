"""The whole state of a training, so that it can be interrupted and resumed.

Parameters are the smallest part of it. Adam has two moving averages for each of them, the schedule
a step, the data an order and a position, dropout a random state. Without any of these, a resumed
run would differ from one that was never interrupted.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.training.distributed import Processes
from lmcourse.training.loop import Run
from research.runs.run_config import config_of, constants_of, plain, schedule_of, settings_kept


@runtime_checkable
class Resumable(Protocol):
    """What can be interrupted and resumed, by PyTorch's protocol."""

    def state_dict(self) -> dict[str, Any]:
        """The current state, which later steps do not change."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


class RunState:
    """The state of a run, whose losses must be `Resumable`, and its constants."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._before: dict[str, Any] | None = None  # the states that the current step has changed

    @property
    def moment(self) -> tuple[int, int]:
        """The numbers of steps and of evaluations, which identify a moment of the run."""
        return self.run.step, len(self.run.stop.scores) if self.run.stop else 0

    def begin_step(self) -> None:
        """Remember the states of losses and random numbers until the step is taken.

        A run resumes before a step that failed or was incomplete.
        """
        partial = self.run.settings["accumulate"] > 1  # then, losses may be left over
        random_states = _random_states if partial else _random_states_of_torch  # 50 µs, or 1
        states = random_states(self.run.device)
        self._before = {"losses": self.run.losses.state_dict(), "random": states}

    def end_step(self) -> None:
        """Forget them."""
        self._before = None

    def state_dict(self) -> dict[str, Any]:
        """The state after the last step, as a tree. All processes must call this together.

        Raises:
            CourseError: the losses have no state.
        """
        run = self.run
        if not isinstance(run.losses, Resumable):
            raise CourseError(
                f"A run cannot be resumed from these losses ({type(run.losses).__name__}), which "
                "have no state_dict().",
                "Use lmcourse.training.BatchLosses, or an iterable of your own with state_dict() "
                "and load_state_dict(); a generator has neither.",
            )
        parts: dict[str, Any] = {
            "model": run.module,
            "optimizer": run.optimizer,
            "scheduler": run.scheduler,
            "losses": run.losses,
            "stop": run.stop,
        }
        tree: dict[str, Any] = {
            name: part.state_dict() for name, part in parts.items() if part is not None
        }
        tree["history"] = {name: np.array(column) for name, column in vars(run.history).items()}
        states = _random_states(run.device)
        if self._before is not None:
            tree["losses"] = self._before["losses"]
            states |= self._before["random"]
        tree["random"] = _gathered(states, run.processes)
        return _mapped(Tensor.detach, tree)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load what `state_dict` returned, in this number of processes or another.

        The settings are not loaded.
        """
        run = self.run
        run.module.load_state_dict(state["model"])
        with settings_kept(run.optimizer, run.scheduler):
            run.optimizer.load_state_dict(state["optimizer"])
            if run.scheduler is not None:
                run.scheduler.load_state_dict(state["scheduler"])
        if run.stop is not None:
            run.stop.load_state_dict(state["stop"])
        run.losses.load_state_dict(state["losses"])
        for name, column in state["history"].items():
            getattr(run.history, name)[:] = column.tolist()
        if run.processes.rank < len(state["random"]):
            _set_random_states(state["random"][run.processes.rank], run.device)

    def config(self) -> dict[str, Any]:
        """What must be the same when the run is resumed: all constants of it."""
        run = self.run
        model = dict(run.module.named_parameters())
        names = {id(parameter): name for name, parameter in model.items()}
        groups = [
            constants_of(group) | {"parameters": [names.get(id(p)) for p in group["params"]]}
            for group in run.optimizer.param_groups
        ]
        config = {
            "model": {
                **config_of(run.module),
                "parameters": {name: list(p.shape) for name, p in model.items()},
                "frozen": [name for name, p in model.items() if not p.requires_grad],
            },
            "optimizer": {"class": type(run.optimizer).__name__, "groups": groups},
            "scheduler": None if run.scheduler is None else schedule_of(run.scheduler),
            "losses": config_of(run.losses),
            "stop": None if run.stop is None else config_of(run.stop),
            "loop": run.settings,
        }
        return plain(config)


def _mapped(change: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """The tree with a function applied to each tensor."""
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return type(tree)({key: _mapped(change, part) for key, part in tree.items()})
    if isinstance(tree, list | tuple):
        return type(tree)(_mapped(change, part) for part in tree)
    return tree


def _gathered(value: Any, processes: Processes) -> list[Any]:
    """The values of all processes, by rank."""
    if processes.count == 1:
        return [value]
    parts: list[Any] = [None] * processes.count
    torch.distributed.all_gather_object(parts, value)
    return parts


def _random_states(device: torch.device) -> dict[str, Any]:
    version, words, last_normal = random.getstate()
    return {
        "python": (version, np.array(words, dtype=np.int64), last_normal),
        "numpy": np.random.get_state(),
        **_random_states_of_torch(device),
    }


def _random_states_of_torch(device: torch.device) -> dict[str, Any]:
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def _set_random_states(states: Mapping[str, Any], device: torch.device) -> None:
    version, words, last_normal = states["python"]
    random.setstate((version, tuple(words.tolist()), last_normal))
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if device.type == "cuda" and states["cuda"] is not None:
        torch.cuda.set_rng_state(states["cuda"], device)
