"""Part-of-speech tagging of the Brown corpus: `lmcourse tagging`.

The corpus is `lmcourse.corpus.brown`; what was found is in ``data/tagging``.
"""
