"""Lab 11, fine-tuning and features: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_rates = lab.exercise("rates", "One rate per layer", 10, 1, "training:RATES")
check_matthews = lab.exercise("matthews", "Matthews for several classes", 10, 2, "scores:MATTHEWS")
check_answers = lab.exercise("answers", "A model against people", 20, 3, "scores:ANSWERS")
check_span = lab.exercise("span", "The best span, or none", 15, 3, "scores:SPAN")
check_fine_tuning = lab.exercise("fine_tuning", "Four faults", 30, 4, "training:FINE_TUNING")
check_bits = lab.exercise("bits", "Which layer?", 35, 5, "training:BITS")
