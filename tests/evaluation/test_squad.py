"""SQuAD's scores: by hand, and by a second writing of what the papers and their scripts say."""

import math
import re
import unicodedata

import numpy as np
import pytest
from scipy import stats

from lmcourse.errors import CourseError
from lmcourse.evaluation.squad import (
    Threshold,
    answer_f1,
    best_threshold,
    exact_match,
    normalize_answer,
    squad_scores,
)

# ------------------------------------------------------------------- the definition, once more
# Character by character and word by word, with no regular expression for the articles.

ASCII_PUNCTUATION = {chr(i) for i in range(33, 127) if not chr(i).isalnum()}


def plain(text):
    kept = "".join(c for c in text.lower() if c not in ASCII_PUNCTUATION)
    runs = re.split(r"(\W)", kept)  # words, and single characters that are none
    return "".join(" " if run in ("a", "an", "the") else run for run in runs).split()


def f1_of(prediction, answer):
    found, wanted = plain(prediction), plain(answer)
    if not found or not wanted:
        return float(found == wanted)
    left, common = list(wanted), 0
    for word in found:
        if word in left:
            left.remove(word)
            common += 1
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def raw(prediction, answers):
    real = [answer for answer in answers if plain(answer)] or [""]
    exact = max(float(plain(prediction) == plain(answer)) for answer in real)
    return exact, max(f1_of(prediction, answer) for answer in real)


WORDS = ["the", "a", "An", "THE", "cat", "Cat", "cats", "U.S.", "1,000", "é", "e\u0301", "«the»"]
WORDS += ["-", "—", "the-end", "theme", "  ", "\t", "\u00a0", "’s", "'s", "“a”", "ß", "İ", "日本"]


def random_text(rng, longest=5):
    words = rng.choice(WORDS, size=rng.integers(0, longest + 1))
    return rng.choice([" ", "", " , "]).join(words)


def random_questions(seed, n=60):
    rng = np.random.default_rng(seed)
    answers = [[random_text(rng) for _ in range(rng.integers(0, 4))] for _ in range(n)]
    predictions = [
        str(rng.choice(given)) if given and rng.random() < 0.5 else random_text(rng)
        for given in answers
    ]
    return predictions, answers, rng.random(n)


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("The Eiffel Tower.", "eiffel tower"),
        ("  an\tapple\n a  day ", "apple day"),
        ("U.S.", "us"),
        ("well-known", "wellknown"),
        ("the-the", "thethe"),  # punctuation goes first
        ("theme, another, Banana", "theme another banana"),
        ("$1,000.50", "100050"),
        ("the", ""),
        ("", ""),
        ("!?", ""),
        ("Beyoncé’s", "beyoncé’s"),
        ("«the» end", "« » end"),
        ("“a”", "“ ”"),
        ("1\u00a0000", "1 000"),
        ("a\u200bthe", "\u200b"),
        ("ÀÉ", "àé"),
        ("thé", "thé"),
        ("the_end", "theend"),
    ],
)
def test_normalization_by_hand(text, wanted):
    assert normalize_answer(text) == wanted


def test_accents_of_one_character_or_two_are_different():
    one, two = "caf\u00e9", "cafe\u0301"
    assert unicodedata.normalize("NFC", two) == one
    assert not exact_match(one, [two]) and answer_f1(one, [two]) == 0


@pytest.mark.parametrize(
    "prediction, answers, exact, f1",
    [
        ("the Eiffel Tower", ["Eiffel Tower.", "tower"], 1, 1),
        ("Eiffel", ["the Eiffel Tower", "tower"], 0, 2 / 3),
        ("tower of Eiffel", ["the Eiffel Tower"], 0, 0.8),  # order does not matter to F1
        ("very very big", ["very big"], 0, 0.8),  # a word counts as often as it stands in both
        ("very", ["very very very"], 0, 0.5),
        ("red", ["blue"], 0, 0),
        ("", ["blue"], 0, 0),
        ("", [], 1, 1),
        ("blue", [], 0, 0),
        ("the", [], 1, 1),  # is nothing, after normalization
        ("", ["the", "a"], 1, 1),  # answers that are nothing are none, as in SQuAD 2.0
        ("an", ["the", "blue"], 0, 0),
    ],
)
def test_scores_by_hand(prediction, answers, exact, f1):
    assert exact_match(prediction, answers) == exact
    assert answer_f1(prediction, answers) == pytest.approx(f1)


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_the_definition(seed):
    predictions, answers, no_answer = random_questions(seed)
    scores = squad_scores(predictions, answers)
    wanted = np.array([raw(*each) for each in zip(predictions, answers, strict=True)])
    answerable = np.array([any(map(plain, each)) for each in answers])
    rows_of = {
        "all": np.ones(60, bool),
        "answerable": answerable,
        "unanswerable": ~answerable,
    }
    for name, rows in rows_of.items():
        part = getattr(scores, name)
        assert part.count == rows.sum() > 0
        assert (part.exact.value, part.f1.value) == pytest.approx(tuple(wanted[rows].mean(0)))
        assert part.f1.error == pytest.approx(stats.sem(wanted[rows][:, 1]))
    assert scores.best_exact is None and scores.best_f1 is None
    # With a threshold, what lies above it is taken as empty.
    threshold = float(np.sort(no_answer)[35])  # one question's own score: it is answered
    held = squad_scores(predictions, answers, no_answer=no_answer, threshold=threshold)
    silent = no_answer > threshold
    wanted[silent] = (~answerable)[silent, None]
    assert (held.all.exact.value, held.all.f1.value) == pytest.approx(tuple(wanted.mean(0)))
    # The best thresholds are looked for among the answers as they were given.
    assert held.best_f1 == squad_scores(predictions, answers, no_answer=no_answer).best_f1


def official_best(predictions, scores, no_answer, answerable):
    """The sweep of the official script, question by question, as it is described there."""
    now = best = float((~answerable).sum())
    threshold = 0.0
    for i in np.argsort(no_answer):
        now += scores[i] if answerable[i] else (-1 if predictions[i] else 0)
        if now > best:
            best, threshold = now, no_answer[i]
    return best / len(scores), threshold


@pytest.mark.parametrize("seed", range(12))
def test_the_best_threshold_is_the_official_one_where_scores_differ(seed):
    predictions, answers, no_answer = random_questions(seed)
    # (The script charges an unanswerable question for a prediction such as "the".)
    predictions = [text if plain(text) else "" for text in predictions]
    found = squad_scores(predictions, answers, no_answer=no_answer)
    both = np.array([raw(*each) for each in zip(predictions, answers, strict=True)])
    answerable = np.array([any(map(plain, each)) for each in answers])
    for ours, scores in zip((found.best_exact, found.best_f1), both.T, strict=True):
        best, threshold = official_best(predictions, scores, no_answer, answerable)
        assert ours.score == pytest.approx(best)
        assert max(0.0, ours.value) == pytest.approx(threshold)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_threshold_is_reached_by_that_threshold_and_by_none_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    scores, answerable = rng.random(n).round(1), rng.random(n) < 0.6
    no_answer = rng.integers(-3, 4, n) * 1.0  # many alike, some below zero: logits

    def mean(threshold):
        return np.where(no_answer > threshold, ~answerable, scores).mean()

    best = best_threshold(scores, answerable, no_answer)
    assert best.score == pytest.approx(mean(best.value))
    tried = [-math.inf, *np.sort(no_answer)]
    assert best.score == pytest.approx(max(map(mean, tried)))
    assert all(mean(it) < best.score - 1e-9 for it in tried if it < best.value)


def test_where_silence_is_best_nothing_is_answered():
    found = squad_scores(["x", "y"], [[], []], no_answer=[0.0, 0.9])
    assert found.best_f1 == found.best_exact == Threshold(-math.inf, 1.0)
    assert found.all.exact.value == 0 and found.answerable.exact is None
    assert found.answerable.count == 0 and found.unanswerable.count == 2


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: squad_scores([], []), "no question"),
        (lambda: squad_scores(["a"], []), "1 predictions, 0 answers"),
        (lambda: squad_scores("a", [["a"]]), "single text"),
        (lambda: squad_scores(["a"], ["a"]), r"single text 'a'. Pass a list .* \[answer\]"),
        (lambda: squad_scores([None], [["a"]]), "type NoneType"),
        (lambda: squad_scores(["a"], [[3]]), "type int"),
        (lambda: squad_scores(["a"], [["a"]], no_answer=[0.1, 0.2]), "2 scores of having no"),
        (lambda: squad_scores(["a"], [["a"]], no_answer=[math.nan]), r"no_answer\[0\] is nan"),
        (lambda: squad_scores(["a"], [["a"]], threshold=0.5), "nothing to hold it against"),
        (lambda: squad_scores(["a"], [["a"]], no_answer=[1], threshold=math.nan), "is NaN"),
        (lambda: normalize_answer(b"a"), "type bytes"),
        (lambda: exact_match("a", "a"), "single text"),
    ],
)
@pytest.mark.bad_input
def test_bad_input_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()


@pytest.mark.bad_input
def test_answers_as_the_datasets_library_has_them_are_not_scored_by_their_keys():
    answers = {"text": ["Paris"], "answer_start": [3]}
    for call in (
        lambda: squad_scores(["Paris", "text"], [answers] * 2),
        lambda: exact_match("text", answers),
        lambda: answer_f1("text", answers),
        lambda: squad_scores(["Paris"], answers),
    ):
        with pytest.raises(CourseError, match=r"\['text'\]"):
            call()
    with pytest.raises(CourseError, match="question's id"):
        squad_scores({"q1": "Paris"}, [["Paris"]])


@pytest.mark.bad_input
def test_what_is_no_list_of_answers_is_told():
    with pytest.raises(CourseError, match="answers is of type NoneType"):
        squad_scores(["Paris"], [None])
    with pytest.raises(CourseError, match="no_answer has the shape"):
        squad_scores(["Paris"], [["Paris"]], no_answer=0.5)
    with pytest.raises(CourseError, match="The threshold is '0'"):
        squad_scores(["Paris"], [["Paris"]], no_answer=[0.5], threshold="0")
