"""Accuracies and contrasts against sums over the record, and a bootstrap written out."""

import random
from statistics import mean

import pytest

from research.tagging import command
from research.tagging.entries import Record, Run
from research.tagging.scores import Contrast, accuracies, contrast
from research.tagging.text import EVERY, FICTION, KINDS, WITHOUT


@pytest.fixture(scope="module")
def runs(table, texts):
    """A record, and two seeds of two taggers for each task."""
    results = {
        (name, task): [
            command.learned(Run(table[name], 1e-2, seed, task, 2), texts[task]) for seed in (0, 1)
        ]
        for name in ("lstm", "bilstm-characters")
        for task in (EVERY, WITHOUT)
    }
    return Record.of(texts), results


def shares(result, record, kind, genres):
    """Right tags and tokens of the texts that count."""
    pairs = zip(
        record.genres.values(),
        result.right[kind],
        record.tokens[result.task][kind],
        strict=True,
    )
    return [(right, tokens) for genre, right, tokens in pairs if genre in genres]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", [EVERY, WITHOUT])
def test_an_accuracy_is_the_share_of_right_tags(runs, texts, kind, task):
    record, results = runs
    for genres in (set(record.genres.values()), {"fiction", "humor"}):
        found = accuracies(results["lstm", task], record, kind, genres)
        for score, result in zip(found, results["lstm", task], strict=True):
            pairs = shares(result, record, kind, genres)
            assert score == pytest.approx(sum(a for a, _ in pairs) / sum(b for _, b in pairs))
    tokens = sum(len(sentence.words) for sentence in texts[task].test)
    assert sum(record.tokens[task]["all"]) == tokens


def test_a_contrast_is_a_difference_with_its_intervals(runs):
    record, results = runs
    one, other = results["bilstm-characters", EVERY], results["lstm", EVERY]
    found = contrast(one, other, record)
    scores = accuracies(one, record), accuracies(other, record)
    assert found.difference == pytest.approx(mean(scores[0]) - mean(scores[1]))
    differences = [a - b for a in scores[0] for b in scores[1]]
    assert (found.least, found.most) == pytest.approx((min(differences), max(differences)))
    draw, drawn = random.Random(0), []
    genres = set(record.genres.values())
    pairs = [[shares(it, record, "all", genres) for it in each] for each in (one, other)]
    for _ in range(4000):
        rows = draw.choices(range(len(record.genres)), k=len(record.genres))
        tokens = sum(pairs[0][0][row][1] for row in rows)
        means = [mean(sum(it[row][0] for row in rows) for it in each) for each in pairs]
        drawn.append((means[0] - means[1]) / tokens)
    drawn.sort()
    width = drawn[-1] - drawn[0]
    assert found.low == pytest.approx(drawn[100], abs=width / 10)
    assert found.high == pytest.approx(drawn[-100], abs=width / 10)


def test_the_same_tagger_is_not_separated_from_itself(runs):
    record, results = runs
    found = contrast(results["lstm", EVERY], results["lstm", EVERY], record)
    assert found.difference == found.low == found.high == 0 and not found.separated


@pytest.mark.parametrize(
    ("low", "high", "least", "most", "separated"),
    [
        (0.1, 0.2, 0.05, 0.3, True),
        (-0.2, -0.1, -0.3, -0.05, True),
        (-0.01, 0.2, 0.05, 0.3, False),
        (0.1, 0.2, -0.05, 0.3, False),
        (-0.2, -0.1, -0.3, 0.05, False),
    ],
)
def test_texts_and_seeds_must_agree(low, high, least, most, separated):
    assert Contrast((low + high) / 2, low, high, least, most).separated == separated


def test_two_tasks_are_compared_on_the_same_texts(runs):
    record, results = runs
    found = contrast(results["lstm", WITHOUT], results["lstm", EVERY], record, genres=FICTION)
    pairs = [
        [shares(result, record, "all", FICTION) for result in results["lstm", task]]
        for task in (WITHOUT, EVERY)
    ]
    sums = [mean(sum(right for right, _ in each) for each in seeds) for seeds in pairs]
    tokens = sum(tokens for _, tokens in pairs[0][0])
    assert found.difference == pytest.approx((sums[0] - sums[1]) / tokens)
    assert record.tokens[EVERY]["all"] == record.tokens[WITHOUT]["all"]
