"""The classifiers: features that are fitted on training texts alone, tuning, folds, scores."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.pipeline import make_pipeline

from lmcourse.evaluation.uncertainty import mean_score
from research.real_text import classifiers, genres
from research.real_text import sources as sources_module
from research.real_text.classifiers import INNER, STRENGTHS, WORD, folds, learned, rows_of

pytestmark = pytest.mark.usefixtures("small_texts")


@pytest.fixture(scope="module")
def passages(sources, small_texts):
    return genres.examples(sources)


def test_passages_are_whole_sentences_evenly_spaced(sources):
    text = sources.brown[0]
    found = genres.passages(text)  # a sentence has 12 tokens, so a passage two; three of seven
    sentences = [" ".join(genres.QUOTES.get(w, w) for w in it.words) for it in text.sentences]
    starts = [0, 6, 12]
    assert found == [f"{sentences[at]} {sentences[at + 1]}" for at in starts]
    assert all('" Xy "' in passage for passage in found)


def test_all_passages_have_their_genre_and_text(passages, sources):
    texts, labels, groups = passages
    assert len(texts) == len(labels) == len(groups) == 270
    assert [sources.brown[group].genre for group in groups] == labels.tolist()


def test_folds_hold_out_whole_groups_of_every_class(passages):
    _, labels, groups = passages
    tested = []
    for train, test in folds(labels, groups):
        assert not set(groups[train]) & set(groups[test])
        assert set(labels[test]) == set(labels)
        tested += test.tolist()
    assert sorted(tested) == list(range(len(labels)))


def test_words_are_those_of_a_pipeline_and_C_has_the_lowest_loss(passages, sources):
    texts, labels, groups = (np.array(it[:144], dtype=object) for it in passages)
    labels, groups = labels.astype(str), groups.astype(int)
    split = next(folds(labels, groups))
    p, chosen = learned(rows_of("words", texts, sources), labels, groups, split)

    def fitted(strength, train):
        tfidf = TfidfVectorizer(token_pattern=WORD, min_df=2, sublinear_tf=True)
        model = LogisticRegression(C=strength, max_iter=200, tol=1e-3)
        return make_pipeline(tfidf, model).fit(texts[train], labels[train])

    train, test = split
    inner, held_out = next(folds(labels[train], groups[train], INNER))
    losses = {
        strength: log_loss(
            labels[train][held_out],
            fitted(strength, train[inner]).predict_proba(texts[train][held_out]),
            labels=np.unique(labels),
        )
        for strength in STRENGTHS
    }
    assert chosen == min(losses, key=losses.get)
    np.testing.assert_allclose(p, fitted(chosen, train).predict_proba(texts[test]), atol=1e-6)


@pytest.mark.parametrize("model", ["characters", "GloVe", "MiniLM"])
def test_nothing_is_learned_from_test_texts(model, passages, sources):
    texts, labels, groups = (list(it[:90]) for it in passages)
    labels, groups = np.array(labels), np.array(groups)
    split = next(folds(labels, groups))
    before, _ = learned(rows_of(model, texts, sources), labels, groups, split)
    other, kept = split[1][0], split[1][1:]
    texts[other] = "money money money free xyz"
    after, _ = learned(rows_of(model, texts, sources), labels, groups, split)
    np.testing.assert_allclose(before[1:], after[1:], atol=1e-6)
    assert len(kept) == len(before) - 1 and not np.allclose(before[0], after[0], atol=1e-4)


def test_the_majority_class_is_that_of_the_training_texts(sources):
    labels = np.array(["a"] * 12 + ["b"] * 20)
    rows = rows_of(classifiers.MAJORITY, ["x"] * 32, sources)
    for split in folds(labels, np.arange(32)):
        p, _ = learned(rows, labels, np.arange(32), split)
        assert (p.argmax(1) == 1).all()


def test_word_vectors_are_averaged_over_the_known_words(sources):
    rows = rows_of("GloVe", ["The unknown MONEY", "nothing known"], sources)
    ids = sources.vectors.ids
    expected = sources.vectors.vectors[[ids["the"], ids["money"]]].mean(0)
    np.testing.assert_allclose(rows[0], expected, rtol=1e-6)
    assert not rows[1].any()


def test_states_are_averaged_without_padding_and_kept(sources, tmp_path, monkeypatch):
    texts = ["the of", "money win free the of and", "the", "of and"]
    monkeypatch.setattr(sources_module, "PART", 3)
    monkeypatch.setattr(sources, "folder", tmp_path)
    found = sources.encoded(texts)
    assert found.states.shape == (4, 4, 8) and found.cpu_seconds > 0
    for text, states in zip(texts, found.states, strict=True):
        output = sources.encoder.model(**sources.encoder.inputs([text]), output_hidden_states=True)
        for layer, hidden in zip(states, output.hidden_states, strict=True):
            np.testing.assert_allclose(layer, hidden[0].mean(0).detach(), atol=1e-5)
    layers = {"MiniLM": -1, "MiniLM, layer 3": 3}
    assert layers == classifiers.LAYERS
    np.testing.assert_array_equal(rows_of("MiniLM", texts, sources), found.states[:, 3])
    # The parts that are there are not computed again.
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 2
    monkeypatch.setattr(sources, "_batch", None)
    again = sources.encoded(texts)
    assert again.cpu_seconds == found.cpu_seconds
    np.testing.assert_array_equal(again.states, found.states)
    kept[0].unlink()
    with pytest.raises(TypeError):
        sources.encoded(texts)


def test_what_is_right_is_packed_and_unpacked():
    right = np.random.default_rng(0).random(37) < 0.5
    digits = classifiers.packed(right)
    assert len(digits) == 10
    np.testing.assert_array_equal(classifiers.unpacked(digits, 37), right)


def test_contrasts_are_paired_and_by_group():
    right = {"a": np.array([1, 1, 0, 0]), "b": np.array([1, 1, 1, 1]), "c": np.array([0, 1, 0, 0])}
    groups = np.array([0, 0, 1, 2])
    lines = classifiers.contrasts(right, groups).splitlines()
    value, _, low, high = mean_score(right["c"] - right["b"], groups)
    assert f"{value:+.3f} [{low:+.3f}, {high:+.3f}]".replace("-", "−") in lines[-1]
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| b", "| c"]
    assert classifiers.said((0.1, 0, 0.01, 0.2)) == "**+0.100 [+0.010, +0.200]**"
    assert classifiers.said((0.1, 0, -0.01, 0.2)) == "+0.100 [−0.010, +0.200]"
    assert classifiers.said((-0.1, 0, -0.3, -0.2)).startswith("**−0.100")


def test_the_scores_of_genres_by_brute_force(passages, sources):
    texts, labels, groups = passages
    found = genres.measured("words", sources)
    names = np.unique(labels)
    rows = rows_of("words", texts, sources)
    guesses, logs = np.empty(len(texts), dtype=object), np.zeros((len(sources.brown), len(names)))
    for train, test in folds(labels, groups):
        p, _ = learned(rows, labels, groups, (train, test))
        guesses[test] = names[p.argmax(1)]
        for row, text in zip(np.log(p), groups[test], strict=True):
            logs[text] += row
    right = guesses == labels
    assert found["accuracy"].value == pytest.approx(right.mean())
    assert 0.1 < right.mean() < 1  # neither chance nor trivial
    assert found["macro F1"].value == pytest.approx(
        f1_score(labels, guesses.astype(str), average="macro")
    )
    of_texts = [it.genre for it in sources.brown]
    assert found["text accuracy"].value == pytest.approx((names[logs.argmax(1)] == of_texts).mean())
    matrix = np.array([row.split() for row in found["confusion"]], int)
    assert set(matrix.sum(1)) == {len(texts) // len(names)}  # a row is what they are
    assert matrix.sum() == 270 and np.trace(matrix) == right.sum()
    assert matrix[0, 1] == ((labels == names[0]) & (guesses == names[1])).sum()
    np.testing.assert_array_equal(classifiers.unpacked(found["right"], 270), right)
