"""Lab 18, TinyBERT and compression: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_weights = lab.exercise("weights", "Weights", 5, 1, "tasks:WEIGHTS")
check_entropy = lab.exercise("entropy", "An investigation", 40, 5, "tasks:ENTROPY")
