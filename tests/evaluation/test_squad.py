"""SQuAD's scores: by hand, and by a second writing of what the papers and their scripts say."""

import re
import unicodedata
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from lmcourse.errors import CourseError
from lmcourse.evaluation.squad import answer_f1, exact_match, normalize_answer, squad_scores

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
    return predictions, answers


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


def official(prediction, answers):
    """The scores of evaluate-v2.0.py for a question, after its functions of these names."""

    def compute_f1(a_gold, a_pred):
        gold_toks, pred_toks = normalize_answer(a_gold).split(), normalize_answer(a_pred).split()
        common = Counter(gold_toks) & Counter(pred_toks)
        num_same = sum(common.values())
        if len(gold_toks) == 0 or len(pred_toks) == 0:
            return int(gold_toks == pred_toks)
        if num_same == 0:
            return 0
        precision, recall = num_same / len(pred_toks), num_same / len(gold_toks)
        return (2 * precision * recall) / (precision + recall)

    gold_answers = [answer for answer in answers if normalize_answer(answer)]
    if not gold_answers:
        gold_answers = [""]
    compute_exact = [
        int(normalize_answer(gold) == normalize_answer(prediction)) for gold in gold_answers
    ]
    return max(compute_exact), max(compute_f1(gold, prediction) for gold in gold_answers)


def test_scores_are_the_official_scripts_also_where_nothing_is_left_of_an_answer():
    texts = ["", "the", "The", "an", "!", "the cat", "cat", "a cat sat", "Cat."]
    for count in range(4):
        for answers in product(texts, repeat=count):
            for prediction in texts:
                found = exact_match(prediction, answers), answer_f1(prediction, answers)
                assert found == pytest.approx(official(prediction, answers))


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_the_definition(seed):
    predictions, answers = random_questions(seed)
    scores = squad_scores(predictions, answers)
    wanted = np.array([raw(*each) for each in zip(predictions, answers, strict=True)])
    assert (scores.exact.value, scores.f1.value) == pytest.approx(tuple(wanted.mean(0)))
    assert scores.f1.error == pytest.approx(stats.sem(wanted[:, 1]))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: squad_scores(["a"], ["a"]), r"type str. Pass the list .* \[answer\]"),
        # as the `datasets` library has them: not to be scored by their keys
        (lambda: answer_f1("text", {"text": ["Paris"]}), r"answers\['text'\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()
