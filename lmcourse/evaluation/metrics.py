"""What answers are worth: GLUE's metrics, for a course that says what each of them rewards.

    from lmcourse.evaluation.metrics import accuracy, f1, matthews, pearson, spearman

scikit-learn and SciPy do the counting. What is added here is what they let pass: labels that are
NaN, of another kind than the predictions, or not to be predicted at all. Of one class of two (the
positive one) they count true and false positives and negatives:

                        predicted positive      predicted negative
    labelled positive          TP                       FN
    labelled negative          FP                       TN

All scores are shares or correlations; papers print 100 times as much. How sure they are is told by
`lmcourse.evaluation.uncertainty`, and what GLUE makes of them by `lmcourse.evaluation.glue`.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import column, finite, same_length
from lmcourse.models.inputs import IGNORED

Average = Literal["binary", "macro", "micro"]


def accuracy(labels: Any, predictions: Any) -> float:
    """The share of predictions that are right: (TP + TN) / n.

    Where nine of ten examples are of one class, always to say that class has accuracy 0.9.

    Args:
        labels, predictions: one class an example, all numbers or all strings.

    Raises:
        CourseError: there is no example; lengths or kinds differ; a number is no class.
    """
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(*classes_of(labels, predictions)))


def f1(
    labels: Any,
    predictions: Any,
    *,
    average: Average = "binary",
    positive: Any = 1,
    classes: Sequence[Any] | None = None,
) -> float:
    """The harmonic mean of precision and recall.

        precision = TP / (TP + FP)      how many of those that were called positive are
        recall    = TP / (TP + FN)      how many of the positive ones were called so
        F1 = 2 · precision · recall / (precision + recall) = 2 TP / (2 TP + FP + FN)

    It does not look at TN: a class that is rare and sought. To call everything positive has recall
    1, and an F1 above 0.8 where two thirds are positive (MRPC). 0 / 0, where nothing is positive
    and nothing was called so, counts as 0.

    Args:
        labels, predictions: one class an example, all numbers or all strings.
        average: ``"binary"``: of the positive class. ``"macro"``: each class in turn is the
            positive one; the mean of all F1, in which a rare class counts as much as a frequent
            one. ``"micro"``: TP, FP and FN are summed over classes first; over all classes this is
            the accuracy, as each wrong answer is one FP and one FN.
        positive: the positive class, for ``"binary"``.
        classes: those that ``"macro"`` and ``"micro"`` run over, such as all tags but O. None:
            those that occur in labels or predictions.

    Raises:
        CourseError: as in `accuracy`; ``"binary"`` of more than two classes, or of two of which
            none is the positive one.
    """
    from sklearn.metrics import f1_score

    if average not in ("binary", "macro", "micro"):
        raise CourseError(f"average={average!r} is no choice.", "Give binary, macro or micro.")
    y, found = classes_of(labels, predictions)
    if average == "binary":
        _check_positive(y, found, positive)
        return float(f1_score(y == positive, found == positive, zero_division=0))
    if classes is not None and (len(classes) == 0 or not np.isin(classes, y).any()):
        raise CourseError(
            f"classes={list(classes)!r} has none of the classes that occur in labels.",
            f"Choose of {_few(np.unique(y))}.",
        )
    return float(f1_score(y, found, average=average, labels=classes, zero_division=0))


def matthews(labels: Any, predictions: Any) -> float:
    """Matthews' correlation: that of labels and predictions, as columns of zeros and ones.

        MCC = (TP · TN − FP · FN) / √((TP + FP) (TP + FN) (TN + FP) (TN + FN))

    1 is right everywhere, −1 wrong everywhere, and 0 what a guess gets that does not look at the
    text, however often it says which class (Matthews 1975, "Comparison of the predicted and
    observed secondary structure of T4 phage lysozyme"; for several classes Gorodkin 2004). Where
    labels or predictions are all the same, 0 / 0 counts as 0.

    Args:
        labels, predictions: one class an example, all numbers or all strings.

    Raises:
        CourseError: as in `accuracy`.
    """
    from sklearn.metrics import matthews_corrcoef

    y, found = classes_of(labels, predictions)
    if (y == y[0]).all() or (found == found[0]).all():
        return 0.0
    return float(matthews_corrcoef(y, found))


def pearson(labels: Any, predictions: Any) -> float:
    """How nearly predictions and labels lie on a rising line.

        r = Σ (y − ȳ)(x − x̄) / √(Σ (y − ȳ)² · Σ (x − x̄)²)

    It does not see a wrong scale: predictions of 0 … 1 for labels of 0 … 5 may have r = 1.

    Args:
        labels, predictions: one number an example.

    Returns:
        −1 … 1; NaN where all labels or all predictions are the same: a network that has collapsed
        to a constant has no correlation, and GLUE's table a hole.

    Raises:
        CourseError: there are fewer than 2 examples; lengths differ; one is no finite number.
    """
    from scipy.stats import pearsonr

    return _correlation(pearsonr, labels, predictions)


def spearman(labels: Any, predictions: Any) -> float:
    """How nearly predictions and labels are in the same order: Pearson's r of their ranks.

    Equal values share the mean of their ranks.

    Args, returns and raises: as `pearson`.
    """
    from scipy.stats import spearmanr

    return _correlation(spearmanr, labels, predictions)


# ------------------------------------------------------------------------------ what is given


def classes_of(labels: Any, predictions: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels and predictions as whole numbers, or as strings.

    Raises:
        CourseError: there is none; lengths or kinds differ; one is NaN, between two whole numbers,
            or ``IGNORED``.
    """
    y, found = _classes("labels", labels), _classes("predictions", predictions)
    same_length(labels=y, predictions=found)
    if y.dtype.kind != found.dtype.kind:
        kinds = ["strings" if it.dtype.kind == "U" else "numbers" for it in (y, found)]
        raise CourseError(
            f"labels are {kinds[0]} and predictions {kinds[1]}: none of them would be right.",
            "Translate one of them, such as [names[i] for i in predictions].",
        )
    return y, found


def _classes(name: str, values: Any) -> NDArray[Any]:
    found = column(name, values)
    if found.dtype.kind == "U":
        return found
    numbers = finite(name, found)
    if (numbers != numbers.round()).any():
        at = int((numbers != numbers.round()).argmax())
        raise CourseError(
            f"{name}[{at}] is {numbers[at]:g}, which is no class.",
            "Pass classes, not scores: of one probability an example, p > 0.5.",
        )
    if (numbers == IGNORED).any():
        raise CourseError(
            f"{name} has {int((numbers == IGNORED).sum()):,} times {IGNORED}, the label of what is "
            "not to be predicted.",
            f"Leave these out of both: kept = labels != {IGNORED}.",
        )
    return numbers.astype(np.int64)


def _check_positive(y: NDArray[Any], found: NDArray[Any], positive: Any) -> None:
    """See that there is one positive class, and at most one other."""
    there = np.unique(np.concatenate([y, found]))
    if len(there) > 2:
        raise CourseError(
            f"A binary F1 is of two classes; here are {_few(there)}.",
            'Pass average="macro" or "micro", or make two of them: labels == "entailment".',
        )
    alike = isinstance(positive, str) == (y.dtype.kind == "U")
    if not alike or (len(there) == 2 and positive not in there):
        raise CourseError(
            f"The positive class {positive!r} is none of {_few(there)}.",
            f"Say which is sought, such as positive={there[-1].item()!r}.",
        )


def _few(classes: NDArray[Any]) -> str:
    shown = ", ".join(repr(it.item()) for it in classes[:5])
    return shown + ", …" * (len(classes) > 5)


def _correlation(of: Any, labels: Any, predictions: Any) -> float:
    y, found = finite("labels", labels), finite("predictions", predictions)
    same_length(labels=y, predictions=found)
    if len(y) < 2:
        raise CourseError("A correlation of one example is none.", "Pass at least two examples.")
    if (y == y[0]).all() or (found == found[0]).all():
        return float("nan")
    with warnings.catch_warnings():  # SciPy's, of columns that are nearly constant
        warnings.simplefilter("ignore")
        return float(of(y, found).statistic)
