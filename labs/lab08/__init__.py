"""Lab 08, attention: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_entry = lab.exercise("entry", "One additional entry", 5, 1, "outputs:ENTRY")
check_join = lab.exercise("join", "A softmax in two parts", 15, 3, "outputs:JOIN")
check_additive = lab.exercise("additive", "Scores from a small network", 15, 2, "outputs:ADDITIVE")
check_mask = lab.exercise("mask", "Causal and padding masks", 20, 3, "weights:MASK")
check_gradient = lab.exercise("gradient", "The gradient of the scores", 25, 4, "weights:GRADIENT")
check_knockout = lab.exercise(
    "knockout", "Do the weights explain the answer?", 40, 5, "weights:HIDE"
)
