"""Lab 10, BERT: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_pairs = lab.exercise("pairs", "A pair of texts", 10, 2, "inputs:PAIR")
check_words = lab.exercise("words", "Whole words", 10, 1, "inputs:WORDS")
check_exactly = lab.exercise("exactly", "A fixed share", 15, 3, "inputs:EXACTLY")
check_gradient = lab.exercise("gradient", "The gradient of the loss", 15, 3, "models:GRADIENT")
check_fill = lab.exercise("fill", "Several masked positions", 25, 4, "models:FILL")
check_windows = lab.exercise("windows", "How much context?", 40, 5, "models:WINDOWS")
