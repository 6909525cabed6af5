"""GLUE's metrics: their formulas by hand, scikit-learn and SciPy, and what is refused."""

import math
import warnings
from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics as reference

from lmcourse.errors import CourseError
from lmcourse.evaluation.metrics import accuracy, f1, matthews, pearson, spearman

EITHER = [accuracy, f1, matthews]


def counts(y, found):
    pairs = Counter(zip(y, found, strict=True))
    return pairs[1, 1], pairs[0, 1], pairs[1, 0], pairs[0, 0]  # TP, FP, FN, TN


@pytest.mark.parametrize("seed", range(30))
def test_two_classes_by_the_formulas_and_as_scikit_learn_has_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    y, found = (rng.random((2, n)) < rng.random((2, 1))).astype(int)  # also all of one class
    tp, fp, fn, tn = counts(y.tolist(), found.tolist())
    assert accuracy(y, found) == pytest.approx((tp + tn) / n)
    assert f1(y, found) == pytest.approx(2 * tp / max(1, 2 * tp + fp + fn))
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert matthews(y, found) == pytest.approx((tp * tn - fp * fn) / below if below else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f1(y, found) == reference.f1_score(y, found)
        assert matthews(y, found) == reference.matthews_corrcoef(y, found)


@pytest.mark.parametrize("kind", ["numbers", "strings", "tensors"])
@pytest.mark.parametrize("seed", range(5))
def test_several_classes_as_scikit_learn_has_them(seed, kind):
    rng = np.random.default_rng(seed)
    y, found = rng.integers(4, size=(2, 60))
    found[found == 3] = 2  # a class that is never said
    if kind == "strings":
        y, found = ([f"tag {i}" for i in it] for it in (y, found))
    given = (torch.tensor(y), torch.tensor(found)) if kind == "tensors" else (y, found)
    macro = reference.f1_score(y, found, average="macro", zero_division=0)
    assert f1(*given, average="macro") == pytest.approx(macro)
    assert f1(*given, average="micro") == pytest.approx(accuracy(*given))
    assert accuracy(*given) == reference.accuracy_score(y, found)
    assert matthews(*given) == reference.matthews_corrcoef(y, found)
    some = ["tag 0", "tag 1"] if kind == "strings" else [0, 1]
    wanted = reference.f1_score(y, found, average="micro", labels=some)
    assert f1(*given, average="micro", classes=some) == pytest.approx(wanted)


def test_macro_counts_a_rare_class_as_much_as_a_frequent_one():
    y = [0] * 98 + [1] * 2
    found = [0] * 100
    assert f1(y, found, average="macro") == pytest.approx((2 * 98 / (2 * 98 + 2) + 0) / 2)
    assert accuracy(y, found) == 0.98 and matthews(y, found) == 0 and f1(y, found) == 0
    assert f1(y, found, positive=0) == pytest.approx(2 * 98 / (2 * 98 + 2))


def test_strings_have_a_positive_class_too():
    y, found = ["yes", "no", "yes"], np.array(["yes", "yes", "no"], object)
    assert f1(y, found, positive="yes") == pytest.approx(0.5)
    assert f1(["no"], ["no"], positive="yes") == 0
    assert f1([True, False], [True, True]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metric", EITHER)
def test_one_class_and_constant_predictions_have_a_score_and_no_warning(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric([1, 1, 1], [1, 1, 1]) == (0 if metric is matthews else 1)
        assert metric([0, 0, 0], [0, 0, 0]) == (1 if metric is accuracy else 0)
        assert metric([1, 0], [0, 1]) == (-1 if metric is matthews else 0)
        assert metric([1], [1]) == (0 if metric is matthews else 1)


@pytest.mark.parametrize("seed", range(10))
def test_correlations_by_the_formulas_and_as_scipy_has_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 50))
    y, found = rng.integers(6, size=n) * 1.0, rng.normal(size=n)
    found += y * rng.normal()
    assert pearson(y, found) == pytest.approx(np.corrcoef(y, found)[0, 1])
    assert pearson(torch.tensor(y), found) == pytest.approx(stats.pearsonr(y, found)[0])
    # Ranks by brute force: how many are smaller, and half of those that are equal.
    ranks = [[(it < x).sum() + (it == x).sum() / 2 for x in it] for it in (y, found)]
    assert spearman(y, found) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert spearman(y, found) == pytest.approx(stats.spearmanr(y, found)[0])


@pytest.mark.parametrize("metric", [pearson, spearman])
def test_a_constant_has_no_correlation_and_raises_no_warning(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(metric([1, 2, 3], [2, 2, 2]))
        assert math.isnan(metric([2.5, 2.5], [1, 2]))
        assert metric([1, 2], [10, 30]) == pytest.approx(1)
        assert metric([1, 2], [3, -3]) == pytest.approx(-1)


def test_pearson_sees_a_line_and_spearman_an_order():
    y = np.arange(1, 20)
    assert spearman(y, y**5) == pytest.approx(1) and pearson(y, y**5) < 0.9
    assert pearson(y, y / 5 + 3) == pytest.approx(1)


@pytest.mark.parametrize("metric", [*EITHER, pearson, spearman])
@pytest.mark.parametrize(
    "y, found, message",
    [
        ([], [], "labels is empty"),
        ([1, 0], [], "predictions is empty"),
        ([1, 0], [1], "2 labels, 1 predictions"),
        ([1, math.nan], [1, 0], r"labels\[1\] is nan"),
        ([1, 0], [math.inf, 0], r"predictions\[0\] is inf"),
        ([1, None], [1, 0], "NoneType"),
        ([1, "0"], [1, 0], "type int, str"),
        ([1, 0], [[0.2, 0.8], [0.7, 0.3]], r"argmax\(-1\)"),
        ([1, 0], [[1], [1, 0]], "different lengths"),
        ([1, 0], 1, "one value an example"),
    ],
)
def test_what_is_no_column_is_refused(metric, y, found, message):
    with pytest.raises(CourseError, match=message):
        metric(y, found)


@pytest.mark.parametrize("metric", EITHER)
@pytest.mark.parametrize(
    "y, found, message",
    [
        ([1, 0], ["1", "0"], "labels are numbers and predictions strings"),
        ([1, 0], [0.7, 0.2], r"predictions\[0\] is 0.7, which is no class"),
        ([1, -100], [1, 0], "not to be predicted"),
    ],
)
def test_what_is_no_class_is_refused(metric, y, found, message):
    with pytest.raises(CourseError, match=message):
        metric(y, found)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: f1([0, 1, 2], [0, 1, 2]), 'average="macro"'),
        (lambda: f1(["a", "b"], ["a", "b"]), "The positive class 1 is none of 'a', 'b'"),
        (lambda: f1([1, 2], [1, 2], positive=3), "The positive class 3"),
        (lambda: f1([1], [1], average="weighted"), "no choice"),
        (lambda: f1([1, 0], [1, 0], average="macro", classes=[5]), "none of the classes"),
        (lambda: f1([1, 0], [1, 0], average="macro", classes=[]), "none of the classes"),
        (lambda: pearson(["a", "b"], [1, 2]), "no numbers"),
        (lambda: spearman([1], [1]), "at least two"),
    ],
)
@pytest.mark.bad_input
def test_what_has_no_such_score_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_any_precision_are_columns_gradients_and_all(kind):
    y = torch.tensor([0.0, 1.0, 1.0, 3.0], dtype=kind, requires_grad=True)
    found = torch.tensor([0.0, 1.0, 2.0, 3.0], dtype=kind, requires_grad=True)
    assert accuracy(y, found) == 0.75
    assert pearson(y, found) == pytest.approx(pearson([0, 1, 1, 3], [0, 1, 2, 3]))
    assert accuracy(list(y), list(found)) == 0.75  # and as a list of numbers
