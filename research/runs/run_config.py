"""The configuration of a run: what must be the same when it is resumed.

With another learning rate, schedule or order of the data, a resumed run would be neither the old
one nor a new one. So each checkpoint contains these settings, as JSON, for comparison.
"""

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from lmcourse.errors import CourseError
from research.runs.state_files import differences

_FIXED = re.compile(r"model\b.*|scheduler|stop|.*\.(class|parameters\b.*|groups|parts)")
"""What cannot be changed: the state of a checkpoint would not fit."""


def config_of(part: Any) -> dict[str, Any]:
    """The class, and the configuration where it has one (``config``, a dataclass or a dict)."""
    return {"class": type(part).__name__, "config": getattr(part, "config", None)}


def constants_of(group: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a parameter group, except those that a schedule changes."""
    moved = {"params"}
    if "initial_lr" in group:  # a schedule set it, and moves `lr`
        moved |= {"lr"}
    if "max_momentum" in group:  # OneCycleLR and CyclicLR move these too
        moved |= {"betas", "momentum"}
    return {name: value for name, value in group.items() if name not in moved}


def schedule_of(scheduler: LRScheduler) -> dict[str, Any]:
    """The constants of a schedule; and some points of its curve, if it is a function."""
    constants = _schedule_constants(scheduler)
    parts = [schedule_of(part) for part in getattr(scheduler, "_schedulers", [])]
    described = {"class": type(scheduler).__name__, **constants, "parts": parts}
    described["milestones"] = getattr(scheduler, "_milestones", constants.get("milestones"))
    if isinstance(scheduler, LambdaLR):
        described["curves"] = [_points(curve) for curve in scheduler.lr_lambdas]
    return described


def _schedule_constants(scheduler: LRScheduler) -> dict[str, Any]:
    moved = ("last_epoch", "T_cur", "T_i", "optimizer", "lr_lambdas")
    return {
        name: value
        for name, value in vars(scheduler).items()
        if not name.startswith("_") and name not in moved and not callable(value)
    }


def _parts(scheduler: LRScheduler | None) -> list[LRScheduler]:
    """The schedule, and those that it consists of."""
    if scheduler is None:
        return []
    inner = getattr(scheduler, "_schedulers", [])
    return [scheduler, *(part for each in inner for part in _parts(each))]


@contextmanager
def settings_kept(optimizer: Optimizer, scheduler: LRScheduler | None) -> Iterator[None]:
    """Keep the settings of both while their states, which contain settings, are loaded.

    The step of the schedule is the loaded one, and the rate that of this schedule at that step.
    """
    groups = [constants_of(group) for group in optimizer.param_groups]
    parts = [(part, _schedule_constants(part)) for part in _parts(scheduler)]
    yield
    for part, constants in parts:
        vars(part).update(constants)
    for at, (group, constants) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        loaded = group.get("initial_lr")
        group.update(constants)
        if isinstance(scheduler, LambdaLR):
            group["lr"] = scheduler.base_lrs[at] * scheduler.lr_lambdas[at](scheduler.last_epoch)
        elif loaded:
            group["lr"] *= group["initial_lr"] / loaded


def _points(curve: Callable[[int], float]) -> list[float]:
    """The curve at steps 0, 1, 2, 4, …, as far as it is defined."""
    points: list[float] = []
    for step in [0, *(2**k for k in range(20))]:
        try:
            points.append(float(curve(step)))
        except Exception:  # after the end of a table, for example
            break
    return points


def check_same(there: Any, here: Any, changed: Sequence[str], folder: Path) -> None:
    """Check that a configuration equals that of the run in a folder.

    Args:
        changed: the settings that may differ; see `research.runs.Checkpoints`.

    Raises:
        CourseError: another one differs, or one that cannot be changed.
    """
    unequal = {
        path: sentence
        for path, sentence in differences(there, here)
        if _FIXED.fullmatch(path) or not any(_within(path, name) for name in changed)
    }
    if not unequal:
        return
    remedy = "Use the settings of that run, or another folder."
    if not any(map(_FIXED.fullmatch, unequal)):
        names = list(dict.fromkeys(re.sub(r"(\[\d+\])+$", "", path) for path in unequal))
        remedy += f" If the change is intended, pass Checkpoints(…, changed={names})."
    listed = "; ".join([*unequal.values()][:5]) + "; and more" * (len(unequal) > 5)
    raise CourseError(f"The run in {folder} has another configuration: {listed}.", remedy)


def _within(path: str, name: str) -> bool:
    """Whether a path is the named one, or in it."""
    return path == name or path.startswith((f"{name}.", f"{name}["))


def plain(value: Any) -> Any:
    """A configuration in JSON; other objects by the name of their type, functions by their own."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Tensor):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Path):
        return str(value)
    kind = value if isinstance(value, type | types.FunctionType) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
