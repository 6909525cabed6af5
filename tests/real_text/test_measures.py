"""Each measure against brute force."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tokenizers import Tokenizer, models, pre_tokenizers

from research.real_text import fertility, zipf

pytestmark = pytest.mark.usefixtures("small_texts")


@pytest.mark.parametrize("cutoff", zipf.CUTOFFS)
@pytest.mark.parametrize("gamma", [1.8, 2.2])
def test_likelihood_recovers_the_exponent_of_a_sample(gamma, cutoff):
    counts = stats.zipf(gamma).rvs(200_000, random_state=0)
    assert zipf.by_likelihood(counts, cutoff) == pytest.approx(1 / (gamma - 1), rel=0.03)


def test_likelihood_is_the_maximum():
    counts = stats.zipf(2.1).rvs(400, random_state=1)
    kept = counts[counts >= 5]

    def loss(s):
        gamma = 1 + 1 / s
        total = sum(n**-gamma for n in range(5, 300_000))
        return gamma * np.log(kept).sum() + len(kept) * math.log(total)

    found = zipf.by_likelihood(counts, 5)
    assert loss(found) < min(loss(found - 0.03), loss(found + 0.03))


def test_squares_find_the_slope_of_an_exact_law():
    counts = 1e6 / np.arange(1, 400) ** 1.3
    draw = np.random.default_rng(0)
    assert zipf.by_squares(draw.permutation(counts), 1) == pytest.approx(1.3)
    changed = np.append(counts, np.full(50, 2.0))
    assert zipf.by_squares(changed, 1) != pytest.approx(1.3, abs=1e-3)
    assert zipf.by_squares(changed, 5) == pytest.approx(1.3)  # the cutoff leaves them out


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    sampled = [np.mean(each) for each in combinations(values, zipf.TEXTS)]
    found = zipf.jackknife(sampled, len(values))
    assert found.value == pytest.approx(np.mean(values))
    assert found.error == pytest.approx(stats.sem(values))
    low, high = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_samples_are_of_equal_size(sources):
    for genre in ("news", "humor", zipf.WORLD):
        texts = zipf.words_of(genre, sources)
        assert {len(text) for text in texts} == {60} and len(texts) >= 5
        assert all(word == word.lower() and word.isalnum() for text in texts for word in text)
    found = zipf.measured("news", sources)
    assert found["texts"] == 6
    assert 0 < found["types / tokens"].value < 1


def test_shares_of_types_and_hapaxes():
    counts = np.array([1, 1, 2, 4])
    assert zipf.MEASURES["types / tokens"](counts) == 0.5
    assert zipf.MEASURES["hapaxes / types"](counts) == 0.5


def wordpiece():
    vocabulary = {"[UNK]": 0, "cat": 1, "##s": 2, "dog": 3, "##g": 4, "do": 5, "[PAD]": 6}
    found = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    found.enable_padding(pad_id=6)
    return found


def test_fertility_by_hand():
    texts = [Counter({"cat": 2, "cats": 3}), Counter({"dogs": 1, "bird": 4, "dog": 5})]
    found = fertility.split_words(wordpiece(), texts)
    # cat 1, cats 2; dogs 2, bird is unknown, dog 1
    assert found["words"] == "5 10"
    assert found["tokens"] == "8 11"
    assert found["whole"] == pytest.approx(7 / 15)
    assert found["unknown"] == pytest.approx(4 / 15)


def test_no_tokenizer_is_tested_on_its_training_texts(sources):
    for genre in ("news", "humor"):
        train, tested = fertility.halves(genre, sources)
        names = [{text.sentences[0].text for text in half} for half in (train, tested)]
        assert len(names[0]) == len(names[1]) == 3 and not names[0] & names[1]
        assert {text.genre for text in train + tested} == {genre}


def test_a_tokenizer_fits_its_own_genre_best(sources):
    splits = {name: fertility.measured(name, sources)["genres"] for name in ("news", "romance")}
    tokens = {name: sum(map(int, it["news"]["tokens"].split())) for name, it in splits.items()}
    assert tokens["news"] < tokens["romance"]
    mixed = fertility.measured(fertility.ALL, sources)["genres"]["news"]
    assert mixed["words"] == splits["news"]["news"]["words"]
