"""How SQuAD counts an answer: exact match and F1, after both texts are normalized.

An answer is a piece of a text, and people mark it differently: "the Eiffel Tower", "Eiffel Tower.".
So both texts are normalized first, the prediction is held against each of the answers that people
gave, and the best counts (Rajpurkar et al. 2016, "SQuAD: 100,000+ questions for machine
comprehension of text", section 6.1):

    exact match   1 if both texts are the same, else 0
    F1            of the words: with c words in common (each as often as it stands in both),
                  precision = c / words of the prediction, recall = c / words of the answer

In SQuAD 2.0 (Rajpurkar et al. 2018, "Know what you don't know") some questions have no answer in
the text. Then the empty text is right, and all else is wrong. A model says for each question how
sure it is that there is none; above a threshold its answer is taken as empty.

The official scripts print 100 times as much.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import finite, same_length
from lmcourse.evaluation.uncertainty import Score, mean_score, proportion

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Lower case, no punctuation, no articles, one space between words; in this order.

    Punctuation is ASCII's alone and goes without a trace: "U.S." becomes "us" and "well-known"
    "wellknown", while “curly” quotes and dashes stay. Accents are letters: an "é" of one character
    and one of two are different.

    Raises:
        CourseError: this is no string.
    """
    if not isinstance(text, str):
        raise CourseError(
            f"An answer is of type {type(text).__name__}.",
            'Pass text; "" says that there is no answer.',
        )
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> bool:
    """Whether a prediction is one of the answers, after normalization.

    Args:
        prediction: the answer's text; "" says that there is none.
        answers: all that are accepted; none if the question has no answer.

    Raises:
        CourseError: one is no string, or ``answers`` is a single one.
    """
    return normalize_answer(prediction) in accepted(answers)


def answer_f1(prediction: str, answers: Sequence[str]) -> float:
    """The F1 of the words of a prediction and of the answer that it meets best.

    Where either is empty, it is 1 if both are and 0 otherwise, as in the script of SQuAD 2.0; 1.1's
    has 0 for two texts of nothing but articles.

    Args and raises: as `exact_match`.
    """
    found = normalize_answer(prediction).split()
    return max(_overlap(found, answer.split()) for answer in accepted(answers))


def accepted(answers: Iterable[str]) -> list[str]:
    """The normalized answers; what is empty then is none. Without any, the empty text is right."""
    if isinstance(answers, str):
        raise CourseError(
            f"answers is the single text {answers[:40]!r}.",
            "Pass a list of all that are accepted: [answer]; none if there is no answer.",
        )
    if isinstance(answers, Mapping):  # as the `datasets` library has them
        raise CourseError(
            f"The answers of a question are a dictionary of {', '.join(map(str, answers))}.",
            "Pass its texts alone: answers['text'].",
        )
    if not isinstance(answers, Iterable):
        raise CourseError(
            f"answers is of type {type(answers).__name__}.",
            "Pass a list of all that are accepted: [answer]; [] if there is no answer.",
        )
    return [text for text in map(normalize_answer, answers) if text] or [""]


def _overlap(found: list[str], wanted: list[str]) -> float:
    if not found or not wanted:
        return float(found == wanted)
    common = (Counter(found) & Counter(wanted)).total()
    return 2 * common / (len(found) + len(wanted))


# ------------------------------------------------------------------------------- many questions


@dataclass(frozen=True)
class Part:
    """The scores of some questions, with standard errors; ``None`` where there are none."""

    count: int
    exact: Score | None
    f1: Score | None


@dataclass(frozen=True)
class Threshold:
    """The best that a threshold can do.

    Attributes:
        value: a question is answered if its score of having no answer is at most this.
        score: the mean score then. Found and measured on the same questions, it flatters: choose
            it on one set of questions and apply it to another.
    """

    value: float
    score: float


@dataclass(frozen=True)
class SquadScores:
    """What SQuAD's scripts report.

    Attributes:
        all, answerable, unanswerable: exact match and F1 over these questions.
        best_exact, best_f1: by the best threshold for each; None without ``no_answer``.
    """

    all: Part
    answerable: Part
    unanswerable: Part
    best_exact: Threshold | None = None
    best_f1: Threshold | None = None


def squad_scores(
    predictions: Sequence[str],
    answers: Sequence[Sequence[str]],
    *,
    no_answer: Any = None,
    threshold: float | None = None,
) -> SquadScores:
    """Exact match and F1 of a set of questions.

    Args:
        predictions: one text a question; "" says that there is no answer.
        answers: of each question all accepted texts; none if it has no answer.
        no_answer: of each question, how sure the model is that there is none (a probability, or a
            difference of logits). With it, the best thresholds are looked for.
        threshold: above it, a prediction is taken as empty; None: all stay as they are.

    Raises:
        CourseError: there is no question; lengths differ; a text is none; ``no_answer`` holds NaN,
            or is not given where a threshold is.
    """
    _check(predictions, answers, no_answer, threshold)
    answerable = np.array([accepted(each) != [""] for each in answers])
    pairs = list(zip(predictions, answers, strict=True))
    exact = np.array([exact_match(*pair) for pair in pairs], float)
    overlap = np.array([answer_f1(*pair) for pair in pairs])
    best: list[Threshold | None] = [None, None]
    if no_answer is not None:
        sure = finite("no_answer", no_answer)
        best = [best_threshold(each, answerable, sure) for each in (exact, overlap)]
        if threshold is not None:
            exact = np.where(sure > threshold, ~answerable, exact)
            overlap = np.where(sure > threshold, ~answerable, overlap)
    return SquadScores(
        _part(exact, overlap),
        _part(exact[answerable], overlap[answerable]),
        _part(exact[~answerable], overlap[~answerable]),
        *best,
    )


def best_threshold(
    scores: Float[np.ndarray, " question"],
    answerable: Bool[np.ndarray, " question"],
    no_answer: Float[np.ndarray, " question"],
) -> Threshold:
    """Below which score of "there is no answer" questions are best answered.

    The threshold is moved up from −∞, where nothing is answered and each unanswerable question is
    right. Each question that it passes is answered: its own score comes in place of that of
    silence. (The official script passes questions of equal score one by one, and may report a best
    that no threshold reaches; here they are passed together.)

    Args:
        scores: what each prediction is worth, exact match or F1.
        answerable: whether the question has an answer.
        no_answer: how sure the model is that it has none.

    Returns:
        The lowest of the best thresholds; −∞: nothing is answered.
    """
    order = np.argsort(no_answer, kind="stable")
    sure = no_answer[order]
    gains = np.cumsum((scores - ~answerable)[order])  # over silence, with so many answered
    last = np.append(sure[1:] > sure[:-1], True)  # of those with the same score
    values = np.concatenate([[-np.inf], sure[last]])
    totals = (~answerable).sum() + np.concatenate([[0.0], gains[last]])
    best = int(totals.argmax())
    return Threshold(float(values[best]), float(totals[best] / len(scores)))


def _part(exact: Float[np.ndarray, " question"], overlap: Float[np.ndarray, " question"]) -> Part:
    if not len(exact):
        return Part(0, None, None)
    return Part(len(exact), proportion(exact), mean_score(overlap))


def _check(predictions: Any, answers: Any, no_answer: Any, threshold: Any) -> None:
    if isinstance(predictions, str) or isinstance(answers, str):
        raise CourseError("This is a single text.", "Pass a list, with one entry a question.")
    if isinstance(answers, Mapping):
        accepted(answers)  # which says what is wrong, if it is one question's
    if isinstance(predictions, Mapping):
        raise CourseError(
            f"predictions is a dictionary of {len(predictions):,}.",
            "Pass a list of texts, in the order of answers: [predictions[id] for id in ids], with "
            "each question's id.",
        )
    if not len(predictions) and not len(answers):
        raise CourseError("There is no question.", "Pass the predictions for some questions.")
    lengths = {"predictions": np.empty(len(predictions)), "answers": np.empty(len(answers))}
    if no_answer is not None:
        lengths["scores of having no answer"] = finite("no_answer", no_answer)
    same_length(**lengths)
    if threshold is not None and (not isinstance(threshold, Real) or math.isnan(threshold)):
        told = repr(threshold).replace("nan", "NaN")
        raise CourseError(f"The threshold is {told}.", "Give a number, or None for none.")
    if no_answer is None and threshold is not None:
        raise CourseError(
            f"There is a threshold of {threshold}, and nothing to hold it against.",
            "Pass no_answer: of each question, how sure the model is that there is none.",
        )
