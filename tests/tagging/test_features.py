"""The baselines against brute force."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from research.tagging.features import MostFrequentTag, Perceptron, features
from research.tagging.text import EVERY

START = "-"


@pytest.fixture
def text(texts):
    return texts[EVERY]


def test_the_most_frequent_tag(text):
    pairs = Counter(pair for it in text.train for pair in zip(it.words, it.tags, strict=True))
    totals = Counter(word for it in text.train for word in it.words)
    once = Counter(tag for (word, tag) in pairs if totals[word] == 1)
    tagger = MostFrequentTag(text)
    assert tagger.num_parameters == len(totals) and len(once) > 1
    for sentence, tags in zip(text.test, tagger.tagged(text.test), strict=True):
        for word, tag in zip(sentence.words, tags, strict=True):
            if word in totals:
                best = max(pairs[word, other] for other in text.tags)
                assert pairs[word, tag] == best
            else:
                assert once[tag] == max(once.values())


def dynamic(words, at, tags):
    """All features of a token as strings, the tags before it included."""
    before2, before = [START, START, *tags][-2:]
    own = [f"tag {before}", f"tags {before2} {before}", f"tag and word {before} {words[at]}"]
    return [*features(words, at), *own]


def best(weights, found, tags):
    return max(tags, key=lambda tag: sum(weights[one, tag] for one in found))


def test_the_perceptron_is_the_mean_of_all_its_weights(text):
    epochs, seed = 2, 3
    weights, sums, steps = defaultdict(float), defaultdict(float), 1
    order, draw = list(range(len(text.train))), random.Random(seed)
    for _ in range(epochs):
        draw.shuffle(order)
        for number in order:
            sentence, guesses = text.train[number], []
            for at, gold in enumerate(sentence.tags):
                found = dynamic(sentence.words, at, guesses)
                guesses.append(best(weights, found, text.tags))
                if guesses[-1] != gold:
                    for one in found:
                        weights[one, gold] += 1
                        weights[one, guesses[-1]] -= 1
                for key, value in weights.items():
                    sums[key] += value
                steps += 1
    averaged = defaultdict(float, {key: value / steps for key, value in sums.items()})
    tagger = Perceptron(text, epochs, seed)
    assert sorted(tagger.weights[np.nonzero(tagger.weights)]) == pytest.approx(
        sorted(value for value in averaged.values() if value), abs=1e-5
    )
    assert tagger.num_parameters == sum(value != 0 for value in averaged.values())
    wanted = []
    for sentence in text.test:
        known = [
            [it for it in dynamic(sentence.words, at, []) if (it, text.tags[0])]
            for at in range(len(sentence.words))
        ]
        guesses = []
        for at in range(len(known)):
            found = dynamic(sentence.words, at, guesses)
            guesses.append(best(averaged, found, text.tags))
        wanted.append(guesses)
    assert tagger.tagged(text.test) == wanted


def test_a_feature_is_there_once():
    for words in (["a", "bb", "Ccccc-9"], ["a"]):
        for at in range(len(words)):
            found = list(features(words, at))
            assert len(found) == len(set(found))
    found = list(features(["On", "Ab-1", "x"], 1))
    assert {"prefix Ab-", "suffix b-1", "before On", "after x", "lower ab-1"} <= set(found)


def test_it_is_better_than_the_most_frequent_tag(text):
    taggers = MostFrequentTag(text), Perceptron(text, 4, 0)
    scores = [sum(text.right(it.tagged(text.test))["all"]) for it in taggers]
    assert scores[0] < scores[1]
