"""What makes two runs the same: models, optimizers and schedules by what does not change in them.

A run that is taken up again with another learning rate, schedule or order of its data is neither
the old run nor a new one. So a checkpoint has these settings, as JSON, to be compared with.
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
from lmcourse.training.state_files import differences

_FIXED = re.compile(r"model\b.*|scheduler|stop|.*\.(class|parameters\b.*|groups|parts)")
"""What no change can be meant of: a checkpoint's numbers would have no place there."""


def config_of(part: Any) -> dict[str, Any]:
    """The class, and the configuration where it has one (``config``, a dataclass or a dict)."""
    return {"class": type(part).__name__, "config": getattr(part, "config", None)}


def constants_of(group: Mapping[str, Any]) -> dict[str, Any]:
    """What a group of parameters is optimized with, but for what a schedule changes on the way."""
    moved = {"params"}
    if "initial_lr" in group:  # a schedule set it, and moves `lr`
        moved |= {"lr"}
    if "max_momentum" in group:  # OneCycleLR and CyclicLR move these too
        moved |= {"betas", "momentum"}
    return {name: value for name, value in group.items() if name not in moved}


def schedule_of(scheduler: LRScheduler) -> dict[str, Any]:
    """A schedule by its constants; one that is a function, by some points of its curve."""
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
    """The schedule, and those that it is made of."""
    if scheduler is None:
        return []
    inner = getattr(scheduler, "_schedulers", [])
    return [scheduler, *(part for each in inner for part in _parts(each))]


@contextmanager
def settings_kept(optimizer: Optimizer, scheduler: LRScheduler | None) -> Iterator[None]:
    """Within, states are loaded, which have settings, too: in the end, those of before are back.

    The place on the schedule is the loaded one, and the rate what this schedule has there.
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
    """The curve at steps 0, 1, 2, 4, …, as far as it answers."""
    points: list[float] = []
    for step in [0, *(2**k for k in range(20))]:
        try:
            points.append(float(curve(step)))
        except Exception:  # a table, for example, ends somewhere
            break
    return points


def check_same(there: Any, here: Any, changed: Sequence[str], folder: Path) -> None:
    """See that a configuration is that of the run in a folder.

    Args:
        changed: the names of what may differ; see `lmcourse.training.checkpoints.Checkpoints`.

    Raises:
        CourseError: something else differs, or what cannot be changed.
    """
    unlike = {
        place: said
        for place, said in differences(there, here)
        if _FIXED.fullmatch(place) or not any(_within(place, name) for name in changed)
    }
    if not unlike:
        return
    remedy = "Give this run what that one had, or another folder."
    if not any(map(_FIXED.fullmatch, unlike)):
        names = list(dict.fromkeys(re.sub(r"(\[\d+\])+$", "", place) for place in unlike))
        remedy += f" If the change is meant, give Checkpoints(…, changed={names})."
    said = "; ".join([*unlike.values()][:5]) + "; and more" * (len(unlike) > 5)
    raise CourseError(f"The run in {folder} has another configuration: {said}.", remedy)


def _within(place: str, name: str) -> bool:
    """Whether a place of the configuration is the named one, or in it."""
    return place == name or place.startswith((f"{name}.", f"{name}["))


def plain(value: Any) -> Any:
    """A configuration as JSON has it; of what has no place there, the type's or function's name."""
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
