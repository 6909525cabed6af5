"""Lab 05, word embeddings: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_noise = lab.exercise("noise", "The power 3/4", 5, 1, "counts:NOISE")
check_ppmi = lab.exercise("ppmi", "Shifted PPMI", 15, 2, "counts:PPMI")
check_subsampling = lab.exercise(
    "subsampling", "Subsample, then count", 20, 3, "counts:SUBSAMPLING"
)
check_gradients = lab.exercise("gradients", "Two gradients", 20, 3, "vectors:GRADIENTS")
check_analogies = lab.exercise("analogies", "Analogies, honestly", 20, 4, "vectors:ANALOGIES")
check_association = lab.exercise("association", "A probe for bias", 40, 5, "vectors:ASSOCIATION")
