"""SQuAD's metrics: exact match and F1 of normalized answers.

An answer is a span of a text, and annotators mark it differently: "the Eiffel Tower", "Eiffel
Tower.". Both texts are normalized first, the prediction is compared with each of the annotators'
answers, and the best score counts (Rajpurkar et al. 2016, "SQuAD: 100,000+ questions for machine
comprehension of text", section 6.1):

    exact match   1 if both texts are equal, else 0
    F1            over words: with c words in common (as a multiset),
                  precision = c / words of the prediction, recall = c / words of the answer

In SQuAD 2.0 (Rajpurkar et al. 2018, "Know what you don't know") some questions have no answer in
the text; for these only a prediction that normalizes to nothing, as "" or "the", is right. Answers
that normalize to nothing are ignored; without others, a question is scored as if it had none. This
is the official script's rule; the script prints percentages. It also prints best_exact and best_f1,
over thresholds for the probability of no answer, where "the" does count as an answer; these are not
computed here.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lmcourse.errors import CourseError
from lmcourse.evaluation.uncertainty import Score, mean_score, proportion

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


class SquadScores(NamedTuple):
    """Means over questions, with standard errors."""

    exact: Score
    f1: Score


def normalize_answer(text: str) -> str:
    """Lower the case, then remove punctuation, articles and extra spaces, in this order.

    Only ASCII punctuation is removed, without a space in its stead: "U.S." becomes "us" and
    "well-known" "wellknown", while “curly” quotes and dashes stay. Unicode is not normalized.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> bool:
    """Return whether a prediction equals one of the answers, after normalization.

    Args:
        prediction: the answer's text; "" for no answer.
        answers: all accepted texts; empty if the question has no answer.
    """
    return normalize_answer(prediction) in _normalized(answers)


def answer_f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the largest F1 between the words of a prediction and those of an answer.

    Where either is empty, it is 1 if both are and 0 otherwise, as in the script of SQuAD 2.0.

    Args and raises: as `exact_match`.
    """
    words = normalize_answer(prediction).split()
    return max(_f1(words, answer.split()) for answer in _normalized(answers))


def squad_scores(predictions: Sequence[str], answers: Sequence[Sequence[str]]) -> SquadScores:
    """Return the mean exact match and F1 over questions.

    Args:
        predictions: one text per question; "" for no answer.
        answers: all accepted texts of each question; empty if it has no answer.
    """
    pairs = list(zip(predictions, answers, strict=True))
    return SquadScores(
        proportion([exact_match(*pair) for pair in pairs]),
        mean_score([answer_f1(*pair) for pair in pairs]),
    )


def _normalized(answers: Sequence[str]) -> list[str]:
    """The normalized answers that are not empty; the empty text if there is none."""
    if isinstance(answers, str | Mapping):
        raise CourseError(
            f"answers is of type {type(answers).__name__}.",
            "Pass the list of accepted texts: [answer], or answers['text'] of the `datasets` "
            "library; [] if there is no answer.",
        )
    return [text for text in map(normalize_answer, answers) if text] or [""]


def _f1(prediction: list[str], answer: list[str]) -> float:
    if not prediction or not answer:
        return float(prediction == answer)
    common = (Counter(prediction) & Counter(answer)).total()
    return 2 * common / (len(prediction) + len(answer))
