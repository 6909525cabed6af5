"""Lab 02, recurrent language models: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_perplexity = lab.exercise("perplexity", "Perplexity", 5, 1, "basics:PERPLEXITY")
check_step = lab.exercise("step", "One step of the recurrence", 10, 2, "basics:STEP")
check_bptt = lab.exercise("bptt", "Backpropagation through time", 30, 4, "gradients:BPTT")
check_truncation = lab.exercise("truncation", "Truncation", 20, 3, "gradients:TRUNCATION")
check_clipping = lab.exercise("clipping", "Gradient clipping", 10, 2, "basics:CLIP")
check_recall = lab.exercise("recall", "The recall experiment", 45, 5, "recall:RECALL")
