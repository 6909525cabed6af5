"""Kneser–Ney: equal to its definition in exact fractions, and a distribution over the words."""

from fractions import Fraction

import pytest
import torch

from lmcourse.errors import CourseError
from research.brown.kneser_ney import KneserNey

SIZE = 6  # word 5 never occurs


def occurrences(text, gram):
    n = len(gram)
    return sum(text[i : i + n] == list(gram) for i in range(len(text) - n + 1))


def by_definition(text, word, before, longest, discounts):
    """The recursion, counting anew each time.

    Args:
        discounts: for each length of a context, what counts of 1, 2 and 3 or more give up.
    """

    def count(h, w):
        gram = [*h, w]
        if len(h) == longest:
            return occurrences(text, gram)
        return sum(occurrences(text, [v, *gram]) > 0 for v in range(SIZE))

    def p(h, w):
        shorter = p(h[1:], w) if h else Fraction(1, SIZE)
        counts = [count(h, v) for v in range(SIZE)]
        if not sum(counts):
            return shorter
        lost = [discounts[len(h)][min(c, 3) - 1] if c else Fraction(0) for c in counts]
        return (counts[w] - lost[w] + sum(lost) * shorter) / Fraction(sum(counts))

    return p(list(before)[max(0, len(before) - longest) :], word)


def modified(text, length, longest):
    """Chen and Goodman's discounts, from a list of all counts."""
    grams = {tuple(text[i : i + length + 1]) for i in range(len(text) - length)}
    if length == longest:
        counts = [occurrences(text, gram) for gram in grams]
    else:
        left = [sum(occurrences(text, (v, *g)) > 0 for v in range(SIZE)) for g in grams]
        counts = [count for count in left if count]
    n1, n2, n3, n4 = (counts.count(c) for c in (1, 2, 3, 4))
    if not n1 * n2 * n3 * n4:
        return (Fraction(1, 2),) * 3
    y = Fraction(n1, n1 + 2 * n2)
    raw = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return tuple(min(max(d, Fraction(0)), Fraction(c)) for c, d in enumerate(raw, start=1))


def drawn(seed, length=120):
    skewed = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05])
    generator = torch.Generator().manual_seed(seed)
    return torch.multinomial(skewed, length, replacement=True, generator=generator).tolist()


@pytest.mark.parametrize("discount", [None, 0.75])
@pytest.mark.parametrize("context", range(4))
def test_equals_the_definition_and_sums_to_one(context, discount):
    text = drawn(context)
    model = KneserNey(text, context, SIZE, discount)
    wanted = [
        (Fraction(3, 4),) * 3 if discount else modified(text, length, context)
        for length in range(context + 1)
    ]
    for before in ([], [0], [4, 1], [3, 3, 3], [5, 2, 0, 1], [1, 5], [0, 0, 1, 0]):
        p = [model.probability(word, before) for word in range(SIZE)]
        exact = [by_definition(text, word, before, context, wanted) for word in range(SIZE)]
        assert p == pytest.approx([float(one) for one in exact], abs=1e-12)
        assert sum(exact) == 1 and min(p) > 0


def test_the_modified_discounts_were_estimated():
    estimated = [modified(drawn(1, 400), length, 2) for length in range(3)]
    model = KneserNey(drawn(1, 400), 2, SIZE)
    for mine, exact in zip(model.discounts, estimated, strict=True):
        assert mine == pytest.approx([float(d) for d in exact])
    assert len({round(d, 3) for d in model.discounts[2]}) == 3  # not the 1/2 of a small text


def test_a_word_that_follows_one_other_is_improbable_elsewhere():
    text = [0, 1] * 20 + [0, 2, 3, 2, 4, 2, 0, 3]  # 1 is frequent, but only after 0
    model = KneserNey(text, 1, SIZE, 0.75)
    assert text.count(1) > 5 * text.count(2)
    assert model.probability(1, [5]) < model.probability(2, [5])


def test_another_discount_is_that_of_a_new_model():
    text = drawn(3)
    model = KneserNey(text, 2, SIZE)
    model.discount(0.6)
    new = KneserNey(text, 2, SIZE, 0.6)
    assert torch.equal(model.probabilities(text), new.probabilities(text))
    assert model.entries == new.entries


def test_probabilities_are_those_of_each_word_after_the_first():
    model = KneserNey([0, 1, 0, 1, 2, 0, 1], context=2, vocabulary_size=3)
    text = [0, 1, 2, 2]
    wanted = [model.probability(text[i], text[:i]) for i in (1, 2, 3)]
    assert model.probabilities(text).tolist() == pytest.approx(wanted)


def test_wrong_arguments_are_refused():
    with pytest.raises(CourseError, match="longer text"):
        KneserNey([0, 1], context=2, vocabulary_size=2)
    with pytest.raises(CourseError, match="is no discount"):
        KneserNey([0, 1], context=0, vocabulary_size=2, discount=1.5)
