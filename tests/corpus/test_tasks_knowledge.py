"""Analogies from counts, and the knowledge graph."""

from collections import Counter

import numpy as np
import pytest

from lmcourse.corpus.bookworld import Fact
from lmcourse.corpus.tasks import (
    analogies,
    best_without_graph,
    counts,
    graph,
    knowledge_questions,
    pairs_by_relation,
    stated,
)

from .task_worlds import course, small

NEVER = {"born_in", "won", "influenced_by"}


def test_analogies_are_of_known_words_and_have_one_answer():
    found = analogies(course())
    assert {each.relation for each in found} >= {
        "capital:country",
        "male:female",
        "singular:plural",
    }
    answers = {}
    for each in found:
        course().encode(each[:4])
        assert len(set(each[:4])) == 4
        assert answers.setdefault((each.relation, each.a, each.b, each.c), each.d) == each.d
    assert ("rome", "italy") in pairs_by_relation(course())["capital:country"]
    assert all(many != one for one, many in pairs_by_relation(course())["singular:plural"])


def test_counts_are_those_of_a_slow_loop():
    reviews, window = small().sample(40, seed=1), 3
    found = counts(small(), reviews, window).toarray()
    slow = np.zeros_like(found)
    for review in reviews:
        for i, one in enumerate(review.ids[:-1]):
            for j, other in enumerate(review.ids[:-1]):
                slow[one, other] += 0 < abs(i - j) <= window
    assert (found == slow).all() and found.sum() > 100
    assert counts(small(), [], 2).nnz == 0


def test_designed_analogies_are_solved_by_counting():
    """PPMI of counts in a window, and vector offsets: far above a guess among all words."""
    world = course()
    table = counts(world, world.sample(2000, seed=1), window=8).toarray()
    share = table.sum(1, keepdims=True) / table.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        vectors = np.maximum(np.nan_to_num(np.log(table / table.sum() / share / share.T)), 0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    right = []
    for each in analogies(world):
        if each.relation == "capital:country":
            a, b, c, d = world.encode(each[:4])
            scores = vectors @ (vectors[b] - vectors[a] + vectors[c])
            scores[[a, b, c]] = -np.inf
            right.append(scores.argmax() == d)
    assert np.mean(right) > 0.5


def test_what_reviews_state_is_in_the_graph_and_in_stated():
    facts = {fact for review in course().sample(400, seed=3) for fact in review.facts}
    assert len(facts) > 100
    assert facts <= set(stated(course())) <= set(graph(course()))


def test_the_graph_of_the_small_grammar():
    assert Fact("rome", "capital_of", "italy") in graph(small())
    assert Fact("stone", "wrote", "the glass door") in graph(small())
    assert {fact.relation for fact in graph(small())} == {
        "wrote",
        "lives_in",
        "part_of",
        "capital_of",
    }


def test_three_relations_are_never_stated():
    relations = {fact.relation for fact in graph(course())}
    assert relations >= NEVER
    assert {fact.relation for fact in stated(course())} == relations - NEVER
    assert len(set(graph(course()))) == len(graph(course()))


def test_questions_are_answered_by_the_graph_and_not_by_the_text():
    facts = set(graph(course()))
    task = knowledge_questions(course(), 90, 1)
    assert Counter(each.relation for each in task.examples) == dict.fromkeys(NEVER, 30)
    for each in task.examples:
        assert Fact(each.subject, each.relation, each.label) in facts
        assert each.subject in each.tokens
        assert each.label not in each.tokens or each.relation == "born_in"
    assert task.best.score == 1


def test_train_and_test_ask_about_different_authors():
    train, test = (
        knowledge_questions(course(), 300, 1, authors=name) for name in ("train", "test")
    )
    one, other = ({each.subject for each in task.examples} for task in (train, test))
    assert not one & other and len(one | other) > 30


def test_without_the_graph_the_most_frequent_answer_is_best():
    """The score is the mean over the questions of the commonest answer's share in the genre."""
    task = knowledge_questions(course(), 300, 1)
    without = best_without_graph(course(), task)
    rows = {row["last"]: row for row in course().grammar.tables["books"].rows}
    columns = {"born_in": "born", "won": "prize", "influenced_by": "influence"}
    shares = []
    for each in task.examples:
        column = columns[each.relation]
        answers = [row[column] for row in rows.values() if row["genre"] == each.genre]
        shares.append(max(answers.count(answer) for answer in answers) / len(answers))
    assert without.score == pytest.approx(np.mean(shares))
    assert without.score < 0.5
