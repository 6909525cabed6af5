"""The metrics that GLUE reports for each task.

GLUE (Wang et al. 2018, "GLUE: a multi-task benchmark and analysis platform for natural language
understanding", table 1) has nine tasks. MNLI is scored twice, on texts of the genres that it was
trained on (matched) and of others (mismatched). scikit-learn and SciPy compute the metrics.
"""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from lmcourse.evaluation.columns import column
from lmcourse.evaluation.uncertainty import RESAMPLES, Metric, Score, bootstrap, proportion

METRICS: dict[str, Metric] = {
    "accuracy": accuracy_score,
    "F1": partial(f1_score, zero_division=0),
    "Matthews": matthews_corrcoef,
    "Pearson": lambda labels, predictions: pearsonr(labels, predictions).statistic,
    "Spearman": lambda labels, predictions: spearmanr(labels, predictions).statistic,
}


@dataclass(frozen=True)
class GlueTask:
    """One row of GLUE.

    Attributes:
        name: as the paper writes it.
        metrics: what is reported, by the names of ``METRICS``.
        classes: how many there are, numbered from 0; None: the label is a number from 0 to 5. For
            F1, class 1 is the positive one (a paraphrase, a duplicate).
        question: what the model decides about a text.
    """

    name: str
    metrics: tuple[str, ...]
    classes: int | None
    question: str


TASKS: dict[str, GlueTask] = {
    task.name: task
    for task in (
        GlueTask("CoLA", ("Matthews",), 2, "Is the sentence acceptable English?"),
        GlueTask("SST-2", ("accuracy",), 2, "Is what a critic says positive?"),
        GlueTask("MRPC", ("accuracy", "F1"), 2, "Do two sentences of the news say the same?"),
        GlueTask("STS-B", ("Pearson", "Spearman"), None, "How similar are two sentences, 0 to 5?"),
        GlueTask("QQP", ("accuracy", "F1"), 2, "Do two questions ask the same?"),
        GlueTask("MNLI-m", ("accuracy",), 3, "Does A entail B, contradict it, or neither?"),
        GlueTask("MNLI-mm", ("accuracy",), 3, "The same, in genres that were not trained on."),
        GlueTask("QNLI", ("accuracy",), 2, "Does the sentence contain the question's answer?"),
        GlueTask("RTE", ("accuracy",), 2, "Does A entail B?"),
        GlueTask("WNLI", ("accuracy",), 2, "Does B follow if the pronoun is resolved so?"),
    )
}


def glue_scores(
    task: str, labels: Any, predictions: Any, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Score]:
    """Return what GLUE reports for a task, each score with its standard error.

    The error of an accuracy is computed by `proportion`, those of other metrics by `bootstrap`.

    Args:
        task: one of ``TASKS``.
        labels: classes, counted from 0; numbers from 0 to 5 for STS-B. Shape (example).
        predictions: classes; any numbers for STS-B. Shape (example).
        resamples, seed: of the bootstrap.

    Returns:
        The score by metric. A correlation with a constant is nan; Matthews' is 0.
    """
    y, predicted = column(labels, float), column(predictions, float)
    scores: dict[str, Score] = {}
    with warnings.catch_warnings():  # of SciPy and scikit-learn, about resamples with one class
        warnings.simplefilter("ignore")
        for name in TASKS[task].metrics:
            if name == "accuracy":
                scores[name] = proportion(y == predicted)
            else:
                metric = METRICS[name]
                scores[name] = bootstrap(metric, y, predicted, resamples=resamples, seed=seed)
    return scores
