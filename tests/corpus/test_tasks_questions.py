"""Extractive questions: the spans hold the answers."""

from collections import Counter

import pytest

from lmcourse.corpus.tasks import questions

from .task_worlds import course, small


def test_spans_hold_the_answer():
    for example in questions(course(), 150, 1).examples:
        assert example.spans
        found = {" ".join(example.tokens[start:end]) for start, end in example.spans}
        assert example.label in found
        assert all(example.accepts(*span) for span in example.spans)
        assert not example.accepts(0, 0) and not example.accepts(0, len(example.tokens))


def test_kinds_are_balanced_and_half_of_who_goes_through_a_pronoun():
    found = Counter(
        (each.kind, each.pronoun is None) for each in questions(course(), 100, 1).examples
    )
    assert Counter(kind for kind, _ in found.elements()) == dict.fromkeys(
        ("who", "where", "author", "home", "book"), 20
    )
    assert found["who", False] == found["who", True] == 10


def test_answers_are_the_reviews_own():
    reviews = {tuple(each.tokens): each for each in course().sample(300, seed=6)}
    for example in questions(course(), 50, 1, reviews=list(reviews.values())).examples:
        review = reviews[example.tokens]
        text = " ".join(example.tokens)
        if example.kind == "who":
            act = " ".join(example.question[1:])
            place = text.split(f" {act} ")[0].count(" ")
            subject = review.antecedents[place] or example.tokens[place]
            assert subject == example.label and text.count(f" {act} ") == 1
            assert example.pronoun == (None if example.tokens[place] == subject else place)
        elif example.kind == "where":
            assert f"{' '.join(example.question[4:])} {example.label}" in text
        else:
            right = {
                "author": review.author,
                "home": review.held_value("book.city"),
                "book": review.title,
            }
            assert example.label == right[example.kind]


def test_where_nobody_did_it_there_is_no_answer():
    task = questions(course(), 60, 2, unanswerable=0.5)
    without = [each for each in task.examples if each.label == "no answer"]
    assert 15 < len(without) < 45
    for example in without:
        assert " ".join(example.question[1:]) not in " ".join(example.tokens)
        assert example.accepts(0, 0) and not example.accepts(0, 1)


def test_best_score_is_the_chance_to_find_who_is_meant():
    """On the small grammar, where most pronouns are open, it is what the best guess reaches."""
    task = questions(small(), 600, 1)
    rows = task.posteriors
    assert sum(row.max() < 0.99 for row in rows) > 10
    asked = [i for i, each in enumerate(task.examples) if each.pronoun is not None]
    hits = 0.0
    for i in asked:
        example = task.examples[i]
        shares = small().antecedent_posterior((*example.tokens, "<end>"), example.pronoun)
        assert rows[i].max() == pytest.approx(max(shares.values()))
        hits += max(shares, key=shares.get) == example.label
    expected = sum(rows[i].max() for i in asked)
    spread = sum(rows[i].max() * (1 - rows[i].max()) for i in asked)
    assert abs(hits - expected) < 3.5 * spread**0.5
    assert task.best.exact and task.best.score < 1
    assert task.best.score == pytest.approx(sum(row.max() for row in rows) / len(rows))
