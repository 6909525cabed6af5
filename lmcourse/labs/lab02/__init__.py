"""Lab 02, recurrent language models: its exercises. The judges are the modules beside this one."""

from lmcourse.labs.check import Exercise

_HERE = __name__

check_perplexity = Exercise(
    "02.1", "Perplexity", minutes=5, difficulty=1, judge=f"{_HERE}.perplexity:judge"
)
check_step = Exercise(
    "02.2", "One step of the recurrence", minutes=10, difficulty=2, judge=f"{_HERE}.step:judge"
)
check_bptt = Exercise(
    "02.3", "Backpropagation through time", minutes=30, difficulty=4, judge=f"{_HERE}.bptt:judge"
)
check_truncation = Exercise(
    "02.4", "Truncation", minutes=20, difficulty=3, judge=f"{_HERE}.truncation:judge"
)
check_clipping = Exercise(
    "02.5", "Gradient clipping", minutes=10, difficulty=2, judge=f"{_HERE}.clipping:judge"
)
check_recall = Exercise(
    "02.6", "The recall experiment", minutes=45, difficulty=5, judge=f"{_HERE}.recall:judge"
)
