"""Evaluation of models: scores, with their standard errors.

the probability of a text    `perplexity` of `token_probabilities`
the distance to the floor    `gap_table`, of a model; `of_causal` and `of_masked` adapt one with
                             another vocabulary
labels and predictions       GLUE's and SQuAD's metrics: `lmcourse.evaluation.glue` and `.squad`
human ratings, analogies     `.word_similarity`
standard errors              `mean_score`, `proportion`, `bootstrap`
what a frozen model knows    `lmcourse.evaluation.probes`
the arrays of a widget       `.attention`, `.gates`, `.gradient_flow`, `.masked_predictions`
"""

from lmcourse.evaluation.gaps import GapTable, gap_table
from lmcourse.evaluation.perplexity import perplexity, token_probabilities
from lmcourse.evaluation.predictors import of_causal, of_masked
from lmcourse.evaluation.uncertainty import (
    Score,
    bootstrap,
    mean_score,
    proportion,
)

__all__ = [
    "GapTable",
    "Score",
    "bootstrap",
    "gap_table",
    "mean_score",
    "of_causal",
    "of_masked",
    "perplexity",
    "proportion",
    "token_probabilities",
]
