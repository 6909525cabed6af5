"""What GLUE reports: task by task, and the average that was published."""

import numpy as np
import pytest

from lmcourse.errors import CourseError
from lmcourse.evaluation import metrics
from lmcourse.evaluation.glue import TASKS, glue_average, glue_scores
from lmcourse.evaluation.uncertainty import Score

# BERT-large on GLUE's leaderboard of 2018, and its overall score there: 80.5.
BERT_LARGE = {
    "CoLA": {"Matthews": 60.5},
    "SST-2": {"accuracy": 94.9},
    "MRPC": {"F1": 89.3, "accuracy": 85.4},
    "STS-B": {"Pearson": 87.6, "Spearman": 86.5},
    "QQP": {"F1": 72.1, "accuracy": 89.3},
    "MNLI-m": {"accuracy": 86.7},
    "MNLI-mm": {"accuracy": 85.9},
    "QNLI": {"accuracy": 92.7},
    "RTE": {"accuracy": 70.1},
    "WNLI": {"accuracy": 65.1},
}


def test_the_average_is_the_published_one():
    assert round(glue_average(BERT_LARGE), 1) == 80.5
    # Of one number a column, as a table's last column may be averaged, it would be another.
    columns = [value for scores in BERT_LARGE.values() for value in scores.values()]
    assert round(float(np.mean(columns)), 1) != 80.5


def test_what_is_left_out_of_the_average_is_said():
    eight = {name: it for name, it in BERT_LARGE.items() if name != "WNLI"}
    with pytest.raises(CourseError, match="The average lacks WNLI"):
        glue_average(eight)
    wanted = (80.5 * 9 - 65.1) / 8
    assert glue_average(eight, without=["WNLI"]) == pytest.approx(wanted, abs=0.05)
    assert glue_average(BERT_LARGE, without=["WNLI"]) == glue_average(eight, without=["WNLI"])
    one = glue_average(BERT_LARGE, without=[name for name in TASKS if name != "MNLI-m"])
    assert one == 86.7


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
        "accuracy": metrics.accuracy,
        "F1": metrics.f1,
        "Matthews": metrics.matthews,
        "Pearson": metrics.pearson,
        "Spearman": metrics.spearman,
    }
    assert tuple(scores) == task.metrics
    for metric, score in scores.items():
        assert score.value == pytest.approx(by_name[metric](y, found))
        assert 0 < score.error < 0.15 and score.low < score.value < score.high


def test_scores_go_into_the_average_as_they_come():
    with_errors = {
        task: {metric: Score(value, 1.0, 0.0, 0.0) for metric, value in scores.items()}
        for task, scores in BERT_LARGE.items()
    }
    assert glue_average(with_errors) == glue_average(BERT_LARGE)


def test_a_network_that_has_collapsed():
    y = [0, 1, 1, 0, 1]
    assert glue_scores("CoLA", y, [1] * 5, resamples=20)["Matthews"].value == 0
    stsb = glue_scores("STS-B", [0.0, 2.5, 5.0], [3.0] * 3, resamples=20)
    assert np.isnan(stsb["Pearson"].value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: glue_scores("MNLI", [1], [1]), "no task 'MNLI'. Choose one of: .*MNLI-m, MNLI-mm"),
        (lambda: glue_scores("RTE", [], []), "labels is empty"),
        (lambda: glue_scores("RTE", [0, 2], [0, 1]), r"labels\[1\] is 2; RTE has .* 0 to 1"),
        (lambda: glue_scores("RTE", [0, 1], [0, 3]), r"predictions\[1\] is 3"),
        (lambda: glue_scores("SST-2", [-1, -1], [0, 1]), "test set without labels"),
        (lambda: glue_scores("MNLI-m", ["neutral"], ["neutral"]), "Number the classes"),
        (lambda: glue_scores("STS-B", [1.0, 5.5], [1.0, 2.0]), r"labels\[1\] is 5.5"),
        (lambda: glue_scores("STS-B", [1.0, np.nan], [1.0, 2.0]), r"labels\[1\] is nan"),
        (lambda: glue_average(BERT_LARGE | {"CoLA": 0.5}), "CoLA is given 0.5. Give Matthews"),
        (
            lambda: glue_average(BERT_LARGE | {"CoLA": {"Matthews": "60"}}),
            "of CoLA is '60'",
        ),
        (lambda: glue_average({}), "The average lacks CoLA"),
        (lambda: glue_average(BERT_LARGE, without=["SST"]), "no task 'SST'"),
        (lambda: glue_average(BERT_LARGE, without=list(TASKS)), "lacks all tasks"),
        (lambda: glue_average(BERT_LARGE | {"MRPC": {"F1": 88.9}}), "MRPC is given F1. Give acc"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()
