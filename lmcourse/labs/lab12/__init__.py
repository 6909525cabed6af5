"""Lab 12, RoBERTa: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_INPUTS, _TRAINING = f"{__name__}.inputs", f"{__name__}.training"

check_batch = Exercise("12.1", "A larger batch", 10, 1, f"{_TRAINING}:BATCH")
check_masks = Exercise("12.2", "Dynamic masks", 15, 2, f"{_INPUTS}:MASKS")
check_spans = Exercise("12.3", "Bytes and characters", 20, 3, f"{_INPUTS}:SPANS")
check_accumulate = Exercise("12.4", "Accumulate gradients", 20, 3, f"{_TRAINING}:ACCUMULATE")
check_packing = Exercise("12.5", "Pack full sentences", 20, 4, f"{_INPUTS}:PACKING")
check_compare = Exercise("12.6", "An ablation of your own", 35, 5, f"{_TRAINING}:COMPARE")
