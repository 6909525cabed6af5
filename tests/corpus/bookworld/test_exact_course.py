"""The course's own grammar: what is asked in one pass is what asking word by word gives."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random

import numpy as np
import pytest

from lmcourse.corpus.bookworld import END, LANGUAGE, BookWorld, Grammar, Review
from lmcourse.errors import CourseError
from tests.corpus.bookworld.posteriors import genre_posterior, part_of_speech_posterior

EXACT = 1e-12
MOST_FILLINGS = 150  # cases with more words that could stand at the hidden positions take too long


def fillings(
    world: BookWorld, tokens: list[str], positions: Sequence[int]
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every way to fill the hidden positions (in order) that the words before allow, with its
    log-probability."""
    if not positions:
        yield (), world.log_prob(tokens)
        return
    first, *others = positions
    before = tokens[:first]
    if END in before or world.log_prob(before) == -math.inf:  # what was filled in does not fit
        return
    for id_ in np.flatnonzero(world.next_token(before)).tolist():
        word = world.vocabulary[id_]
        for words, log_prob in fillings(world, [*before, word, *tokens[first + 1 :]], others):
            yield (word, *words), log_prob


def posterior_from(
    world: BookWorld, found: list[tuple[tuple[str, ...], float]], count: int
) -> np.ndarray:
    """The distribution at each of the hidden positions, [count, vocabulary]."""
    largest = max(log_prob for _, log_prob in found)
    rows = np.zeros((count, len(world.vocabulary)))
    for words, log_prob in found:
        for row, word in zip(rows, words, strict=True):
            row[world.encode([word])[0]] += math.exp(log_prob - largest)
    return rows / rows.sum(1, keepdims=True)


def check(
    world: BookWorld, tokens: list[str], positions: Sequence[int], most: int = MOST_FILLINGS
) -> int:
    """Compare the posteriors at some positions; the number of fillings, 0 if too many."""
    positions = sorted(positions)
    found = list(islice(fillings(world, tokens, positions), most + 1))
    if len(found) > most:
        return 0
    wanted = posterior_from(world, found, len(positions))
    posterior = world.masked_posterior(tokens, positions)
    assert (abs(posterior - wanted) <= EXACT * wanted.max(1, keepdims=True)).all()
    return len(found)


@pytest.fixture(scope="module")
def reviews(world) -> list[Review]:
    """Some reviews, short ones: each question is asked hundreds of times."""
    return sorted(world.sample(60, seed=11), key=lambda review: len(review.tokens))[:20]


@pytest.mark.parametrize("count", [1, 2])
def test_masks_equal_every_substitution(world, reviews, count):
    draw, cases, hard = Random(count), 0, 0
    for index, review in enumerate(reviews):
        tokens = [*review.tokens, END]
        if index % 2:  # every second one is cut off somewhere
            tokens = tokens[: draw.randint(len(tokens) // 3, len(tokens) - 2)]
        for _ in range(3):
            fitting = check(world, tokens, draw.sample(range(len(tokens)), count), 60)
            cases += fitting > 0
            hard += fitting > 3
    assert cases >= 40 and hard >= 10


def test_one_mask_equals_every_word_of_the_vocabulary(world, reviews):
    # Early in the text, for speed, and where many words are possible.
    possible = {
        (index, at): np.count_nonzero(world.masked_posterior(review.tokens[:10], [at]) > 1e-3)
        for index, review in enumerate(reviews)
        for at in range(6)
    }
    index, position = max(possible, key=lambda case: possible[case])
    tokens = reviews[index].tokens[:10]
    log_probs = np.array(
        [
            world.log_prob([*tokens[:position], word, *tokens[position + 1 :]])
            for word in world.vocabulary
        ]
    )
    wanted = np.exp(log_probs - log_probs.max())
    assert np.count_nonzero(wanted) > 1
    wanted /= wanted.sum()
    found = world.masked_posterior(tokens, [position])[0]
    assert (abs(found - wanted) <= EXACT * wanted.max()).all()


@pytest.mark.parametrize(
    "attribute", ["hero", "second", "book.last", "book.city", "book.adjective"]
)
def test_hidden_registers_equal_every_substitution(world, attribute):
    """All mentions are hidden, and then all but one: a register unseen, and seen."""
    cases = 0
    for review in world.sample(40, seed=5):
        tokens = [*review.tokens, END]
        value = review.held_value(attribute)
        mentions = [at for at, token in enumerate(tokens) if token == value]
        if not (2 if attribute in ("hero", "second") else 1) <= len(mentions) <= 3:
            continue
        cut = mentions[-1] + 8  # a few words more: whole texts are compared above
        checked = check(world, tokens[:cut], mentions)
        if len(mentions) > 1:
            checked = checked and check(world, tokens[:cut], mentions[1:])
        cases += checked > 0
        if cases == 2:
            return
    raise AssertionError(f"only {cases} reviews mention @{attribute}")


def test_the_probabilities_of_all_continuations_sum_to_one(world, reviews):
    prefix = reviews[1].tokens[:5]
    each = np.exp([world.log_prob([*prefix, word]) for word in world.vocabulary])
    whole = math.exp(world.log_prob(prefix))
    assert abs(math.fsum(each) - whole) < EXACT * whole
    assert abs(each / whole - world.next_token(prefix)).max() < EXACT


def test_one_pass_gives_every_prefix(world, reviews):
    for review in reviews:
        rows = world.next_tokens(review.tokens)
        assert rows.shape == (len(review.tokens) + 1, len(world.vocabulary))
        assert abs(rows.sum(1) - 1).max() < EXACT and rows.min() >= 0
        for at in range(0, len(rows), 20):
            assert abs(rows[at] - world.next_token(review.tokens[:at])).max() < EXACT
        tokens = [*review.tokens, END]
        chosen = rows[np.arange(len(tokens)), world.encode(tokens)]
        assert abs(np.log(chosen) - world.log_probs(tokens)).max() < EXACT
        total = math.fsum(world.log_probs(tokens))
        assert abs(total - world.log_prob(tokens)) < EXACT * len(tokens)


# ------------------------------------------------------------------------ without any lumping


def small_world() -> BookWorld:
    """The course's grammar with few people and books: few enough to keep each apart."""
    grammar = Grammar.read(LANGUAGE)
    assert grammar.rules  # reads the sentences while all words of titles are in the lexicon
    people, books = grammar.tables["people"].rows, grammar.tables["books"].rows
    men, women = ([row for row in people if row["gender"] == kind] for kind in ("male", "female"))
    people[:] = [*men[:3], *women[:3]]
    books[:] = books[::7]
    return BookWorld(grammar)


def unlumped(world: BookWorld, tokens: Sequence[str]) -> np.ndarray:
    """P(tokens, cast, book, class), [contents, classes]: every content is followed on its own."""
    network = world.network
    cast, book = network.registers
    held = [(first, second) for first in cast.values for second in book.values]
    genres = network.genre_of_class
    prior = np.array(
        [
            network.prior * first[genres] * second[genres]
            for first in cast.prior.T
            for second in book.prior.T
        ]
    )
    alpha = {0: prior}
    for token in tokens:
        after: dict[int, np.ndarray] = {}
        for state, reached in alpha.items():
            for arc in range(network.first[state], network.first[state + 1]):
                emission = network.emission[arc]
                read, weight = network.reads[emission], network.weight[arc]
                if read >= 0:
                    family, column = network.attributes[read]
                    fits = [[content[family][column] == token] for content in held]
                    flow = reached * weight * np.array(fits)
                else:
                    ids = network.emission_ids[emission] == network.ids[token]
                    flow = reached * weight * network.emission_probabilities[emission][ids].sum()
                if flow.any():
                    target = int(network.target[arc])
                    after[target] = after.get(target, 0.0) + flow
        alpha = after
    return sum(alpha.values())


def test_lumping_the_contents_that_are_not_seen_changes_nothing():
    world = small_world()
    for review in world.sample(5, seed=3):
        whole = [*review.tokens, END]
        for tokens in (whole, whole[: len(whole) // 3]):
            joint = unlumped(world, tokens)
            assert abs(world.log_prob(tokens) - math.log(joint.sum())) < EXACT * len(tokens)
            classes = joint.sum(0).reshape(len(world.genres), -1) / joint.sum()
            assert abs(world.rating_posterior(tokens) - classes.sum(0)).max() < EXACT
            genres = list(genre_posterior(world, tokens).values())
            assert abs(np.array(genres) - classes.sum(1)).max() < EXACT


def test_a_pronoun_may_mean_no_character(world):
    """Before more is read, "he" may be a king who dreams; the rest of the sentence tells."""
    found = 0
    for review in world.sample(200, seed=6):
        for sentence in review.sentences:
            at = sentence.start
            if sentence.stage != "role" or review.tokens[at] not in ("he", "she"):
                continue
            assert review.antecedents[at] is None
            before = world.antecedent_posterior(review.tokens[: at + 1], at)
            assert sum(before.values()) == pytest.approx(1) and 0 < before[None] < 1
            tags = part_of_speech_posterior(world, review.tokens[: at + 1], at)
            assert tags == pytest.approx({"PRON": 1})
            with pytest.raises(CourseError, match="refers to no character"):
                world.antecedent_posterior(review.tokens[: sentence.end], at)
            found += 1
    assert found >= 3
