"""What BookWorld answers is what writing out every derivation gives."""

import itertools
import math
from collections.abc import Iterable, Sequence
from random import Random

import numpy as np
import pytest

from lmcourse.corpus.bookworld import END, BookWorld, Grammar
from tests.corpus.bookworld import enumerate as brute
from tests.corpus.bookworld.grammars import FINITE, SMALL, random_grammar, world_of
from tests.corpus.bookworld.posteriors import (
    genre_posterior,
    part_of_speech_posterior,
    sense_posterior,
)

EXACT = 1e-12
RANDOM_GRAMMARS = 40
LONGEST = 9  # tokens of a random text; the brute force takes exponentially long


def grammar_of(text: str) -> Grammar:
    """A grammar of its own for the brute force."""
    return Grammar([("test.grammar", text)])


def texts_of(world: BookWorld, seed: int, longest: int) -> list[list[str]]:
    """Two reviews, and the beginning of a third: whole ones end with the end mark."""
    draw = Random(seed)
    whole = [[*review.tokens, END][:longest] for review in world.sample(12, seed)]
    whole.sort(key=len, reverse=True)
    cut = draw.randint(1, max(1, len(whole[1]) - 1))
    return [whole[0], whole[draw.randrange(4)], whole[1][:cut]]


def hide(tokens: Sequence[str], positions: Iterable[int]) -> list[str | None]:
    """The tokens as a pattern of the brute force."""
    hidden = set(positions)
    return [None if at in hidden else token for at, token in enumerate(tokens)]


def near(found: dict, wanted: dict) -> bool:
    """Whether two distributions are equal; what one of them leaves out has probability zero."""
    return all(abs(found.get(key, 0.0) - wanted.get(key, 0.0)) < EXACT for key in {*found, *wanted})


@pytest.fixture(scope="module", params=range(RANDOM_GRAMMARS))
def case(request):
    """A random grammar, its world, and some texts."""
    text = random_grammar(request.param)
    world = world_of(text)
    return grammar_of(text), world, texts_of(world, request.param, longest=LONGEST)


def test_probability_of_texts_and_of_what_follows(case):
    grammar, world, texts = case
    for tokens in texts:
        assert abs(world.log_prob(tokens) - brute.log_prob(brute.joint(grammar, tokens))) < EXACT
        prefix = tokens[: len(tokens) // 2]
        found = brute.joint(grammar, [*prefix, None])
        wanted = brute.word_shares(found, len(prefix), world.vocabulary)
        assert abs(world.next_token(prefix) - wanted).max() < EXACT
        assert abs(world.log_prob(prefix) - brute.log_prob(found)) < EXACT


def test_hidden_tokens(case):
    grammar, world, texts = case
    draw = Random(0)
    for tokens in texts:
        for count in {1, min(2, len(tokens))}:
            positions = draw.sample(range(len(tokens)), count)
            found = brute.joint(grammar, hide(tokens, positions))
            posterior = world.masked_posterior(tokens, positions)
            for row, position in zip(posterior, positions, strict=True):
                wanted = brute.word_shares(found, position, world.vocabulary)
                assert abs(row - wanted).max() < EXACT


def test_labels_and_latents(case):
    grammar, world, texts = case
    for tokens in texts:
        found = brute.joint(grammar, tokens)
        genres = brute.classes(found).sum(1)
        assert abs(world.rating_posterior(tokens) - brute.classes(found).sum(0)).max() < EXACT
        assert near(genre_posterior(world, tokens), dict(zip(world.genres, genres, strict=True)))
        for at in range(len(tokens)):
            kinds = brute.shares(found, lambda text, at=at: text[at][1].part_of_speech)
            assert near(part_of_speech_posterior(world, tokens, at), kinds)
            senses = brute.shares(found, lambda text, at=at: text[at][1].sense or "none")
            posterior = sense_posterior(world, tokens, at)
            assert near({sense or "none": p for sense, p in posterior.items()}, senses)
            who = brute.antecedents(found, grammar, at)
            if who.keys() != {None}:
                assert near(world.antecedent_posterior(tokens, at), who)


def test_there_are_enough_random_cases_and_they_are_hard():
    worlds = [world_of(random_grammar(seed)) for seed in range(RANDOM_GRAMMARS)]
    texts = [
        (seed, tokens)
        for seed, world in enumerate(worlds)
        for tokens in texts_of(world, seed, longest=LONGEST)
    ]
    assert len(texts) * 2 >= 200  # one hidden token in each, and two
    ambiguous = [
        seed
        for seed, tokens in texts
        if len(brute.joint(grammar_of(random_grammar(seed)), tokens)) > 1
    ]
    truncated = [tokens for _, tokens in texts if tokens[-1] != END]
    assert len(ambiguous) > len(texts) / 5 and len(truncated) > len(texts) / 5


# ----------------------------------------------------------------- a small grammar, written by hand


def test_all_texts_of_a_grammar_without_loops():
    world, found = world_of(FINITE), brute.joint(grammar_of(FINITE))
    texts: dict[tuple[str, ...], float] = {}
    for text, value in found.items():
        tokens = tuple(token for token, _ in text)
        texts[tokens] = texts.get(tokens, 0.0) + float(value.sum())
    assert abs(math.fsum(texts.values()) - 1) < EXACT
    chosen = sorted(texts)[:: len(texts) // 300]
    for tokens in chosen:
        assert abs(world.log_prob(tokens) - math.log(texts[tokens])) < EXACT


def test_how_often_sentences_are_expected():
    """Counted in every text, one sentence and two, also where a class of words ends them."""
    text = FINITE.replace("words closed", "words ends PUNCT zipf 1.0 : . ! ,\nwords closed", 1)
    text = text.replace("$verdict .", "$verdict <ends> the star .")
    world, grammar = world_of(text), grammar_of(text)
    sums: dict[tuple[tuple[str, ...], bool], float] = {}
    for labeled, value in brute.joint(grammar).items():
        tokens = [token for token, _ in labeled]
        starts = [0, *(at + 1 for at, token in enumerate(tokens) if token in (".", "!"))]
        for first, last in itertools.combinations([*starts, len(tokens)], 2):
            key = (tuple(tokens[first:last]), first > 0)
            sums[key] = sums.get(key, 0.0) + float(value.sum())
    passages = sorted({passage for passage, _ in sums}, key=lambda each: (len(each), each))
    for passage in [*passages[:100], *passages[:: len(passages) // 100]]:
        inside = sums.get((passage, True), 0.0)
        # The expected number of places where it stands: as a beginning, too.
        begins = math.exp(world.log_prob(passage))
        assert abs(math.exp(world.log_expected(passage, first=False)) - inside) < EXACT
        assert abs(math.exp(world.log_expected(passage)) - inside - begins) < EXACT


def test_a_review_that_begins_anew():
    """The start is passed again and again, after a sentence: 1 / 0.6 times in all."""
    text = SMALL.replace("$opening [0.6 $meeting] $body [0.3 $closing]", "0.4 the star . $review")
    world = world_of(text.replace("1 [0.4 i love this .] $closing", "0.6 the bank ."))
    for tokens, expected in (("the star .", 0.4 / 0.6), ("the bank . <end>", 1.0)):
        begins = math.exp(world.log_prob(tokens.split()))
        assert abs(math.exp(world.log_expected(tokens.split())) - expected) < EXACT
        inside = math.exp(world.log_expected(tokens.split(), first=False))
        assert abs(inside - (expected - begins)) < EXACT


def test_small_grammar_with_loops_agreement_and_characters():
    world, grammar, draw = world_of(SMALL), grammar_of(SMALL), Random(1)
    for review in world.sample(25, seed=7):
        whole = [*review.tokens, END]
        for tokens in (whole, whole[: draw.randint(1, len(whole) - 1)]):
            found = brute.joint(grammar, tokens)
            assert abs(world.log_prob(tokens) - brute.log_prob(found)) < EXACT
            ratings = brute.classes(found).sum(0)
            assert abs(world.rating_posterior(tokens) - ratings).max() < EXACT
            positions = draw.sample(range(len(tokens)), min(3, len(tokens)))
            # All mentions of a name, too: then nothing shows who it was.
            names = [at for at, token in enumerate(tokens) if token == review.hero]
            for chosen in filter(None, (positions, names)):
                found = brute.joint(grammar, hide(tokens, chosen))
                posterior = world.masked_posterior(tokens, chosen)
                for row, position in zip(posterior, chosen, strict=True):
                    wanted = brute.word_shares(found, position, world.vocabulary)
                    assert abs(row - wanted).max() < EXACT


def test_impossible_texts_have_probability_zero():
    world = world_of(SMALL)
    assert world.log_prob(["star", ".", "star"]) == -math.inf
    assert world.log_prob([END, END]) == -math.inf
    assert world.log_prob([]) == 0
    found = world.log_probs(["star", ".", "star", "."])
    assert np.isfinite(found[:2]).all() and (found[2:] == -math.inf).all()
