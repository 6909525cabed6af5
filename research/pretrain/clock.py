"""How long a training took, however often it was interrupted."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Seconds:
    """What passed on the wall's clock, and what all threads of this process computed in it."""

    wall: float = 0.0
    cpu: float = 0.0

    @classmethod
    def now(cls) -> "Seconds":
        """A moment; the difference of two is a duration."""
        return cls(time.monotonic(), time.process_time())

    def __add__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)


@runtime_checkable
class Resumable(Protocol):
    """Losses that can be taken up again, as `lmcourse.training.BatchLosses` can."""

    config: Any

    def __len__(self) -> int: ...

    def __next__(self) -> Any: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


class Clocked(Iterator[Any]):
    """Losses, and how long they have been trained on.

    The time is a part of their state, so a checkpoint has it: a run that is taken up again counts
    on from there, and what a kill has undone is not counted.

    Args:
        losses: such as `lmcourse.training.BatchLosses`.
    """

    def __init__(self, losses: Resumable) -> None:
        self.losses = losses
        self._before, self._start = Seconds(), Seconds.now()

    @property
    def spent(self) -> Seconds:
        """The time until now."""
        return self._before + (Seconds.now() - self._start)

    @property
    def config(self) -> Any:
        """What must be the same when the run is taken up again: that of the losses."""
        return self.losses.config

    def __len__(self) -> int:
        return len(self.losses)

    def __next__(self) -> Any:
        return next(self.losses)

    def ahead(self, number: int) -> Any:
        """See `lmcourse.training.BatchLosses.ahead`."""
        losses: Any = self.losses
        return losses.ahead(number)

    def state_dict(self) -> dict[str, Any]:
        """That of the losses, and the time."""
        spent = self.spent
        return {"losses": self.losses.state_dict(), "wall": spent.wall, "cpu": spent.cpu}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.losses.load_state_dict(state["losses"])
        self._before, self._start = Seconds(state["wall"], state["cpu"]), Seconds.now()
