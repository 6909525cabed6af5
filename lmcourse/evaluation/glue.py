"""What GLUE reports: for each task its metrics, and one average over all tasks.

GLUE (Wang et al. 2018, "GLUE: a multi-task benchmark and analysis platform for natural language
understanding", table 1) has nine tasks. MNLI is scored twice, on texts of the genres that it was
trained on (matched) and of others (mismatched).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import finite
from lmcourse.evaluation.metrics import accuracy, classes_of, f1, matthews, pearson, spearman
from lmcourse.evaluation.uncertainty import RESAMPLES, Metric, Score, bootstrap, proportion

METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "F1": f1,
    "Matthews": matthews,
    "Pearson": pearson,
    "Spearman": spearman,
}


@dataclass(frozen=True)
class GlueTask:
    """One row of GLUE.

    Attributes:
        name: as the paper writes it.
        metrics: what is reported, by the names of ``METRICS``.
        classes: how many there are, numbered from 0; None: the label is a number of 0 … 5. Where
            an F1 is reported, 1 is the positive class (a paraphrase, a duplicate).
        asks: what is asked of a text, in plain words.
    """

    name: str
    metrics: tuple[str, ...]
    classes: int | None
    asks: str


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
        GlueTask("QNLI", ("accuracy",), 2, "Does the sentence hold the question's answer?"),
        GlueTask("RTE", ("accuracy",), 2, "Does A entail B?"),
        GlueTask("WNLI", ("accuracy",), 2, "Does B follow if the pronoun is read so?"),
    )
}
HIGHEST = 5.0  # label of STS-B


def glue_scores(
    task: str, labels: Any, predictions: Any, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Score]:
    """What GLUE reports for a task, each score with its standard error.

    An accuracy's is exact (`proportion`), the others' are bootstrapped.

    Args:
        task: one of ``TASKS``.
        labels: the right classes, counted from 0; for STS-B numbers of 0 … 5.
        predictions: the same of a model; for STS-B any numbers.
        resamples, seed: of the bootstrap.

    Raises:
        CourseError: the task is unknown; there is no example; a label is none of the task's.
    """
    known = _task(task)
    if known.classes is None:
        _check_range("labels", finite("labels", labels), HIGHEST, task)
    else:
        for name, numbers in zip(
            ("labels", "predictions"), classes_of(labels, predictions), strict=True
        ):
            _check_range(name, numbers, known.classes - 1, task)
    scores: dict[str, Score] = {}
    for metric in known.metrics:
        if metric == "accuracy":
            y, found = classes_of(labels, predictions)
            scores[metric] = proportion(y == found)
        else:
            measure = METRICS[metric]
            scores[metric] = bootstrap(measure, labels, predictions, resamples=resamples, seed=seed)
    return scores


def glue_average(
    scores: Mapping[str, Mapping[str, float | Score]], without: Collection[str] = ()
) -> float:
    """GLUE's one number: the mean over tasks of the mean over each task's metrics.

    A task with two metrics counts once, with the mean of both, and so does MNLI, with the mean of
    matched and mismatched (Wang et al. 2018, section 3.4). The BERT paper's average (Devlin et al.
    2019, table 1) is another: without WNLI, with one metric a task, and with MNLI counted twice.

    Args:
        scores: of each task in ``TASKS`` its metrics, such as {"MRPC": {"accuracy": 0.85,
            "F1": 0.89}, …}, as `glue_scores` gives them.
        without: tasks that are left out. An average over other tasks is another number, so this
            must be said.

    Raises:
        CourseError: a task or metric is missing or unknown.
    """
    for name in (*scores, *without):
        _task(name)
    wanted = [name for name in TASKS if name not in without]
    missing = [name for name in wanted if name not in scores]
    if missing or not wanted:
        raise CourseError(
            f"The average lacks {', '.join(missing) or 'all tasks'}.",
            f"Give their scores; or, if the average may be another one, without={missing!r}.",
        )
    by_task: dict[str, list[float]] = {}
    for name in wanted:
        both = "MNLI" if name.startswith("MNLI") else name
        by_task.setdefault(both, []).append(_mean(TASKS[name], scores[name]))
    return float(np.mean([np.mean(values) for values in by_task.values()]))


def _mean(task: GlueTask, scores: Mapping[str, float | Score]) -> float:
    if not isinstance(scores, Mapping):
        raise CourseError(
            f"{task.name} is given {scores!r:.40}.",
            f"Give {' and '.join(task.metrics)} by name: {{{task.metrics[0]!r}: …}}.",
        )
    if set(scores) != set(task.metrics):
        raise CourseError(
            f"{task.name} is given {', '.join(scores) or 'no metric'}.",
            f"Give {' and '.join(task.metrics)}.",
        )
    values = {name: it.value if isinstance(it, Score) else it for name, it in scores.items()}
    for name, value in values.items():
        if not isinstance(value, Real):
            raise CourseError(f"{name} of {task.name} is {value!r:.40}.", "Give a number.")
    return float(np.mean(list(values.values())))


def _task(name: str) -> GlueTask:
    if name not in TASKS:
        raise CourseError(f"GLUE has no task {name!r}.", f"Choose one of: {', '.join(TASKS)}.")
    return TASKS[name]


def _check_range(name: str, numbers: np.ndarray, last: int | float, task: str) -> None:
    if numbers.dtype.kind == "U":
        raise CourseError(
            f"{name} of {task} are strings.", f"Number the classes, 0 to {last:g}, in one order."
        )
    if numbers.min() < 0 or numbers.max() > last:
        wrong = (numbers < 0) | (numbers > last)
        at = int(wrong.argmax())
        raise CourseError(
            f"{name}[{at}] is {numbers[at]:g}; {task} has labels of 0 to {last:g}.",
            "See how the data's labels are numbered. (A test set without labels has −1.)",
        )
