"""What GLUE reports, task by task."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from lmcourse.evaluation.glue import TASKS, glue_scores


@pytest.mark.parametrize("name", TASKS)
def test_each_task_is_scored_with_its_metrics(name):
    rng = np.random.default_rng(0)
    task = TASKS[name]
    if task.classes is None:
        y = rng.uniform(0, 5, 120)
        found = y + rng.normal(size=120) * 2
    else:
        y = rng.integers(task.classes, size=120)
        found = np.where(rng.random(120) < 0.7, y, (y + 1) % task.classes)
    scores = glue_scores(name, y, found, resamples=60)
    by_name = {
        "accuracy": metrics.accuracy_score,
        "F1": metrics.f1_score,
        "Matthews": metrics.matthews_corrcoef,
        "Pearson": lambda *both: stats.pearsonr(*both)[0],
        "Spearman": lambda *both: stats.spearmanr(*both)[0],
    }
    assert tuple(scores) == task.metrics
    for metric, score in scores.items():
        assert score.value == pytest.approx(by_name[metric](y, found))
        assert 0 < score.error < 0.15 and score.low < score.value < score.high


def test_constant_predictions_are_scored_without_a_warning():
    y = [0, 1, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert glue_scores("CoLA", y, [1] * 5, resamples=20)["Matthews"].value == 0
        assert glue_scores("MRPC", [0] * 5, [0] * 5, resamples=20)["F1"].value == 0
        stsb = glue_scores("STS-B", [0.0, 2.5, 5.0], [3.0] * 3, resamples=20)
    assert np.isnan(stsb["Pearson"].value) and np.isnan(stsb["Spearman"].value)
