"""The n-gram table: its probabilities are probabilities, and the smoothing is the formula's."""

from fractions import Fraction

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.ngram import NGramModel


def by_definition(text, token, before, size):
    """Witten–Bell straight from the recursion, in exact fractions, counting anew each time."""
    if before is None:
        return Fraction(1, size)
    n = len(before)
    followers = [text[i] for i in range(n, len(text)) if list(text[i - n : i]) == list(before)]
    shorter = by_definition(text, token, before[1:] if n else None, size)
    if not followers:
        return shorter
    kinds = len(set(followers))
    return (followers.count(token) + kinds * shorter) / Fraction(len(followers) + kinds)


@pytest.mark.parametrize("context", range(4))
def test_equals_the_formula_and_sums_to_one(context):
    text = torch.randint(5, (60,), generator=torch.Generator().manual_seed(context)).tolist()
    model = NGramModel(text, context, vocabulary_size=6)  # token 5 never occurs
    for before in ([], [0], [4, 1], [3, 3, 3], [5, 2, 0, 1], [1, 5]):
        p = [model.probability(token, before) for token in range(6)]
        used = before[max(0, len(before) - context) :]
        wanted = [float(by_definition(text, token, used, 6)) for token in range(6)]
        assert p == pytest.approx(wanted, abs=1e-12)
        assert sum(p) == pytest.approx(1) and min(p) > 0


def test_probabilities_are_those_of_each_token_after_the_first():
    model = NGramModel([0, 1, 0, 1, 2, 0, 1], context=2, vocabulary_size=3)
    text = [0, 1, 2, 2]
    wanted = [model.probability(text[i], text[:i]) for i in (1, 2, 3)]
    assert model.probabilities(text).tolist() == pytest.approx(wanted)


def test_entries_and_seen_contexts():
    model = NGramModel([0, 1, 0, 1, 2], context=1, vocabulary_size=3)
    assert model.entries == 3 + 3  # three tokens; 0→1, 1→0, 1→2
    assert model.seen([0, 1, 2, 0]) == pytest.approx(2 / 3)  # 2 never stands before another token


def test_a_text_that_is_too_short_is_refused():
    with pytest.raises(CourseError, match="longer text"):
        NGramModel([0, 1], context=2, vocabulary_size=2)
