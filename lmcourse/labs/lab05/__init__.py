"""Lab 05, word embeddings: its exercises. Their tasks are in this package."""

from lmcourse.labs.check import Exercise

_COUNTS, _VECTORS = f"{__name__}.counts", f"{__name__}.vectors"

check_noise = Exercise("05.1", "The power 3/4", 5, 1, f"{_COUNTS}:NOISE")
check_ppmi = Exercise("05.2", "Shifted PPMI", 15, 2, f"{_COUNTS}:PPMI")
check_subsampling = Exercise("05.3", "Subsample, then count", 20, 3, f"{_COUNTS}:SUBSAMPLING")
check_gradients = Exercise("05.4", "Two gradients", 20, 3, f"{_VECTORS}:GRADIENTS")
check_analogies = Exercise("05.5", "Analogies, honestly", 20, 4, f"{_VECTORS}:ANALOGIES")
check_association = Exercise("05.6", "A probe for bias", 40, 5, f"{_VECTORS}:ASSOCIATION")
