"""What is sampled is what the automaton says, and the same everywhere."""

import hashlib
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.network import Network
from lmcourse.corpus.bookworld.sampling import Sampler
from tests.corpus.bookworld import enumerate as brute
from tests.corpus.bookworld.grammars import FINITE, SMALL, world_of

REVIEWS = 20_000
# All tests of one statistic together reject a right sampler once in a million seeds.
RISK = 1e-6
SMALL_DIGEST = "53d6b30dec181e8e"


def digest(reviews: Iterable[Review]) -> str:
    """A fingerprint of texts, their labels and latents."""
    found = hashlib.sha256()
    for review in reviews:
        found.update(f"{review.tokens} {review.parts_of_speech} {review.genre}".encode())
        found.update(f"{review.rating} {review.held} {review.arcs}".encode())
    return found.hexdigest()[:16]


# ------------------------------------------------------------------------------ the same everywhere


def test_a_seed_gives_the_same_reviews_on_every_platform_and_in_every_version():
    assert digest(world_of(SMALL).sample(200, seed=4)) == SMALL_DIGEST


def test_the_same_in_another_process_with_another_hash_seed(world):
    here = digest(world.sample(30, seed=9))
    code = (
        "from lmcourse.corpus.bookworld import BookWorld\n"
        "from tests.corpus.bookworld.test_sampling import digest\n"
        "world = BookWorld()\n"
        "print(world.digest, digest(world.sample(30, seed=9)))"
    )
    for seed in ("1", "2718"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert found.stdout.split() == [world.digest, here]


def test_the_first_reviews_do_not_depend_on_how_many_are_drawn(world):
    few, many = world.sample(3, seed=5), world.sample(20, seed=5)
    assert digest(few) == digest(many[:3]) != digest(many[3:6])
    assert digest(few) != digest(world.sample(3, seed=6))
    assert world.sample(0) == []


def test_the_digest_tells_grammars_apart():
    other = world_of(SMALL.replace("[0.6 $meeting]", "[0.61 $meeting]"))
    assert other.digest != world_of(SMALL).digest == BookWorld(world_of(SMALL).grammar).digest


# ----------------------------------------------------------------------- as the automaton says it


def p_value(observed: np.ndarray, expected: np.ndarray) -> float | None:
    """Pearson's chi-square, rare outcomes pooled; None if fewer than two are left."""
    assert not observed[expected == 0].any(), "something of probability zero was drawn"
    often = expected >= 5
    observed = np.r_[observed[often], observed[~often].sum()]
    expected = np.r_[expected[often], expected[~often].sum()]
    if expected[-1] < 5:  # too little to stand alone
        if len(expected) < 3:
            return None
        observed = np.r_[observed[:-2], observed[-2:].sum()]
        expected = np.r_[expected[:-2], expected[-2:].sum()]
    return float(chisquare(observed, expected).pvalue) if len(expected) > 1 else None


def rejected(tests: Iterable[float | None]) -> bool:
    """Whether the smallest p-value is too small, with Bonferroni's correction."""
    found = [value for value in tests if value is not None]
    assert found
    return min(found) < RISK / len(found)


def arc_tests(network: Network, reviews: Sequence[Review]) -> list[float | None]:
    """Of each state and latent class, whether the arcs are walked as often as their weights say."""
    walked = np.zeros(network.weight.shape)
    for review in reviews:
        np.add.at(walked, (list(review.arcs), review.class_), 1)
    found = []
    for state in np.flatnonzero(np.bincount(network.source, walked.sum(1)) >= 10):
        arcs = slice(network.first[state], network.first[state + 1])
        for class_ in np.flatnonzero(walked[arcs].sum(0) >= 10):
            observed = walked[arcs, class_]
            found.append(p_value(observed, observed.sum() * network.weight[arcs, class_]))
        # And all classes together, which shows small deviations that are the same in each.
        pooled = (walked[arcs].sum(0) * network.weight[arcs]).sum(1)
        found.append(p_value(walked[arcs].sum(1), pooled))
    return found


def word_tests(network: Network, reviews: Sequence[Review]) -> list[float | None]:
    """Of each class of words, whether each is drawn as often as it should be."""
    counts = Counter(
        (int(network.emission[arc]), id_)
        for review in reviews
        for arc, id_ in zip(review.arcs, review.ids, strict=True)
    )
    found = []
    for emission, ids in enumerate(network.emission_ids):
        if len(ids) > 1:
            observed = np.array([counts[emission, id_] for id_ in ids.tolist()], float)
            expected = observed.sum() * network.emission_probabilities[emission]
            found.append(p_value(observed, expected))
    return found


def latent_tests(network: Network, reviews: Sequence[Review]) -> list[float | None]:
    """Whether genres, ratings and the registers' contents are as frequent as they should be."""
    classes = np.bincount([review.class_ for review in reviews], minlength=len(network.prior))
    found = [p_value(classes, len(reviews) * network.prior)]
    for family, register in enumerate(network.registers):
        for genre, prior in enumerate(register.prior):
            held = [
                review.held[family]
                for review in reviews
                if review.class_ // network.ratings == genre
            ]
            found.append(p_value(np.bincount(held, minlength=len(prior)), len(held) * prior))
    return found


@pytest.fixture(scope="module")
def reviews() -> list[Review]:
    """A large sample of the small grammar."""
    return world_of(SMALL).sample(REVIEWS, seed=2)


def test_arcs_words_and_latents_are_drawn_as_often_as_they_should_be(reviews):
    network = world_of(SMALL).network
    for tests in (arc_tests, word_tests, latent_tests):
        assert not rejected(tests(network, reviews))


def test_the_course_s_own_grammar_is_sampled_rightly_too(world):
    reviews = world.sample(3000, seed=21)
    for tests in (arc_tests, word_tests, latent_tests):
        assert not rejected(tests(world.network, reviews))


class Perturbed:
    """A network one of whose arcs is as it should not be; the rest is the network's."""

    def __init__(self, network: Network, arc: int, factor: float) -> None:
        self._network = network
        self.weight = network.weight.copy()
        self.weight[arc] *= factor

    def __getattr__(self, name: str) -> object:
        return getattr(self._network, name)


def arcs_with_a_choice(network: Network, reviews: Sequence[Review]) -> list[int]:
    """Arcs often walked in a class in which another arc might have been."""
    walked = np.zeros(network.weight.shape)
    for review in reviews:
        np.add.at(walked, (list(review.arcs), review.class_), 1)
    choice = (network.weight > 0.02) & (network.weight < 0.9)
    return np.flatnonzero((walked * choice).sum(1) >= 1000).tolist()


@pytest.mark.parametrize("which", range(8))
def test_one_wrong_transition_is_noticed(reviews, which):
    """A test of the test: an arc is taken 1.4 times as often as it should be, beside the others."""
    network = world_of(SMALL).network
    chosen = arcs_with_a_choice(network, reviews)
    arc = chosen[which * (len(chosen) - 1) // 7]
    wrong = list(Sampler(Perturbed(network, arc, 1.4)).reviews(REVIEWS, seed=2))
    assert rejected(arc_tests(network, wrong))


def test_one_wrong_word_is_noticed(reviews):
    network = world_of(SMALL).network
    sampler = Sampler(network)
    emission = next(
        number
        for number, ids in enumerate(network.emission_ids)
        if [network.vocabulary[id_] for id_ in ids] == ["amusing", "great", "uneven"]
    )
    ids, running, read = sampler._choices[emission]
    sampler._choices[emission] = (ids, [running[0] * 1.5, *running[1:]], read)
    assert rejected(word_tests(network, list(sampler.reviews(REVIEWS, seed=2))))


def test_one_wrong_prior_is_noticed():
    network = world_of(SMALL).network
    sampler = Sampler(network)
    sampler._prior[0] *= 1.5
    assert rejected(latent_tests(network, list(sampler.reviews(REVIEWS, seed=2))))


def test_arcs_of_probability_zero_are_never_walked(reviews, world):
    for network, drawn in ((world_of(SMALL).network, reviews), (world.network, world.sample(500))):
        assert (network.weight == 0).any()
        for review in drawn:
            assert network.weight[list(review.arcs), review.class_].min() > 0


@pytest.fixture(scope="module")
def exact() -> dict[tuple[str, ...], float]:
    """P(text) of every text of the grammar without loops, by writing them all out."""
    texts: dict[tuple[str, ...], float] = {}
    for text, value in brute.joint(world_of(FINITE).grammar).items():
        tokens = tuple(token for token, _ in text)
        texts[tokens] = texts.get(tokens, 0.0) + float(value.sum())
    return texts


def test_the_sampled_entropy_is_the_exact_one(exact):
    world = world_of(FINITE)
    entropy = -math.fsum(p * math.log(p) for p in exact.values() if p > 0)
    drawn = Counter((*review.tokens, END) for review in world.sample(REVIEWS, seed=8))
    nats = np.repeat([-world.log_prob(tokens) for tokens in drawn], list(drawn.values()))
    error = nats.std(ddof=1) / math.sqrt(len(nats))
    assert error < 0.03 and abs(nats.mean() - entropy) < 4 * error


def test_whole_texts_are_as_frequent_as_writing_them_all_out_says(exact):
    drawn = Counter((*review.tokens, END) for review in world_of(FINITE).sample(REVIEWS, seed=8))
    assert set(drawn) <= set(exact)
    observed = np.array([drawn[tokens] for tokens in exact], float)
    expected = np.array(list(exact.values())) * REVIEWS
    assert (expected >= 5).sum() > 100
    assert not rejected([p_value(observed, expected)])
