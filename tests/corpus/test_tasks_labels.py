"""Tagging, word senses, coreference, sentiment, spoilers: labels and exact posteriors."""

from collections import Counter

import numpy as np
import pytest

from lmcourse.corpus.bookworld import END
from lmcourse.corpus.tasks import (
    bag_of_words,
    coreference,
    sense_pairs,
    senses,
    sentiment,
    spoilers,
    tagging,
    word_sense,
)
from lmcourse.corpus.tasks.passages import expected, passage, posterior

from .task_worlds import course, off_calibration, small, undecided

# Acts that both senses of a word share, one sense more frequent: the sense stays open.
SHARED = ("moor the canoe", "moor the canoe ; love the check")
MONEY = (
    "rule sense each rivals",
    "rule sense each rivals\n  4 $who loved the check at the bank#money .",
)
# The same words with and without the mark of a spoiler.
MARKED = (
    "  [mystery] @hero met",
    "  [romance 0.4] @hero met @second in {city} . !meeting !spoiler\n  [mystery] @hero met",
)
# A word whose part of speech only the right context tells.
LIKE = (
    "  i read the",
    "  40 i love/NOUN this .\n  i love/VERB this .\n  i love/VERB the harbor .\n  i read the",
)
# Whether a review closes must not depend on its rating.
OPTIONAL = ("  1 [0.4 i love this .] $closing", "  1 $opening [0.3 $closing]")
CLOSING = ("[not3] star .", "[not3] star . !closing")


def open_senses():
    return small(SHARED, MONEY)


@pytest.mark.parametrize(
    ("build", "n"),
    [
        (lambda n: word_sense(open_senses(), n, 1), 300),
        (lambda n: word_sense(open_senses(), n, 1, context="review"), 300),
        (lambda n: sense_pairs(open_senses(), n, 1), 300),
        (lambda n: spoilers(small(MARKED), n, 1), 300),
        (lambda n: coreference(small(), n, 1), 300),
        (lambda n: coreference(course(), n, 2, characters="same_gender"), 120),
        (lambda n: tagging(small(LIKE), n, 1, context="left", words=["love"]), 400),
        (lambda n: tagging(course(), n, 1, context="left"), 25),
        (lambda n: sentiment(small(OPTIONAL, CLOSING), n, 1), 400),
        (lambda n: sentiment(course(), n, 1), 150),
        (lambda n: sentiment(course(), n, 1, labels="polarity"), 120),
    ],
    ids=[
        "word_sense",
        "word_sense review",
        "sense_pairs",
        "spoilers",
        "coreference small",
        "coreference",
        "tagging small",
        "tagging",
        "sentiment small",
        "sentiment",
        "polarity",
    ],
)
def test_posteriors_are_calibrated(build, n):
    task = build(n)
    assert undecided(task) > 0.01
    assert off_calibration(task) < 3.5


def test_best_score_is_the_mean_of_the_highest_posteriors():
    task = sentiment(course(), 30)
    tops = np.array([rows.max() for rows in task.posteriors])
    assert task.best.score == pytest.approx(tops.mean())
    assert task.best.error == pytest.approx(tops.std(ddof=1) / np.sqrt(30))
    assert task.best.exact and task.first(10).best.score == pytest.approx(tops[:10].mean())


def test_passages_agree_with_expected_counts():
    """P(sense | sentence) is the share of the sentences that mean it, among sampled reviews."""
    world = open_senses()
    tokens = ["ada", "loved", "the", "check", "at", "the", "bank", "."]
    shares = posterior(passage(world, tokens), 6, lambda tag: tag.sense)
    natural = expected(world, ["bank"], lambda tag: tag.sense)
    seen = Counter(
        (sense, tuple(review.tokens[s.start : s.end]) == tuple(tokens))
        for review in world.sample(20_000, seed=5)
        for s in review.sentences
        for token, sense in zip(
            review.tokens[s.start : s.end], review.senses[s.start : s.end], strict=True
        )
        if token == "bank"
    )
    for sense in ("river", "money"):
        count = seen[sense, True] + seen[sense, False]
        assert count == pytest.approx(20_000 * natural[sense], rel=0.05)
    total = seen["river", True] + seen["money", True]
    assert seen["money", True] / total == pytest.approx(shares["money"], abs=0.05)
    assert 0.6 < shares["money"] < 0.95


def test_sense_labels_are_those_of_the_governing_acts():
    rows = course().grammar.tables["senses"].rows
    phrases = {
        (row["word"], f"{act.split(' ', 1)[1]} {row['where'].split('#')[0]}"): row["sense"]
        for row in rows
        for act in row["acts"].split(" ; ")
    }
    compared = 0
    for example in word_sense(course(), 200, 1).examples:
        text = " ".join(example.tokens)
        governing = {
            sense
            for (word, phrase), sense in phrases.items()
            if word == example.word and phrase in text
        }
        assert governing <= {example.label}, text
        compared += len(governing)
    assert compared > 100


def test_every_sense_is_equally_frequent():
    known = senses(course())
    total = sum(map(len, known.values()))
    found = Counter((e.word, e.label) for e in word_sense(course(), 2 * total + 5, 1).examples)
    assert set(found.values()) == {2, 3} and len(found) == total


def test_sense_pairs_are_balanced_for_each_word():
    known = senses(course())
    task = sense_pairs(course(), 2 * len(known), 1)
    found = Counter((example.word, example.label) for example in task.examples)
    assert found == {(word, label): 1 for word in known for label in ("same", "different")}
    for example in task.examples:
        assert example.second[example.positions[1]] == example.word
        certain = task.posteriors[task.examples.index(example)][0]
        assert certain[task.labels.index(example.label)] > 0.99


@pytest.mark.parametrize("builder", [word_sense, sense_pairs])
def test_words_alone_do_not_tell_the_sense(builder):
    train, test = builder(course(), 600, 1), builder(course(), 300, 2)
    assert bag_of_words(train, test).score < test.chance + 0.2
    assert test.first(60).best.score > 0.99


def test_coreference_names_are_in_the_text_and_of_one_gender_if_asked():
    genders = {row["name"]: row["gender"] for row in course().grammar.tables["people"].rows}
    for example in coreference(course(), 40, 3, characters="same_gender").examples:
        one, two = example.candidates
        assert genders[one] == genders[two]
        assert example.tokens.index(one) < example.tokens.index(two)
        assert example.tokens[example.position] in ("he", "she", "him", "his", "her")
        assert example.answer in example.candidates


def test_coreference_labels_are_the_reviews_own():
    reviews = course().sample(60, seed=9)
    antecedents = {tuple(each.tokens): each.antecedents for each in reviews}
    for example in coreference(course(), 20, reviews=reviews).examples:
        assert antecedents[example.tokens][example.position] == example.answer


def test_tags_are_the_reviews_own_and_from_both_sides_certain():
    reviews = course().sample(12, seed=4)
    task = tagging(course(), 10, reviews=reviews)
    tags = {tuple(each.tokens): tuple(each.parts_of_speech) for each in reviews}
    for example in task.examples:
        assert example.tags == tags[example.tokens]
        assert example.label == tuple(example.tags[place] for place in example.positions)
    answers = [[task.labels[i] for i in rows.argmax(1)] for rows in task.posteriors]
    assert task.score(answers) > 0.98


def test_the_right_context_is_worth_something():
    words = [
        word
        for word in ("her", "novel", "light", "left", "that", "second")
        if word in course().network.ids
    ]
    left, both = (tagging(course(), 30, 1, context, words) for context in ("left", "both"))
    assert left.examples == both.examples
    assert left.best.score < both.best.score - 0.03


def test_tagging_everything_counts_every_token():
    task = tagging(course(), 3, words="all")
    assert [len(each.label) for each in task.examples] == [
        len(each.tokens) for each in task.examples
    ]
    assert task.best.score > 0.98


def test_sentiment_shows_no_stars():
    for example in sentiment(course(), 80).examples:
        assert not any(star in example.tokens[-12:] for star in ("star", "stars"))


def test_sentiment_labels_are_the_ratings():
    reviews = course().sample(150, seed=21)
    ratings = {tuple(each.tokens): each.rating for each in reviews}
    for example in sentiment(course(), 10, reviews=reviews).examples:
        whole = next(
            tokens for tokens in ratings if tokens[: len(example.tokens)] == example.tokens
        )
        assert str(ratings[whole]) == example.label
        assert whole == example.tokens or course().log_prob((*example.tokens, END)) > -np.inf


def test_stars_are_learnable_and_not_certain():
    assert 0.45 < sentiment(course(), 60).best.score < 0.95


def test_spoilers_are_events_of_the_end():
    reviews = course().sample(60, seed=2)
    marked = {
        tuple(each.tokens[s.start : s.end]): s.spoiler for each in reviews for s in each.sentences
    }
    for example in spoilers(course(), 20, reviews=reviews).examples:
        assert marked[example.tokens] == (example.label == "spoiler")
    assert spoilers(course(), 60).best.score > 0.97
