"""Lab 09, the Transformer: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_steps = lab.exercise("steps", "The inverse of the schedule", 5, 2, "parts:STEPS")
check_distance = lab.exercise("distance", "The encoding of a distance", 15, 3, "parts:DISTANCE")
check_heads = lab.exercise("heads", "Multi-query attention", 20, 4, "parts:HEADS")
check_layer = lab.exercise("layer", "A decoder layer", 15, 3, "parts:LAYER")
check_passes = lab.exercise("passes", "Several tokens in one pass", 15, 3, "models:PASSES")
check_lengths = lab.exercise("lengths", "Beyond the trained length", 40, 5, "models:LENGTHS")
