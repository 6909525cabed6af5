"""Tokens to ids and back."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.tokenizers import Vocabulary


def test_ids_follow_frequency_then_the_alphabet():
    vocabulary = Vocabulary.of("banana bandana")
    assert vocabulary.tokens == ["<unk>", "a", "n", "b", " ", "d"]
    assert len(vocabulary) == 6 and "a" in vocabulary and "z" not in vocabulary


def test_a_known_text_comes_back():
    text = ["the", "cat", "sat", "on", "the", "mat"]
    vocabulary = Vocabulary.of(text)
    ids = vocabulary.encode(text)
    assert ids.dtype == torch.long and vocabulary.decode(ids) == text
    assert vocabulary.decode(ids.tolist()) == text


@pytest.mark.bad_input
@pytest.mark.parametrize("ids", [[-1], [0, 5]])
def test_ids_that_are_none_are_refused(ids):
    with pytest.raises(
        CourseError, match=f"The id {ids[-1]} is not in the vocabulary, which has 3"
    ):
        Vocabulary.of("ab").decode(ids)


def test_rare_and_new_tokens_become_unknown():
    vocabulary = Vocabulary.of("aaab", minimum_count=2)
    assert vocabulary.encode("abz").tolist() == [1, 0, 0]
    assert vocabulary.decode([0]) == ["<unk>"]


def test_without_an_unknown_token_a_new_one_is_an_error():
    vocabulary = Vocabulary.of("ab", unknown=None)
    assert vocabulary.encode("ba").tolist() == [1, 0]
    with pytest.raises(CourseError, match="'z' is not in the vocabulary"):
        vocabulary.encode("az")


@pytest.mark.parametrize(
    ("tokens", "unknown", "words"),
    [(["a", "b", "a"], None, "'a' more than once"), (["a"], "<unk>", "'<unk>' is not in")],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(tokens, unknown, words):
    with pytest.raises(CourseError, match=words):
        Vocabulary(tokens, unknown)
