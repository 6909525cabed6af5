"""Lab 15, K-BERT: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_soft = lab.exercise("soft", "Soft positions", 10, 1, "tree:SOFT")
check_visible = lab.exercise("visible", "The visible matrix", 15, 2, "tree:VISIBLE")
check_inject = lab.exercise("inject", "Inject the facts", 20, 3, "tree:INJECT")
check_attention = lab.exercise("attention", "Mask-self-attention", 15, 3, "layers:ATTENTION")
check_reach = lab.exercise("reach", "Reach", 20, 4, "layers:REACH")
check_compare = lab.exercise("compare", "Noise and a wrong fact", 40, 5, "facts:COMPARE")
