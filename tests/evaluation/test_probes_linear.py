"""Linear probes: scikit-learn's, what control tasks tell, and BookWorld's tags."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from lmcourse.corpus import BookWorld
from lmcourse.corpus.tasks import tagging
from lmcourse.evaluation.probes import Occurrences, exact_shares, linear, linear_probe, occurrences
from lmcourse.evaluation.probes.linear import control_labels


def tagged(seed, n=400, words=40, noise=0.3):
    """Vectors in which the tag is written, and nothing of the word."""
    rng = np.random.default_rng(seed)
    labels = np.array(["NOUN", "VERB", "ADJ"])[rng.integers(3, size=n)]
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])[np.unique(labels, return_inverse=True)[1]]
    vectors = axes + noise * rng.normal(size=(n, 3))
    return Occurrences(vectors, [f"w{i}" for i in rng.integers(words, size=n)], labels)


def test_it_is_scikit_learns_on_vectors_that_were_standardized_by_training():
    train, test = tagged(0, noise=0.8), tagged(1, noise=0.8)
    test = test._replace(vectors=test.vectors + 0.4)  # its own mean is another one
    probe = linear_probe(train, test, penalty=0.5)
    mean, deviation = train.vectors.mean(0), train.vectors.std(0)
    reference = LogisticRegression(C=2).fit((train.vectors - mean) / deviation, train.labels)
    wanted = reference.predict((test.vectors - mean) / deviation)
    np.testing.assert_array_equal(probe.predictions, wanted)
    assert probe.accuracy.value == pytest.approx((wanted == test.labels).mean())
    assert probe.converged


def test_tags_that_are_written_in_the_vectors_are_read_and_the_control_task_is_not():
    probe = linear_probe(tagged(0, noise=0.01), tagged(1, noise=0.01))
    assert probe.accuracy.value == 1
    # These vectors tell nothing of the word: at best the control tags' most frequent one.
    assert probe.control.value < 0.6
    assert probe.selectivity.value == pytest.approx(1 - probe.control.value)
    assert probe.majority.value < 0.45 and probe.word_majority.value < 0.5


def test_a_probe_on_one_hot_words_learns_by_heart_and_is_not_selective():
    rng = np.random.default_rng(3)
    tag_of = np.array(["A", "B"] * 10)
    number = rng.integers(20, size=600)
    made = [
        Occurrences(np.eye(20)[part], [f"w{i}" for i in part], tag_of[part])
        for part in (number[:400], number[400:])
    ]
    probe = linear_probe(*made)
    assert probe.accuracy.value == probe.control.value == probe.word_majority.value == 1
    assert probe.selectivity.value == 0


def test_vectors_that_know_nothing_are_no_better_than_the_majority():
    rng = np.random.default_rng(4)
    made = [
        part._replace(vectors=rng.normal(size=(1500, 4)))
        for part in (tagged(5, 1500), tagged(6, 1500))
    ]
    probe = linear_probe(*made)
    assert abs(probe.accuracy.value - 1 / 3) < 4 * probe.accuracy.error


def test_control_tags_depend_on_the_word_alone_and_have_the_tags_frequencies():
    words = [f"w{i % 3000}" for i in range(9000)]
    drawn = control_labels(words, np.array(["A"] * 3 + ["B"]), seed=1)
    assert (drawn[:3000] == drawn[3000:6000]).all()
    assert (drawn[:3000] == "A").mean() == pytest.approx(0.75, abs=0.03)
    assert (control_labels(words, np.array(["A", "B"]), seed=2) != drawn).any()


def test_majorities_by_hand():
    train = Occurrences(np.eye(5), list("aaabb"), ["X", "X", "Y", "Y", "Y"])
    test = Occurrences(np.eye(5)[:4], list("aabc"), ["X", "Y", "Y", "Y"], [0, 0, 1, 2])
    probe = linear_probe(train, test, exact=[1, 1, 0.5, 0.5])
    assert probe.majority.value == 0.75  # always Y
    assert probe.word_majority.value == 0.75  # a: X, b: Y, and c, which is new: Y
    assert probe.best.value == 0.75
    assert (
        probe.best.error
        != linear_probe(train, test._replace(texts=None), [1, 1, 0.5, 0.5]).best.error
    )
    assert "(each word's most frequent tag 0.750, best 0.750; control task" in str(probe)


def test_one_tag_alone_is_always_right():
    train = Occurrences(np.eye(3), list("abc"), ["X"] * 3)
    probe = linear_probe(train, train)
    assert probe.accuracy.value == probe.control.value == 1 and probe.converged
    other = linear_probe(train, train._replace(labels=["X", "Y", "X"]))
    assert other.accuracy.value == pytest.approx(2 / 3)


def test_one_example_a_tag_is_enough():
    train = Occurrences(10 * np.eye(2), list("ab"), ["X", "Y"])
    test = Occurrences(np.array([[9.0, 1.0], [1.0, 9.0]]), list("ab"), ["X", "Y"])
    assert linear_probe(train, test).accuracy.value == 1


def test_a_training_that_does_not_end_is_told_without_a_warning(monkeypatch, recwarn):
    monkeypatch.setattr(linear, "ITERATIONS", 1)
    assert not linear_probe(tagged(0), tagged(1)).converged
    assert not recwarn.list


def test_bookworlds_tags_with_their_best_answer():
    world = BookWorld()
    train, test = tagging(world, 12, seed=1), tagging(world, 4, seed=2)

    def planted(task):
        kinds = list(task.labels)
        return occurrences(
            task, [np.eye(len(kinds))[[kinds.index(t) for t in it.tags]] for it in task.examples]
        )

    found = planted(test)
    probe = linear_probe(planted(train), found, exact_shares(test))
    assert len(found.labels) == sum(len(example.positions) for example in test.examples)
    assert [found.words[0], found.texts[-1]] == [
        test.examples[0].tokens[test.examples[0].positions[0]],
        3,
    ]
    ends = np.cumsum(np.bincount(found.texts))[:-1]
    assert test.score([list(each) for each in np.split(probe.predictions, ends)]) == 1
    best = np.concatenate([rows.max(1) for rows in test.posteriors])
    assert probe.best.value == pytest.approx(best.mean()) and len(best) == len(found.labels)


def test_vectors_may_be_tensors_of_any_precision_gradients_and_all():
    train, test = tagged(0), tagged(1)
    wanted = linear_probe(train, test)
    for kind in (torch.float64, torch.bfloat16):
        vectors = torch.tensor(train.vectors, dtype=kind, requires_grad=True)
        rows = list(torch.tensor(test.vectors, dtype=kind, requires_grad=True))
        found = linear_probe(train._replace(vectors=vectors), test._replace(vectors=rows))
        assert found.accuracy.value == pytest.approx(wanted.accuracy.value, abs=0.1)
