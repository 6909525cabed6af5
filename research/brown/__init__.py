"""Table 1 of Bengio et al. (2003, "A neural probabilistic language model") again: `lmcourse brown`.

The Brown corpus is `lmcourse.corpus.brown`; what was found is in ``data/brown``.
"""
