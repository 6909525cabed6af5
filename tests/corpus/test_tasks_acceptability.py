"""Acceptability: what is wrong has no probability, what is right has one."""

from collections import Counter

import numpy as np

from lmcourse.corpus.tasks import acceptability, bag_of_words

from .task_worlds import course


def test_exactly_the_acceptable_sentences_can_be_said():
    for example in acceptability(course(), 240, 1).examples:
        possible = course().log_expected(example.tokens) > -np.inf
        assert possible == (example.label == "acceptable"), example


def test_kinds_and_labels_are_balanced():
    found = Counter((each.kind, each.label) for each in acceptability(course(), 120, 2).examples)
    assert len(found) == 12 and set(found.values()) == {10}


def test_the_place_is_that_of_the_mistake():
    """The words before it go on in some other way, and those up to it do not."""
    for example in acceptability(course(), 120, 3).examples:
        if example.label == "acceptable":
            assert example.error_position is None
            continue
        before = example.tokens[: example.error_position]
        assert not before or course().log_expected(before) > -np.inf


def test_each_kind_is_what_it_is_called():
    groups = {
        "agreement": {"is", "are", "seems", "seem", "feels", "feel", "was", "were"},
        "article": {"a", "an"},
        "case": {"i", "me", "he", "him", "she", "her", "they", "them", "we", "us"},
    }
    for example in acceptability(course(), 240, 4).examples:
        if example.error_position is not None and example.kind in groups:
            assert example.tokens[example.error_position] in groups[example.kind], example


def test_a_bag_of_words_falls_short_of_the_best():
    train, test = acceptability(course(), 700, 1), acceptability(course(), 300, 2)
    assert bag_of_words(train, test).score < 0.8
    assert test.best.score == 1 and test.best.exact
