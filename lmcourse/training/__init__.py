"""Training: the loop that every chapter uses, what it is trained on, and how it is kept.

`train` takes losses one by one: those of an objective on batches (`BatchLosses`), or of windows of
a text (`window_losses`). `Checkpoints` keep a run, `EarlyStopping` ends it; under ``torchrun`` the
same script uses several processes (`lmcourse.training.distributed`).
"""

from lmcourse.training.batches import BatchLosses
from lmcourse.training.checkpoints import Checkpoints
from lmcourse.training.loop import History, train, window_losses
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import CausalLM, MaskedLM, NextSentence, PreTraining
from lmcourse.training.stopping import EarlyStopping
from lmcourse.training.truncation import cut_every, cut_randomly, scale_gradient
from lmcourse.training.two_models import Distilled, ReplacedTokens

__all__ = [
    "BatchLosses",
    "CausalLM",
    "Checkpoints",
    "Distilled",
    "EarlyStopping",
    "History",
    "MaskedLM",
    "Masking",
    "NextSentence",
    "PreTraining",
    "ReplacedTokens",
    "StaticMasking",
    "cut_every",
    "cut_randomly",
    "scale_gradient",
    "train",
    "window_losses",
]
