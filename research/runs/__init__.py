"""Long runs: `Checkpoints` save a training of `lmcourse.training.train` and resume it;
`EarlyStopping` ends it."""

from research.runs.checkpoints import Checkpoints
from research.runs.stopping import EarlyStopping

__all__ = ["Checkpoints", "EarlyStopping"]
