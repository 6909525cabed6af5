"""The models that come with the course: how each is trained, measured and shipped.

    record = pretrain("bookworld-mlm")      # as `lmcourse pretrain bookworld-mlm` does

A recipe decides everything (`RECIPES`); its result is a record next to the checkpoint.
"""

from research.pretrain.recipes import RECIPES
from research.pretrain.records import Record
from research.pretrain.run import pretrain

__all__ = ["RECIPES", "Record", "pretrain"]
