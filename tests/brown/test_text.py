"""The paper's rules for the text: its order, its vocabulary, its split."""

from collections import Counter

import pytest
import torch

from lmcourse.errors import CourseError
from research.brown.text import END, RARE, stream, text_of
from tests.brown.conftest import TRAIN, VALIDATION, sentence, sentences


def test_a_mark_follows_each_text_and_no_sentence():
    three = [
        sentence(["One", "two"], "news", "ca01"),
        sentence(["three"], "news", "ca01"),
        sentence(["four"], "humor", "cr01"),
    ]
    assert list(stream(three)) == [
        ("One", "news"),
        ("two", "news"),
        ("three", "news"),
        (END, "news"),
        ("four", "humor"),
        (END, "humor"),
    ]


def test_words_that_occur_three_times_are_merged_and_four_times_are_not():
    words = ["the"] * 6 + ["The"] * 4 + ["three"] * 3 + ["one"] + ["The", "the"]
    text = text_of([sentence(words, "news", "ca01")], train=10, validation=3)
    assert text.vocabulary == [RARE, "the", "The"]
    assert text.ids.tolist() == [1] * 6 + [2] * 4 + [0] * 4 + [2, 1] + [0]  # and END, once
    assert (text.different, text.lower_case) == (5, 4)
    assert [len(text.split(name)) for name in text.splits] == [10, 3, 4]


def test_the_split_is_the_order_and_rare_words_are_counted_in_all_of_it(text):
    words = [word for word, _ in stream(sentences())]
    counts = Counter(words)
    read = [word if counts[word] > 3 else RARE for word in words]
    assert [text.vocabulary[id_] for id_ in text.ids] == read
    parts = [text.split(name) for name in ("train", "validation", "test")]
    assert torch.equal(torch.cat(parts), text.ids)
    assert [len(part) for part in parts[:2]] == [TRAIN, VALIDATION]


def test_counts_are_those_of_the_text(text):
    counts, test = text.counts(), text.split("test").tolist()
    assert counts["words of the corpus"] == len(text.ids)
    assert counts["vocabulary"] == len(text.vocabulary)
    assert counts["merged, share of the test"] == pytest.approx(test.count(0) / len(test))
    unseen = set(range(len(text.vocabulary))) - set(text.split("train").tolist())
    assert counts["not in the training text, words of the vocabulary"] == len(unseen)
    assert sum(text.genres["train"].values()) == TRAIN
    assert sum(sum(split.values()) for split in text.genres.values()) == len(text.ids)


def test_another_text_has_another_digest(text):
    assert text.digest == text_of(sentences(), TRAIN, VALIDATION).digest
    assert text.digest != text_of(sentences(), TRAIN, VALIDATION + 1).digest
    assert text.digest != text_of(sentences(seed=1), TRAIN, VALIDATION).digest


def test_a_corpus_without_a_test_is_refused():
    with pytest.raises(CourseError, match="none are left"):
        text_of(sentences(3), TRAIN, VALIDATION)
