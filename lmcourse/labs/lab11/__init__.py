"""Lab 11, fine-tuning and features: its exercises. Their tasks are in this package."""

from lmcourse.labs.check import Exercise

_SCORES, _TRAINING = f"{__name__}.scores", f"{__name__}.training"

check_rates = Exercise("11.1", "One rate per layer", 10, 1, f"{_TRAINING}:RATES")
check_matthews = Exercise("11.2", "Matthews for several classes", 10, 2, f"{_SCORES}:MATTHEWS")
check_answers = Exercise("11.3", "A model against people", 20, 3, f"{_SCORES}:ANSWERS")
check_span = Exercise("11.4", "The best span, or none", 15, 3, f"{_SCORES}:SPAN")
check_fine_tuning = Exercise("11.5", "Four faults", 30, 4, f"{_TRAINING}:FINE_TUNING")
check_bits = Exercise("11.6", "Which layer?", 35, 5, f"{_TRAINING}:BITS")
