"""Lab 08, attention: its exercises. The judges are the modules beside this one."""

from lmcourse.labs.check import Exercise

_HERE = __name__

check_lookup = Exercise(
    "08.1",
    "A dictionary that always answers",
    minutes=5,
    difficulty=1,
    judge=f"{_HERE}.lookup:judge",
)
check_softmax = Exercise(
    "08.2", "A softmax without accidents", minutes=10, difficulty=2, judge=f"{_HERE}.softmax:judge"
)
check_attention = Exercise(
    "08.3", "Attention", minutes=15, difficulty=2, judge=f"{_HERE}.attention:judge"
)
check_mask = Exercise("08.4", "The mask", minutes=20, difficulty=3, judge=f"{_HERE}.mask:judge")
check_gradient = Exercise(
    "08.5", "The gradient, by hand", minutes=25, difficulty=4, judge=f"{_HERE}.gradient:judge"
)
check_knockout = Exercise(
    "08.6", "What a weight is worth", minutes=45, difficulty=5, judge=f"{_HERE}.knockout:judge"
)
