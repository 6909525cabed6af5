"""Evaluation: what a model's predictions are worth, and how sure that is.

the probability of a text    `perplexity` of `token_probabilities`; `text_score` of documents, with
                             `pseudo_text_score` for a masked model
the distance to the floor    `gap_table`, of a model or of what `of_causal` and `of_masked` make of
                             one with another vocabulary
labels and predictions       `lmcourse.evaluation.metrics`, `.glue` and `.squad`
how sure a score is          `mean_score`, `proportion`, `bootstrap`; whether one system is better,
                             `mcnemar`, `paired_bootstrap`
what a frozen model knows    `lmcourse.evaluation.probes`
the arrays of a widget       `.attention`, `.gates`, `.gradient_flow`, `.masked_predictions`
"""

from lmcourse.evaluation.gaps import GapTable, gap_table
from lmcourse.evaluation.perplexity import perplexity, text_score, token_probabilities
from lmcourse.evaluation.predictors import of_causal, of_masked
from lmcourse.evaluation.pseudo_perplexity import pseudo_text_score
from lmcourse.evaluation.uncertainty import (
    Comparison,
    Score,
    bootstrap,
    mcnemar,
    mean_score,
    paired_bootstrap,
    proportion,
)

__all__ = [
    "Comparison",
    "GapTable",
    "Score",
    "bootstrap",
    "gap_table",
    "mcnemar",
    "mean_score",
    "of_causal",
    "of_masked",
    "paired_bootstrap",
    "perplexity",
    "proportion",
    "pseudo_text_score",
    "text_score",
    "token_probabilities",
]
