"""Lab 08, attention: its exercises. The judges are the modules beside this one."""

from lmcourse.labs.check import Exercise

_HERE = __name__

check_entry = Exercise(
    "08.1", "One entry more", minutes=5, difficulty=1, judge=f"{_HERE}.entry:judge"
)
check_join = Exercise(
    "08.2", "A softmax in two parts", minutes=15, difficulty=3, judge=f"{_HERE}.join:judge"
)
check_additive = Exercise(
    "08.3", "Scores by a small network", minutes=15, difficulty=2, judge=f"{_HERE}.additive:judge"
)
check_mask = Exercise(
    "08.4", "Who may look where", minutes=20, difficulty=3, judge=f"{_HERE}.mask:judge"
)
check_gradient = Exercise(
    "08.5", "The gradient, by hand", minutes=25, difficulty=4, judge=f"{_HERE}.gradient:judge"
)
check_knockout = Exercise(
    "08.6", "What a weight is worth", minutes=40, difficulty=5, judge=f"{_HERE}.knockout:judge"
)
