"""Lab 02, recurrent language models: its exercises. Their tasks are in this package's modules."""

from lmcourse.labs.check import Exercise

_BASICS, _GRADIENTS = f"{__name__}.basics", f"{__name__}.gradients"

check_perplexity = Exercise("02.1", "Perplexity", 5, 1, f"{_BASICS}:PERPLEXITY")
check_step = Exercise("02.2", "One step of the recurrence", 10, 2, f"{_BASICS}:STEP")
check_bptt = Exercise("02.3", "Backpropagation through time", 30, 4, f"{_GRADIENTS}:BPTT")
check_truncation = Exercise("02.4", "Truncation", 20, 3, f"{_GRADIENTS}:TRUNCATION")
check_clipping = Exercise("02.5", "Gradient clipping", 10, 2, f"{_BASICS}:CLIP")
check_recall = Exercise("02.6", "The recall experiment", 45, 5, f"{__name__}.recall:RECALL")
