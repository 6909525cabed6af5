"""Lab 13, ALBERT: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_factorized = lab.exercise("factorized", "Narrow embeddings", 10, 1, "sizes:FACTORIZED")
check_size = lab.exercise("size", "Count by hand", 20, 2, "sizes:SIZE")
check_sharing = lab.exercise("sharing", "Sharing by kind", 15, 3, "layers:SHARING")
check_gradients = lab.exercise(
    "gradients", "The gradient of a shared weight", 15, 3, "layers:GRADIENTS"
)
check_pairs = lab.exercise("pairs", "In order or swapped", 20, 4, "order:PAIRS")
check_tuned = lab.exercise("tuned", "Where does sharing hurt?", 40, 5, "order:TUNED")
