"""Lab 09, the Transformer: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_PARTS, _MODELS = f"{__name__}.parts", f"{__name__}.models"

check_steps = Exercise("09.1", "The inverse of the schedule", 5, 2, f"{_PARTS}:STEPS")
check_distance = Exercise("09.2", "The encoding of a distance", 15, 3, f"{_PARTS}:DISTANCE")
check_heads = Exercise("09.3", "Multi-query attention", 20, 4, f"{_PARTS}:HEADS")
check_layer = Exercise("09.4", "A decoder layer", 15, 3, f"{_PARTS}:LAYER")
check_passes = Exercise("09.5", "Several tokens in one pass", 15, 3, f"{_MODELS}:PASSES")
check_lengths = Exercise("09.6", "Beyond the trained length", 40, 5, f"{_MODELS}:LENGTHS")
