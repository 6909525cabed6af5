"""Training: the loops, the objectives and batches, and what keeps a long run.

`fit` is the plain loop of the chapters; `train` takes the same steps, and is for long runs: under
``torchrun`` several processes share them (`lmcourse.training.distributed`); `research.runs` saves
and resumes them, and stops them early. Both take losses one by one: those of an objective on
batches (`BatchLosses`), or of the windows of a text (`window_losses`).
"""

from lmcourse.training.batches import BatchLosses
from lmcourse.training.fit import History, fit, window_losses
from lmcourse.training.loop import train
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import CausalLM, MaskedLM, PreTraining
from lmcourse.training.truncation import cut_every, cut_randomly, scale_gradient
from lmcourse.training.two_models import Distilled, ReplacedTokens

__all__ = [
    "BatchLosses",
    "CausalLM",
    "Distilled",
    "History",
    "MaskedLM",
    "Masking",
    "PreTraining",
    "ReplacedTokens",
    "StaticMasking",
    "cut_every",
    "cut_randomly",
    "fit",
    "scale_gradient",
    "train",
    "window_losses",
]
