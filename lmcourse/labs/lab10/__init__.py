"""Lab 10, BERT: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_INPUTS, _MODELS = f"{__name__}.inputs", f"{__name__}.models"

check_pairs = Exercise("10.1", "A pair of texts", 10, 2, f"{_INPUTS}:PAIR")
check_words = Exercise("10.2", "Whole words", 10, 1, f"{_INPUTS}:WORDS")
check_exactly = Exercise("10.3", "A fixed share", 15, 3, f"{_INPUTS}:EXACTLY")
check_gradient = Exercise("10.4", "The gradient of the loss", 15, 3, f"{_MODELS}:GRADIENT")
check_fill = Exercise("10.5", "Several masked positions", 25, 4, f"{_MODELS}:FILL")
check_windows = Exercise("10.6", "How much context?", 40, 5, f"{_MODELS}:WINDOWS")
