"""What all task builders promise: seeds, balance, words, errors."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from functools import partial
from random import Random

import pytest

from lmcourse.corpus import tasks
from lmcourse.corpus.bookworld import SPLITS
from lmcourse.corpus.tasks.drawing import Pool, in_turn, own_seed
from lmcourse.errors import CourseError

from .task_worlds import course, small

BUILDERS = {
    "next_sentence": tasks.next_sentence,
    "next_sentence same": partial(tasks.next_sentence, negatives="same"),
    "sentence_order": tasks.sentence_order,
    "entailment": tasks.entailment,
    "paraphrase": tasks.paraphrase,
    "acceptability": tasks.acceptability,
    "questions": tasks.questions,
    "tagging": tasks.tagging,
    "word_sense": tasks.word_sense,
    "sense_pairs": tasks.sense_pairs,
    "coreference": tasks.coreference,
    "sentiment": tasks.sentiment,
    "polarity": partial(tasks.sentiment, labels="polarity"),
    "spoilers": tasks.spoilers,
    "knowledge": tasks.knowledge_questions,
}
NATURAL = {"questions", "tagging", "coreference", "knowledge", "word_sense", "sense_pairs"}
OF_REVIEWS = set(BUILDERS) - {"entailment", "paraphrase"}


@pytest.mark.parametrize("name", BUILDERS)
def test_first_examples_do_not_depend_on_how_many(name):
    few, more = (BUILDERS[name](course(), n, 5).examples for n in (7, 24))
    assert few == more[:7]
    assert len(more) == 24


@pytest.mark.parametrize("name", BUILDERS)
def test_seeds_differ(name):
    assert BUILDERS[name](course(), 12, 5).examples != BUILDERS[name](course(), 12, 6).examples


@pytest.mark.parametrize("name", sorted(set(BUILDERS) - NATURAL))
def test_labels_are_balanced_to_one(name):
    task = BUILDERS[name](course(), 47, 2)
    found = Counter(example.label for example in task.examples)
    assert set(found) == set(task.labels)
    assert max(found.values()) - min(found.values()) <= 1


@pytest.mark.parametrize("name", BUILDERS)
def test_every_token_is_a_word_of_the_world(name):
    task = BUILDERS[name](course(), 30, 3)
    for example in task.examples:
        course().encode(example.tokens)
        course().encode(getattr(example, "question", ()))
        assert isinstance(example.label, tuple) or example.label in task.labels or not task.labels


@pytest.mark.parametrize("name", BUILDERS)
def test_no_example_is_a_task_too(name):
    assert BUILDERS[name](course(), 0).examples == ()


@pytest.mark.parametrize("name", sorted(OF_REVIEWS))
def test_given_reviews_are_used_and_may_be_too_few(name):
    reviews = course().sample(150, seed=77)
    task = BUILDERS[name](course(), 2, 1, reviews=reviews)
    texts = [" " + " ".join(review.tokens) + " " for review in reviews]
    kept = [e for e in task.examples if getattr(e, "error_position", None) is None]
    first = " ".join(getattr(kept[0], "first", kept[0].tokens))
    assert any(f" {first} " in text for text in texts)
    with pytest.raises(CourseError, match="too few"):
        BUILDERS[name](course(), 3000, 1, reviews=reviews)


@pytest.mark.parametrize(
    ("builder", "option"),
    [
        (tasks.next_sentence, {"negatives": "near"}),
        (tasks.tagging, {"words": "some"}),
    ],
)
def test_unknown_option_is_refused(builder, option):
    with pytest.raises(CourseError) as error:
        builder(course(), 3, **option)
    assert error.value.remedy


def digest() -> str:
    """Of some examples of every builder."""
    found = [repr(build(course(), 4, 9).examples) for build in BUILDERS.values()]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def test_same_examples_in_another_process():
    program = "from tests.corpus.test_tasks_common import digest; print(digest())"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    other = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == digest()


def test_a_task_shares_no_review_with_the_splits():
    splits = {seed for _, seed in SPLITS.values()}
    own = {own_seed(name, seed) for name in BUILDERS for seed in range(50)}
    assert len(own) == 50 * len(BUILDERS)
    assert min(own) > max(splits)


def test_a_pool_draws_from_the_seed_of_its_own():
    pool = Pool(course(), "spoilers", 4, lambda review, random: [(None, review)])
    assert pool.take(None).ids == course().sample(1, own_seed("spoilers", 4))[0].ids


def test_in_turn_gives_each_key_once_in_a_round():
    found = list(in_turn("abcd", 10, Random(0)))
    assert sorted(found[:4]) == sorted(found[4:8]) == list("abcd")
    assert len(set(found[8:])) == 2


def test_a_grammar_without_what_a_task_needs_is_named():
    text = ("!meeting !spoiler", "!meeting")
    with pytest.raises(CourseError, match="too few examples for spoilers"):
        tasks.spoilers(small(text), 3)


def test_score_counts_right_answers():
    task = tasks.spoilers(course(), 10)
    right = [example.label for example in task.examples]
    assert task.score(right) == 1
    assert task.score([*right[:8], "?", "?"]) == 0.8
    with pytest.raises(CourseError, match="9 were given"):
        task.score(right[:9])


def test_score_of_tagging_counts_tokens():
    task = tasks.tagging(course(), 4)
    right = [example.label for example in task.examples]
    total = sum(map(len, right))
    assert task.score([("?",) * len(right[0]), *right[1:]]) == pytest.approx(
        1 - len(right[0]) / total
    )


def test_a_task_without_posteriors_says_so():
    task = tasks.next_sentence(course(), 2, negatives="same")
    assert not task.best.exact
    with pytest.raises(CourseError, match="no exact posteriors"):
        _ = task.posteriors
