"""Next sentence and sentence order: exact posteriors against frequencies."""

from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from lmcourse.corpus.bookworld import END
from lmcourse.corpus.tasks import bag_of_words, next_sentence, sentence_order
from lmcourse.corpus.tasks.coherence import POSITIONS, expected_pairs

from .task_worlds import course, off_calibration, small, undecided

DRAWN = 20_000


@cache
def seen():
    """Neighbors, first ones and second ones in many small reviews."""
    found = {"pair": Counter(), "first": Counter(), "second": Counter(), "long": 0}
    for review in small().sample(DRAWN, seed=31):
        parts = [tuple(review.tokens[each.start : each.end]) for each in review.sentences]
        found["pair"].update(pairwise(parts))
        found["first"].update(parts[:-1])
        found["second"].update(parts[1:])
        found["long"] += len(parts) > POSITIONS
    return found


def expected(tokens, first=True):
    return np.exp(small().log_expected(tokens, first=first))


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("pair", lambda pair: expected(pair[0] + pair[1])),
        ("first", lambda text: expected(text) - expected((*text, END))),
        ("second", lambda text: expected(text, first=False)),
    ],
)
def test_expected_counts_are_those_of_sampled_reviews(kind, count):
    common = seen()[kind].most_common(25)
    wanted = np.array([DRAWN * count(key) for key, _ in common])
    found = np.array([number for _, number in common])
    assert (found > 20).all()
    assert (np.abs(found - wanted) < 5 * np.sqrt(wanted)).all()


def test_expected_number_of_pairs():
    found = sum(seen()["pair"].values()) / DRAWN
    assert found == pytest.approx(expected_pairs(small()), rel=0.02)


def test_no_review_is_longer_than_the_positions_that_are_drawn_from():
    assert seen()["long"] == 0
    assert max(len(review.sentences) for review in course().sample(500, seed=8)) < POSITIONS * 0.8


def test_posterior_is_that_of_the_counts():
    task = next_sentence(small(), 40, seed=1)
    pairs, long = seen(), sum(seen()["pair"].values())
    compared = 0
    for example, rows in zip(task.examples, task.posteriors, strict=True):
        together = pairs["pair"][example.first, example.second]
        apart = pairs["first"][example.first] * pairs["second"][example.second] / long
        if together > 150 and apart > 0:
            assert rows[0, 0] == pytest.approx(together / (together + apart), abs=0.06)
            compared += 1
    assert compared >= 5


@pytest.mark.parametrize("builder", [next_sentence, sentence_order])
@pytest.mark.parametrize(("world", "n"), [(small, 400), (course, 150)])
def test_posteriors_are_calibrated(builder, world, n):
    task = builder(world(), n, seed=3)
    assert undecided(task) > 0.03
    assert off_calibration(task) < 3.5


def test_the_two_sentences_of_a_pair_come_from_where_the_label_says():
    reviews = course().sample(150, seed=12)
    parts = [[tuple(r.tokens[s.start : s.end]) for s in r.sentences] for r in reviews]
    together = {pair for each in parts for pair in pairwise(each)}
    shared = {(one, two) for each in parts for one in each for two in each}
    for example in next_sentence(course(), 12, reviews=reviews).examples:
        assert ((example.first, example.second) in together) == (example.label == "next")
    for example in next_sentence(course(), 12, negatives="same", reviews=reviews).examples:
        assert (example.first, example.second) in shared
        assert ((example.first, example.second) in together) == (example.label == "next")
    for example in sentence_order(course(), 20, reviews=reviews).examples:
        pair = (example.first, example.second)
        assert (pair if example.label == "in_order" else pair[::-1]) in together


@pytest.mark.parametrize("negatives", ["other", "same"])
def test_words_alone_do_not_tell_the_next_sentence(negatives):
    train, test = (next_sentence(course(), n, n, negatives) for n in (500, 300))
    assert bag_of_words(train, test).score < 0.6
    if negatives == "other":
        assert test.first(60).best.score > 0.85
