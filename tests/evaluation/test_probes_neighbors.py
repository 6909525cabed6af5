"""The nearest neighbor: scikit-learn's, ties that are shared, and BookWorld's senses."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from lmcourse.corpus import BookWorld
from lmcourse.corpus.tasks import word_sense
from lmcourse.errors import CourseError
from lmcourse.evaluation.probes import Occurrences, exact_shares, nearest_neighbor, occurrences

WORLD = BookWorld()


def drawn(seed, n=120, width=5, words=4, labels=3):
    """Occurrences with some order in them, and no two equally near."""
    rng = np.random.default_rng(seed)
    word = np.array([f"word {i % words}" for i in range(n)])
    label = rng.integers(labels, size=n)
    vectors = rng.normal(size=(n, width)) + 1.5 * np.eye(width)[label] + 3
    return Occurrences(vectors, word, np.array([f"sense {it}" for it in label]))


@pytest.mark.parametrize("seed", range(4))
def test_it_is_scikit_learns_among_each_words_occurrences(seed):
    train, test = drawn(seed), drawn(seed + 100, n=80)
    probe = nearest_neighbor(train, test)
    wanted = np.zeros(len(test.words))
    for word in set(test.words):
        its, mine = train.words == word, test.words == word
        reference = KNeighborsClassifier(1, metric="cosine").fit(
            train.vectors[its], train.labels[its]
        )
        wanted[mine] = reference.predict(test.vectors[mine]) == test.labels[mine]
        assert probe.words[word].score.value == pytest.approx(wanted[mine].mean())
    np.testing.assert_array_equal(probe.right, wanted)
    assert probe.overall.score.value == pytest.approx(wanted.mean())
    assert probe.overall.score.error == pytest.approx(wanted.std(ddof=1) / np.sqrt(80))
    assert 0.4 < wanted.mean() < 1


def test_senses_that_lie_apart_are_told_perfectly_and_length_does_not_matter():
    rng = np.random.default_rng(0)
    labels = np.array(["river", "money"] * 20)
    axes = np.where(labels[:, None] == "river", [1.0, 0.05], [0.05, 1.0])
    vectors = axes * rng.uniform(0.01, 100, size=(40, 1))
    words = ["bank"] * 40
    probe = nearest_neighbor(
        Occurrences(vectors[:2], words[:2], labels[:2]),  # one example a class
        Occurrences(vectors, words, labels),
    )
    assert probe.overall.score.value == 1 and probe.overall.chance == 0.5


def test_static_vectors_are_right_as_often_as_a_blind_draw():
    labels = ["river"] * 3 + ["money"]
    same = np.tile(np.random.default_rng(1).normal(size=7), (4, 1))
    train = Occurrences(same, ["bank"] * 4, labels)
    for asked in (train, Occurrences(same[::-1], ["bank"] * 4, labels[::-1])):
        probe = nearest_neighbor(train, asked)
        assert sorted(probe.right) == [0.25, 0.75, 0.75, 0.75]
        assert probe.overall.score.value == 0.625
        assert (probe.overall.chance, probe.overall.majority) == (0.5, 0.75)
    nothing = Occurrences(np.zeros((4, 7)), ["bank"] * 4, labels)
    assert nearest_neighbor(train, nothing).overall.score.value == 0.625


def test_vectors_that_know_nothing_are_at_chance():
    rng = np.random.default_rng(2)
    labels = np.array(["a", "b"] * 1000)
    made = [Occurrences(rng.normal(size=(2000, 8)), ["w"] * 2000, labels) for _ in range(2)]
    score = nearest_neighbor(*made).overall.score
    assert abs(score.value - 0.5) < 4 * score.error and score.error == pytest.approx(
        0.0112, rel=0.02
    )


def test_other_words_occurrences_are_no_neighbors():
    train = Occurrences([[1.0, 0.0], [0.0, 1.0]], ["bank", "bat"], ["money", "animal"])
    probe = nearest_neighbor(train, Occurrences([[0.0, 1.0]], ["bank"], ["money"]))
    assert probe.overall.score.value == 1 and set(probe.words) == {"bank"}


def test_majority_and_texts_by_hand():
    train = Occurrences(np.eye(4), ["w"] * 4, ["a", "a", "b", "b"])
    test = Occurrences(np.eye(4)[[0, 0, 2]], ["w"] * 3, ["a", "a", "c"], ["one", "one", "two"])
    probe = nearest_neighbor(train, test, exact=[1.0, 0.5, 0.75])
    assert probe.right.tolist() == [1, 1, 0]
    # Both senses are equally frequent, and "c" was never seen.
    assert probe.overall.majority == probe.overall.chance == pytest.approx(1 / 3)
    assert probe.overall.best.value == 0.75
    alone = nearest_neighbor(train, test._replace(texts=None))
    assert alone.overall.score.error == pytest.approx(1 / 3)
    assert probe.overall.score.error != alone.overall.score.error
    assert str(probe).endswith("(chance 0.333, majority 0.333, best 0.750)")


def test_bookworlds_senses_with_their_best_answer():
    train, test = word_sense(WORLD, 60, seed=1), word_sense(WORLD, 16, seed=2)
    rng = np.random.default_rng(0)

    def planted(task):
        """Vectors in which the word has its sense's direction."""
        made = []
        for example in task.examples:
            vectors = rng.normal(size=(len(example.tokens), len(task.labels))) * 0.01
            vectors[example.position, task.labels.index(example.label)] = 1
            made.append(vectors)
        return occurrences(task, made)

    probe = nearest_neighbor(planted(train), planted(test), exact_shares(test))
    assert probe.overall.score.value == 1
    assert set(probe.words) == {example.word for example in test.examples}
    best = [rows.max() for rows in test.posteriors]
    assert probe.overall.best.value == pytest.approx(np.mean(best))


def test_a_word_without_a_labeled_occurrence_is_refused():
    train = Occurrences(np.eye(4), ["w"] * 4, ["a", "a", "b", "b"])
    test = Occurrences(np.eye(4)[:3], ["w", "w", "new"], ["a", "a", "b"])
    with pytest.raises(CourseError, match="1 words of test have no occurrence in train, such as"):
        nearest_neighbor(train, test)


def test_what_only_rounding_tells_apart_is_equally_near():
    """A static vector at any length: its cosines miss 1 by a last digit, now and then."""
    rng = np.random.default_rng(3)
    train = np.outer(rng.uniform(0.1, 10, 12), rng.normal(size=9))
    labels = ["river"] * 9 + ["money"] * 3
    known = Occurrences(train, ["bank"] * 12, labels)
    cosines = train / np.linalg.norm(train, axis=1, keepdims=True)
    cosines = cosines @ cosines.T
    assert len(np.unique(cosines)) > 1
    right = nearest_neighbor(known, known).right
    np.testing.assert_allclose(right, [0.75] * 9 + [0.25] * 3)
