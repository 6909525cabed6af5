"""Lab 08, attention: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_OUTPUTS, _WEIGHTS = f"{__name__}.outputs", f"{__name__}.weights"

check_entry = Exercise("08.1", "One additional entry", 5, 1, f"{_OUTPUTS}:ENTRY")
check_join = Exercise("08.2", "A softmax in two parts", 15, 3, f"{_OUTPUTS}:JOIN")
check_additive = Exercise("08.3", "Scores from a small network", 15, 2, f"{_OUTPUTS}:ADDITIVE")
check_mask = Exercise("08.4", "Causal and padding masks", 20, 3, f"{_WEIGHTS}:MASK")
check_gradient = Exercise("08.5", "The gradient of the scores", 25, 4, f"{_WEIGHTS}:GRADIENT")
check_knockout = Exercise("08.6", "Do the weights explain the answer?", 40, 5, f"{_WEIGHTS}:HIDE")
