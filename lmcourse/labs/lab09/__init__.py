"""Lab 09, the Transformer: its exercises. The judges are the modules beside this one."""

from lmcourse.labs.check import Exercise

_HERE = __name__

check_steps = Exercise(
    "09.1", "The schedule, backward", minutes=5, difficulty=2, judge=f"{_HERE}.schedule:judge"
)
check_distance = Exercise(
    "09.2", "How far apart", minutes=15, difficulty=3, judge=f"{_HERE}.positions:judge"
)
check_heads = Exercise(
    "09.3",
    "Heads that share their keys",
    minutes=20,
    difficulty=4,
    judge=f"{_HERE}.heads:judge",
)
check_layer = Exercise(
    "09.4", "A decoder's layer", minutes=15, difficulty=3, judge=f"{_HERE}.layer:judge"
)
check_beam = Exercise(
    "09.5", "A beam with a penalty", minutes=15, difficulty=3, judge=f"{_HERE}.beam:judge"
)
check_lengths = Exercise(
    "09.6",
    "Beyond the trained length",
    minutes=40,
    difficulty=5,
    judge=f"{_HERE}.lengths:judge",
)
