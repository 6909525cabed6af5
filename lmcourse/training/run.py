"""`Run`: all that a training is at one moment, so that it can be left and taken up again.

Parameters are the smallest part of it. Adam has two moving averages for each of them, the schedule
a place on its curve, the data an order and a position, dropout a random state. Where one of these
is forgotten, a run that is taken up again goes another way than one that was never interrupted.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import LRScheduler

from lmcourse.errors import CourseError
from lmcourse.training.distributed import Processes
from lmcourse.training.precision import Scaled, is_divided
from lmcourse.training.run_config import config_of, constants_of, plain, schedule_of, settings_kept
from lmcourse.training.stopping import EarlyStopping


@dataclass
class History:
    """What happened at each step: loss (nats), and the gradient's norm before clipping."""

    losses: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)


@runtime_checkable
class Resumable(Protocol):
    """What can be left and taken up again, in PyTorch's idiom."""

    def state_dict(self) -> dict[str, Any]:
        """Where this is: a state that later steps leave as it is."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


@dataclass
class Run:
    """A training at one moment.

    Attributes:
        losses: what computes the next loss; with checkpoints, it must be `Resumable`.
        settings: those of the loop itself, such as ``clip``.
        exchanged: whether the processes were seen to have one gradient.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    scheduler: LRScheduler | None
    losses: Any
    scaled: Scaled
    stop: EarlyStopping | None
    history: History
    processes: Processes
    settings: dict[str, Any]
    exchanged: bool = False
    _before: dict[str, Any] | None = None  # what the step that is being computed has used up

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return len(self.history.losses)

    @property
    def moment(self) -> tuple[int, int]:
        """Steps taken, and looks at held-out data: what tells two moments of a run apart."""
        return self.step, len(self.stop.scores) if self.stop else 0

    @property
    def module(self) -> nn.Module:
        """The model itself, out of what exchanges its gradients with other processes."""
        if isinstance(self.model, DistributedDataParallel):
            return self.model.module
        return self.model

    @property
    def parameters(self) -> list[Tensor]:
        """What is trained: the optimizer's parameters, which may be some of the model's."""
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def begin_step(self) -> None:
        """Note where losses and random numbers are, as long as the step is not taken.

        A step that is never filled, or that fails, was not begun for who takes the run up again.
        """
        full = self.settings["accumulate"] > 1  # then, losses may be left over
        random_states = _random_states if full else _random_states_of_torch  # 50 µs, or 1
        device = self.scaled.device
        self._before = {"losses": self.losses.state_dict(), "random": random_states(device)}

    def end_step(self, loss: float, norm: float) -> None:
        """Write down the step that was taken."""
        self.history.losses.append(loss)
        self.history.gradient_norms.append(norm)
        self._before = None

    def state_dict(self) -> dict[str, Any]:
        """All of it after the last step, as a tree. Of several processes, all must ask at once.

        Raises:
            CourseError: the losses cannot say where they are.
        """
        if not isinstance(self.losses, Resumable):
            raise CourseError(
                f"These losses ({type(self.losses).__name__}) cannot say where they are: a run "
                "with checkpoints could not be taken up again.",
                "Give lmcourse.training.batches.BatchLosses, or an iterable of your own with "
                "state_dict() and load_state_dict(); a generator function has neither.",
            )
        parts: dict[str, Any] = {
            "model": self.module,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
            "losses": self.losses,
            "scaled": self.scaled,
            "stop": self.stop,
        }
        tree: dict[str, Any] = {
            name: part.state_dict() for name, part in parts.items() if part is not None
        }
        tree["history"] = {name: np.array(column) for name, column in vars(self.history).items()}
        states = _random_states(self.scaled.device)
        if self._before is not None:
            tree["losses"] = self._before["losses"]
            states |= self._before["random"]
        tree["random"] = _gathered(states, self.processes)
        return _mapped(whole, tree)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take on what `state_dict` gave, in this number of processes or another.

        Settings stay as they are here, though they may have been others there.
        """
        here = self.module.state_dict()

        def divided(tensors: Mapping[str, Any]) -> dict[str, Any]:
            return {name: _as_divided(value, here.get(name)) for name, value in tensors.items()}

        self.module.load_state_dict(divided(state["model"]))
        with settings_kept(self.optimizer, self.scheduler):
            self.optimizer.load_state_dict(self._optimizer_state(state["optimizer"]))
            if self.scheduler is not None:
                self.scheduler.load_state_dict(state["scheduler"])
        if self.stop is not None:
            best = state["stop"]["state"]
            best = None if best is None else divided(best)
            self.stop.load_state_dict({**state["stop"], "state": best})
        self.losses.load_state_dict(state["losses"])
        self.scaled.load_state_dict(state["scaled"])
        for name, column in state["history"].items():
            getattr(self.history, name)[:] = column.tolist()
        if self.processes.rank < len(state["random"]):
            _set_random_states(state["random"][self.processes.rank], self.scaled.device)

    def config(self) -> dict[str, Any]:
        """What must be the same when the run is taken up again: all that does not change in it."""
        model = dict(self.module.named_parameters())
        names = {id(parameter): name for name, parameter in model.items()}
        groups = [
            constants_of(group) | {"parameters": [names.get(id(p)) for p in group["params"]]}
            for group in self.optimizer.param_groups
        ]
        config = {
            "model": {
                **config_of(self.module),
                "parameters": {name: list(p.shape) for name, p in model.items()},
                "frozen": [name for name, p in model.items() if not p.requires_grad],
            },
            "optimizer": {"class": type(self.optimizer).__name__, "groups": groups},
            "scheduler": None if self.scheduler is None else schedule_of(self.scheduler),
            "losses": config_of(self.losses),
            "stop": None if self.stop is None else config_of(self.stop),
            "loop": self.settings,
        }
        return plain(config)

    def _optimizer_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The optimizer's state; what belongs to a parameter is divided as that one is."""
        parameters = self.parameters
        moments = {
            at: {name: _as_divided(value, parameters[at]) for name, value in values.items()}
            for at, values in state["state"].items()
        }
        return {"state": moments, "param_groups": state["param_groups"]}


def not_finite(tensors: Mapping[str, Tensor]) -> list[str]:
    """The names of those that have a number that is not finite."""
    return [name for name, tensor in tensors.items() if not whole(tensor).isfinite().all()]


def whole(tensor: Any) -> Tensor:
    """The tensor, put together where processes have parts of it."""
    tensor = tensor.detach()
    return tensor.full_tensor() if is_divided(tensor) else tensor


def _as_divided(value: Any, like: Any) -> Any:
    """The tensor, divided among the processes as another of its shape is."""
    if is_divided(like) and isinstance(value, Tensor) and value.shape == like.shape:
        from torch.distributed.tensor import distribute_tensor

        return distribute_tensor(value.to(like.device), like.device_mesh, like.placements)
    return value


def _mapped(change: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """The tree with each of its tensors changed."""
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return type(tree)({key: _mapped(change, part) for key, part in tree.items()})
    if isinstance(tree, list | tuple):
        return type(tree)(_mapped(change, part) for part in tree)
    return tree


def _gathered(value: Any, processes: Processes) -> list[Any]:
    """What each of the processes has, in their order."""
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
