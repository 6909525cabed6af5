"""Lab 18, TinyBERT and compression: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_layers = lab.exercise("layers", "Which layer teaches which?", 5, 1, "distilling:LAYERS")
check_prune = lab.exercise("prune", "The smallest weights", 15, 2, "methods:PRUNE")
check_int8 = lab.exercise("int8", "A linear layer in int8", 20, 3, "methods:INT8")
check_low_rank = lab.exercise("low_rank", "Two thin matrices", 15, 3, "methods:LOW_RANK")
check_scores = lab.exercise("scores", "Attention before the softmax", 20, 3, "distilling:SCORES")
check_small = lab.exercise("small", "The best model under 200 kB", 45, 5, "small:SMALL")
