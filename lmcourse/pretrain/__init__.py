"""The models that come with the course: how each is trained, measured and shipped.

    record = pretrain("bookworld-mlm")      # as `lmcourse pretrain bookworld-mlm` does

A recipe decides everything (`RECIPES`); what came of it stands in a record beside the checkpoint.
"""

from lmcourse.pretrain.recipes import RECIPES
from lmcourse.pretrain.records import Record
from lmcourse.pretrain.run import pretrain

__all__ = ["RECIPES", "Record", "pretrain"]
