"""Measures: what a model's predictions are worth."""

from lmcourse.evaluation.perplexity import mean_negative_log_likelihood, perplexity

__all__ = ["mean_negative_log_likelihood", "perplexity"]
