"""What cannot be answered is told with its cause and what to do."""

import pytest

from lmcourse.corpus.bookworld import END
from lmcourse.errors import CourseError
from tests.corpus.bookworld.grammars import SMALL, world_of
from tests.corpus.bookworld.posteriors import (
    genre_posterior,
)

WORLD = world_of(SMALL)
TEXT = ["i", "read", "the", "glass", "door", "by", "stone", "."]
WHOLE = [*TEXT, END]

CASES = {
    "unknown token": (lambda: WORLD.log_prob(["a", "Door"]), "'Door' at position 1", "lower-case"),
    "unknown token, masked": (lambda: WORLD.masked_posterior(["dor", "."], [1]), "'dor'", "lower"),
    "no passage": (lambda: WORLD.log_expected([]), "has no tokens", "tokens of a sentence"),
    "a text in one piece": (lambda: WORLD.log_prob("i read"), "whole text", "review.tokens"),
    "a review": (lambda: WORLD.log_prob(WORLD.sample(1)[0]), "whole text", "review.tokens"),
    "a number": (lambda: WORLD.log_prob(["i", 3]), "token 3 at position 1", "lower-case"),
    "beyond the text": (lambda: WORLD.masked_posterior(TEXT, [8]), "position 8", "0 to 7"),
    "before the text": (lambda: WORLD.masked_posterior(TEXT, [-1]), "position -1", "0 to 7"),
    "of an empty text": (lambda: WORLD.masked_posterior([], [0]), "text of 0 tokens", "tokens"),
    "half a position": (lambda: WORLD.masked_posterior(TEXT, [1.5]), "position 1.5", "0 to 7"),
    "who beyond": (lambda: WORLD.antecedent_posterior(TEXT, 8), "position 8", "0 to 7"),
    "no character": (lambda: WORLD.antecedent_posterior(TEXT, 4), "'door' at position 4", "he"),
    "impossible": (
        lambda: WORLD.next_token(["i", "read", "the", "slow", "door"]),
        "'door' at position 4 after 'i read the slow'",
        "log_prob",
    ),
    "impossible, masked": (
        lambda: WORLD.masked_posterior(["i", "read", "star", "."], [3]),
        "'star' at position 2 after 'i read'",
        "log_prob",
    ),
    "after the end": (lambda: WORLD.next_token(WHOLE), "has ended", "<end>"),
    "hidden after the end": (
        lambda: WORLD.masked_posterior([*WHOLE, "star"], [9]),
        "at position 9",
        "log_prob",
    ),
    "impossible beside hidden": (
        lambda: WORLD.masked_posterior(["i", "read", "zzz", "star", "."], [2]),
        "'star' at position 3 after 'i read [masked]'",
        "log_prob",
    ),
    "unknown split": (lambda: WORLD.split("dev"), "no split 'dev'", "train, validation, test"),
    "floor of nothing": (lambda: WORLD.floor([]), "no review to measure", "one review or more"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_told_with_cause_and_remedy(case):
    call, cause, remedy = CASES[case]
    with pytest.raises(CourseError) as caught:
        call()
    assert cause in caught.value.cause and remedy in caught.value.remedy
    assert caught.value.cause.endswith(".") and caught.value.remedy.endswith(".")


def test_the_edges_of_what_can_be_asked():
    assert WORLD.masked_posterior(TEXT, []).shape == (0, len(WORLD.vocabulary))
    assert WORLD.next_token([]).sum() == pytest.approx(1)
    assert WORLD.next_tokens([]).shape == (1, len(WORLD.vocabulary))
    assert WORLD.log_probs([]).shape == (0,)
    assert WORLD.rating_posterior([]) == pytest.approx([0.2, 0.3, 0.5])
    assert genre_posterior(WORLD, []) == pytest.approx({"mystery": 0.5, "romance": 0.5})
    # What stands at a hidden position is not looked at, not even whether it is a word.
    hidden = ["i", "???", *TEXT[2:]]
    assert (WORLD.masked_posterior(hidden, [1]) == WORLD.masked_posterior(TEXT, [1])).all()
    # A hidden token after which nothing is known is the next token; it may be the end.
    assert WORLD.masked_posterior(WHOLE, [8])[0] == pytest.approx(WORLD.next_token(TEXT))
    assert 0.05 < WORLD.next_token(TEXT)[WORLD.vocabulary.index(END)] < 0.9
