"""Long runs: `Checkpoints` save a training of `lmcourse.training.train` and resume it."""

from research.runs.checkpoints import Checkpoints

__all__ = ["Checkpoints"]
