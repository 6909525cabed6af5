"""Measures: what a model's predictions are worth."""

from lmcourse.evaluation.perplexity import perplexity, token_probabilities

__all__ = ["perplexity", "token_probabilities"]
