"""Lab 10, BERT: its exercises. The judges are the modules beside this one."""

from lmcourse.labs.check import Exercise

_HERE = __name__

check_pairs = Exercise(
    "10.1", "A pair of texts", minutes=10, difficulty=2, judge=f"{_HERE}.pairs:judge"
)
check_words = Exercise(
    "10.2", "Whole words", minutes=10, difficulty=1, judge=f"{_HERE}.words:judge"
)
check_exactly = Exercise(
    "10.3", "Exactly so many", minutes=15, difficulty=3, judge=f"{_HERE}.exactly:judge"
)
check_gradient = Exercise(
    "10.4", "The gradient of the loss", minutes=15, difficulty=3, judge=f"{_HERE}.gradient:judge"
)
check_fill = Exercise(
    "10.5", "Several holes", minutes=25, difficulty=4, judge=f"{_HERE}.fill:judge"
)
check_windows = Exercise(
    "10.6", "How much context?", minutes=40, difficulty=5, judge=f"{_HERE}.windows:judge"
)
