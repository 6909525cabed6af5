"""Lab 12, RoBERTa: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_batch = lab.exercise("batch", "A larger batch", 10, 1, "training:BATCH")
check_masks = lab.exercise("masks", "Dynamic masks", 15, 2, "inputs:MASKS")
check_spans = lab.exercise("spans", "Bytes and characters", 20, 3, "inputs:SPANS")
check_accumulate = lab.exercise("accumulate", "Accumulate gradients", 20, 3, "training:ACCUMULATE")
check_packing = lab.exercise("packing", "Pack full sentences", 20, 4, "inputs:PACKING")
check_compare = lab.exercise("compare", "An ablation of your own", 35, 5, "training:COMPARE")
