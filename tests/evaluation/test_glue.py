"""What GLUE reports, task by task."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from lmcourse.errors import CourseError
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


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: glue_scores("MNLI", [1], [1]), "no task 'MNLI'. Choose one of: .*MNLI-m, MNLI-mm"),
        (lambda: glue_scores("RTE", [], []), "labels has the shape"),
        (lambda: glue_scores("RTE", [0, 1], [0]), "2 labels, 1 predictions"),
        (lambda: glue_scores("RTE", [0, 2], [0, 1]), r"labels\[1\] is 2; RTE has .* 0 to 1"),
        (lambda: glue_scores("RTE", [0, 1], [0, 0.7]), r"predictions\[1\] is 0.7"),
        (lambda: glue_scores("SST-2", [-1, -1], [0, 1]), "test set without labels"),
        (lambda: glue_scores("MNLI-m", ["neutral"], ["neutral"]), "Pass numbers"),
        (lambda: glue_scores("STS-B", [1.0, 5.5], [1.0, 2.0]), r"labels\[1\] is 5.5"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()
