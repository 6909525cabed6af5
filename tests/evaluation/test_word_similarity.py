"""Similarities and analogies: equal to gensim and to one question at a time."""

import os
import random
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from scipy import sparse, stats

from lmcourse import hub
from lmcourse.corpus.human_ratings import gensim_file, read_analogies, read_lee, read_word_pairs
from lmcourse.corpus.tasks import Analogy
from lmcourse.corpus.vectors import WordVectors, read_vectors
from lmcourse.errors import CourseError
from lmcourse.evaluation import word_similarity as module
from lmcourse.evaluation.word_similarity import (
    answer_analogies,
    document_similarity,
    word_similarity,
)

FEW = 3  # resamples, where the interval does not matter


@pytest.fixture(scope="module")
def keyed():
    """What makes gensim's vectors of ours."""
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")

    def convert(vectors):
        found = models.KeyedVectors(vectors.vectors.shape[1])
        found.add_vectors(vectors.words, vectors.vectors)
        return found

    return convert


@pytest.fixture(scope="module")
def trained():
    """Vectors that gensim's tests bring, of fastText on Lee's background documents."""
    pytest.importorskip("gensim", reason="gensim is not installed")
    return read_vectors(gensim_file("lee_fasttext.vec"))


@pytest.fixture(scope="module")
def glove():
    """GloVe's vectors, as `make test` installed them."""
    if os.environ.get("LMCOURSE_REAL") == "off":
        pytest.skip("LMCOURSE_REAL=off hides what is tested")
    return hub.vectors("glove-6b-50d")


def sample(seed):
    """Random vectors of words, some of which differ in case only, and random options."""
    draw = random.Random(seed)
    stems = [f"w{number}" for number in range(draw.choice([12, 40]))]
    words = [form for stem in stems for form in (stem, stem.upper()) if draw.random() < 0.7]
    draw.shuffle(words)
    numbers = np.random.default_rng(seed).normal(size=(len(words), draw.choice([2, 5, 30])))
    options = {
        "case_insensitive": draw.random() < 0.7,
        "restrict_vocab": draw.choice([len(words) // 2, len(words)]),
    }
    return draw, stems, WordVectors(words, numbers.astype(np.float32)), options


def draw_words(draw, stems, known, count):
    """Different words, most of them from a list, in any form."""
    forms = {}
    for word in [*draw.choices(known, k=3 * count), "unknown", *draw.choices(stems, k=9)]:
        forms.setdefault(word.lower(), word if draw.random() < 0.9 else word.swapcase())
    return draw.sample([*forms.values()][:5] + ["unknown"] * (draw.random() < 0.05), count)


def draw_questions(draw, stems, vectors, options):
    known = vectors.words[: options["restrict_vocab"]]
    sections = sorted(draw.choices(["ab", "c"], k=80))
    found = [Analogy(*draw_words(draw, stems, known, 4), section) for section in sections]
    return [*found, Analogy("w1", "w2", "w3", "unknown", "d")]


def same_scores(found, expected):
    pearson, spearman, missing = expected
    assert found.spearman.value == pytest.approx(spearman[0], abs=1e-5)
    assert found.pearson.value == pytest.approx(pearson[0], abs=1e-5)
    assert 100 * found.missing == pytest.approx(missing)


@pytest.mark.parametrize("seed", range(16))
def test_similarities_equal_gensims(tmp_path, keyed, seed):
    draw, stems, vectors, options = sample(seed)
    known = vectors.words[: options["restrict_vocab"]]
    words = [draw_words(draw, stems, known, 2) for _ in range(60)]
    pairs = [(*two, round(draw.uniform(0, 10), 1)) for two in [*words, ("w1", "unknown")]]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{one}\t{other}\t{rating}\n" for one, other, rating in pairs))
    assert read_word_pairs(path) == pairs
    found = word_similarity(vectors, pairs, resamples=FEW, **options)
    assert 0 < found.missing < 1
    same_scores(found, keyed(vectors).evaluate_word_pairs(str(path), **options))


@pytest.mark.parametrize("name", ["wordsim353.tsv", "simlex999.txt"])
def test_similarities_of_trained_vectors_equal_gensims(keyed, trained, name):
    found = word_similarity(trained, read_word_pairs(gensim_file(name)), resamples=FEW)
    assert len(found.ratings) > 30 and found.missing > 0.5
    same_scores(found, keyed(trained).evaluate_word_pairs(str(gensim_file(name))))


def test_a_score_has_an_interval_over_pairs():
    draw = np.random.default_rng(0)
    words = [f"w{number}" for number in range(200)]
    vectors = WordVectors(words, draw.normal(size=(200, 4)).astype(np.float32))
    pairs = [(a, b, vectors.similarity(a, b)) for a, b in pairwise(words)]
    same = word_similarity(vectors, pairs, resamples=50)
    assert same.spearman.value == 1 == pytest.approx(same.spearman.low) and same.missing == 0
    assert same.cosines.tolist() == same.ratings.tolist()
    noisy = [(a, b, rating + draw.normal()) for a, b, rating in pairs]
    found = word_similarity(vectors, noisy, resamples=200).pearson
    assert found.low < found.value < found.high
    assert found.error == pytest.approx((1 - found.value**2) / len(pairs) ** 0.5, rel=0.2)
    ascending = [(*pair[:2], float(np.exp(20 * pair[2]))) for pair in pairs]
    monotone = word_similarity(vectors, ascending, resamples=FEW)
    assert monotone.spearman.value == 1 and monotone.pearson.value < 0.9


def by_section(answers):
    """The questions that are answered rightly and wrongly, in each section."""
    found = {}
    for question, right in zip(answers.questions, answers.right, strict=True):
        section = found.setdefault(question.relation, ([], []))
        section[0 if right else 1].append(question[:4])
    return found


def same_answers(found, expected, fold):
    accuracy, sections = expected
    assert found.accuracy.value == pytest.approx(accuracy)
    theirs = {each["section"]: (each["correct"], each["incorrect"]) for each in sections[:-1]}
    ours = {
        name: tuple([tuple(map(fold, question)) for question in part] for part in parts)
        for name, parts in by_section(found).items()
    }
    assert ours == {name: parts for name, parts in theirs.items() if any(parts)}
    for name, (right, wrong) in ours.items():
        assert found.sections[name].value == pytest.approx(len(right) / len(right + wrong))
    return len(sections[-1]["correct"])


@pytest.mark.parametrize("seed", range(16))
def test_analogies_equal_gensims(tmp_path, monkeypatch, keyed, seed):
    draw, stems, vectors, options = sample(seed)
    questions = draw_questions(draw, stems, vectors, options)
    for number, question in enumerate(questions[:-1]):  # half of them are solved by construction
        ids = [vectors.ids.get(word) for word in question[:4]]
        if number % 8 == 0 and None not in ids:
            a, b, c, d = ids
            vectors.vectors[d] = vectors.vectors[b] - vectors.vectors[a] + vectors.vectors[c]
    vectors = WordVectors(vectors.words, vectors.vectors)
    path = tmp_path / "questions.txt"
    lines, section = [], None
    for question in questions:
        lines += [f": {question.relation}"] if question.relation != section else []
        section = question.relation
        lines.append(" ".join(question[:4]))
    path.write_text("\n".join(lines))
    assert read_analogies(path) == questions
    monkeypatch.setattr(module, "BATCH", draw.choice([1, 7 * len(vectors), 1 << 24]))
    found = answer_analogies(vectors, questions, **options)
    assert not found.third_word.any() and len(found.questions) < len(questions)
    assert found.missing == pytest.approx(1 - len(found.questions) / len(questions))
    expected = keyed(vectors).evaluate_word_analogies(str(path), **options)
    same_answers(found, expected, str.upper if options["case_insensitive"] else str)
    whole = keyed(vectors).evaluate_word_analogies(str(path), dummy4unknown=True, **options)
    assert found.right.sum() / len(questions) == pytest.approx(whole[0])


def test_analogies_of_trained_vectors_equal_gensims(keyed, trained):
    questions = read_analogies(gensim_file("questions-words.txt"))
    found = answer_analogies(trained, questions)
    expected = keyed(trained).evaluate_word_analogies(str(gensim_file("questions-words.txt")))
    assert same_answers(found, expected, str.upper) == 3


@pytest.mark.parametrize(
    "name, spearman, pearson", [("wordsim353.tsv", 0.503, 0.507), ("simlex999.txt", 0.265, 0.294)]
)
def test_similarities_of_glove_equal_gensims(keyed, glove, name, spearman, pearson):
    found = word_similarity(glove, read_word_pairs(gensim_file(name)), resamples=FEW)
    assert found.missing == 0
    assert (round(found.spearman.value, 3), round(found.pearson.value, 3)) == (spearman, pearson)
    expected = keyed(glove).evaluate_word_pairs(str(gensim_file(name)), restrict_vocab=400_000)
    same_scores(found, expected)


def test_analogies_of_glove_equal_gensims(tmp_path, keyed, glove):
    questions = read_analogies(gensim_file("questions-words.txt"))
    found = answer_analogies(glove, questions, restrict_vocab=30_000)
    assert len(found.questions) == 14_877 and round(found.accuracy.value, 3) == 0.497
    part = tmp_path / "questions.txt"
    lines = gensim_file("questions-words.txt").read_text().split("\n")
    kept = [line for at, line in enumerate(lines) if at % 50 == 0 or line.startswith(":")]
    part.write_text("\n".join(kept))
    theirs = keyed(glove).evaluate_word_analogies(str(part), restrict_vocab=30_000)
    few = answer_analogies(glove, read_analogies(part), restrict_vocab=30_000)
    assert same_answers(few, theirs, str.upper) > 100


def test_answers_of_glove_among_which_are_the_words_of_the_question(glove):
    questions = read_analogies(gensim_file("questions-words.txt"))
    found = answer_analogies(glove, questions, exclude=False, restrict_vocab=30_000)
    assert round(found.accuracy.value, 3) == 0.320 and round(found.third_word.mean(), 3) == 0.459
    known = WordVectors(glove.words[:30_000], glove.vectors[:30_000])
    for at in range(0, len(found.questions), 100):
        a, b, c = (word.lower() for word in found.questions[at][:3])
        assert found.answers[at] == known.analogy([b, c], [a], 1, with_queries=True)[0][0]


@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("seed", range(100, 110))
def test_analogies_equal_one_at_a_time(monkeypatch, seed, exclude):
    draw, stems, vectors, options = sample(seed)
    questions = draw_questions(draw, stems, vectors, options)
    known = WordVectors(
        *(part[: options["restrict_vocab"]] for part in (vectors.words, vectors.vectors))
    )
    monkeypatch.setattr(module, "BATCH", draw.choice([1, 7 * len(vectors), 1 << 24]))
    found = answer_analogies(
        vectors, questions, exclude=exclude, **options | {"case_insensitive": False}
    )
    assert found.questions == [each for each in questions if all(w in known for w in each[:4])]
    for a, b, c, d, _ in found.questions:
        answer = known.analogy([b, c], [a], 1, with_queries=not exclude)[0][0]
        at = found.questions.index((a, b, c, d, _))
        assert found.answers[at] == answer
        assert found.right[at] == (answer == d) and found.third_word[at] == (answer == c)
    assert not (exclude and found.third_word.any())


def test_brute_force_over_every_word_with_the_question_among_the_answers():
    draw, stems, vectors, options = sample(3)
    questions = draw_questions(draw, stems, vectors, options)
    found = answer_analogies(vectors, questions, exclude=False, case_insensitive=False)
    for (a, b, c, *_), answer in zip(found.questions, found.answers, strict=True):
        va, vb, vc = (vectors.vector(w) / np.linalg.norm(vectors.vector(w)) for w in (a, b, c))
        target = vb - va + vc
        cosines = [v @ target / np.linalg.norm(v) for v in vectors.vectors.astype(float)]
        assert answer == vectors.words[int(np.argmax(cosines))]
    assert 0.1 < found.third_word.mean() < 1


def test_all_forms_of_the_question_are_excluded():
    rows = [[1, 0], [1, 0.1], [0, 1], [0.1, 1.05], [0.3, 1], [0.2, 1]]
    words = ["king", "man", "Woman", "woman", "Queen", "queen"]
    vectors = WordVectors(words, np.array(rows, np.float32))
    question = [Analogy("man", "king", "woman", "QUEEN", "")]
    found = answer_analogies(vectors, question)
    assert found.answers == ["queen"] and found.right.all() and not found.third_word.any()
    # The first form counts: Woman. It is its own answer, in either form.
    found = answer_analogies(vectors, question, exclude=False)
    assert found.answers == ["Woman"] and not found.right.any() and found.third_word.all()
    with pytest.raises(CourseError, match="None of 1 questions has"):
        answer_analogies(vectors, question, case_insensitive=False)


@pytest.fixture(scope="module")
def documents():
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(12, 5))
    ratings = draw.random((12, 12))
    return vectors, (ratings + ratings.T) / 2


def test_documents_are_scored_over_pairs(documents):
    vectors, ratings = documents
    found = document_similarity(vectors, ratings, resamples=FEW)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = list(combinations(range(12), 2))
    cosines = [unit[i] @ unit[j] for i, j in pairs]
    human = [ratings[i, j] for i, j in pairs]
    assert found.cosines == pytest.approx(cosines) and found.ratings.tolist() == human
    assert found.spearman.value == pytest.approx(stats.spearmanr(human, cosines)[0])
    assert found.pearson.value == pytest.approx(stats.pearsonr(human, cosines)[0])
    assert found.missing == 0
    for other in (sparse.csr_array(vectors), torch.tensor(vectors, requires_grad=True), [*vectors]):
        same = document_similarity(other, ratings, resamples=FEW)
        assert same.pearson.value == pytest.approx(found.pearson.value)


def test_the_bootstrap_draws_documents_and_no_pair_of_one_with_itself(monkeypatch, documents):
    vectors, ratings = documents
    drawn = np.array([3, 0, 3, 5, 11, 0])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [(i, j) for i, j in combinations(drawn, 2) if i != j]
    assert len(pairs) == 15 - 2
    measured = []

    def bootstrap(metric, labels, predictions, resamples):
        assert labels.tolist() == predictions.tolist() == list(range(12)) and resamples == 7
        full = np.concatenate([drawn, drawn])
        assert np.isnan(metric(np.full(12, 4), None))
        return measured.append(metric(full, None)) or module.Score(0, 0, 0, 0)

    monkeypatch.setattr(module, "bootstrap", bootstrap)
    document_similarity(vectors, ratings, resamples=7)
    pairs = [(i, j) for i, j in combinations([*drawn, *drawn], 2) if i != j]
    columns = [ratings[i, j] for i, j in pairs], [unit[i] @ unit[j] for i, j in pairs]
    expected = [stats.spearmanr(*columns)[0], stats.pearsonr(*columns)[0]]
    assert measured == pytest.approx(expected)


def test_lee_documents_by_latent_semantic_analysis(trained):
    """gensim's own test requires a correlation above 0.6, as in the paper."""
    from gensim import corpora, matutils, models
    from gensim.parsing.preprocessing import preprocess_documents

    texts, background, ratings = read_lee()
    background, texts = preprocess_documents(background), preprocess_documents(texts)
    dictionary = corpora.Dictionary(background)
    counts = [dictionary.doc2bow(text) for text in background]
    weights = models.LogEntropyModel(counts)
    analysis = models.LsiModel(weights[counts], id2word=dictionary, num_topics=200)
    folded = analysis[weights[[dictionary.doc2bow(text) for text in texts]]]
    vectors = matutils.corpus2dense(folded, num_terms=200).T
    found = document_similarity(vectors, ratings)
    assert found.pearson.value > 0.6 and len(found.ratings) == 1225
    assert found.pearson.low > 0.4 and found.pearson.high < 0.8


def test_what_is_not_a_number_gives_no_score():
    vectors = WordVectors([*"abc"], np.array([[1], [2], [np.nan]], np.float32))
    for pairs in ([("a", "b", np.nan)] * 2, [("a", "b", 1.0), ("c", "a", 2.0)]):
        assert np.isnan(word_similarity(vectors, pairs, resamples=FEW).pearson.value)
    rated = document_similarity(np.eye(2), np.full((2, 2), np.nan), resamples=FEW)
    assert np.isnan(rated.pearson.value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda v: word_similarity(v, []), "0 of 0 pairs have vectors for all words. Pass vec"),
        (lambda v: word_similarity(v, [("a", "b", 1), ("a", "x", 2)]), "1 of 2 pairs have"),
        (lambda v: answer_analogies(v, [Analogy(*"abcx", "")]), "None of 1 questions has"),
        (lambda v: document_similarity(np.eye(3), np.eye(2)), "3 vectors, .*shape .2, 2"),
        (lambda v: document_similarity([[np.nan]], np.eye(1)), "no cosines: .*NaN"),
        (
            lambda v: document_similarity([1.0, 2.0], np.eye(2)),
            "no cosines: Expected 2D .* Pass one row of",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    vectors = WordVectors([*"abcd"], np.array([[1], [2], [np.nan], [3]], np.float32))
    with pytest.raises(CourseError, match=message):
        call(vectors)


def test_constant_similarities_have_no_score():
    vectors = WordVectors([*"abc"], np.ones((3, 2), np.float32))
    found = word_similarity(
        vectors, [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 3.0)], resamples=FEW
    )
    assert np.isnan(found.spearman.value) and np.isnan(found.pearson.error)
