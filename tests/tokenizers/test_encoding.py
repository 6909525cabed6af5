"""Encodings, and the look-ups between characters, words and tokens, against the library."""

import operator
import random
from contextlib import suppress
from dataclasses import FrozenInstanceError
from functools import reduce
from typing import Any

import pytest

from lmcourse.errors import CourseError
from lmcourse.tokenizers.encoding import Encoding
from tests.tokenizers.random_tokenizer import both, random_tokenizer, text_with_tokens

LOOK_UPS = ("token_to_chars", "token_to_word", "token_to_sequence")
IN_A_TEXT = ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")


def look_ups(encoding: Any) -> dict[str, Any]:
    """All that can be asked, also for what is not there."""
    tokens = {name: [getattr(encoding, name)(i) for i in range(40)] for name in LOOK_UPS}
    texts = {
        (name, text): [getattr(encoding, name)(i, text) for i in range(40)]
        for name in IN_A_TEXT
        for text in range(3)
    }
    return {**tokens, **texts, "length": len(encoding)}


def test_look_ups_equal_the_library() -> None:
    """With padding, overflow, pairs, and words that have no tokens."""
    rng = random.Random(5)
    compared = 0
    for _ in range(60):
        ours, library = both(random_tokenizer(rng))
        for _ in range(4):
            texts = [text_with_tokens(rng) for _ in range(rng.randrange(1, 3))]
            try:
                mine = ours.encode(*texts)
            except CourseError:
                continue  # cannot be truncated so: see test_tokenizer
            theirs = library.encode(*texts)
            parts = zip([mine, *mine.overflowing], [theirs, *theirs.overflowing], strict=True)
            for one, other in parts:
                assert look_ups(one) == look_ups(other)
                compared += 1
    assert compared > 200


def test_pair_by_hand() -> None:
    """``low newest`` and ``est``, with special tokens around them."""
    first = Encoding(
        [5, 6, 7], [0] * 3, ["low", "new", "est"], [0, 1, 1], [(0, 3), (4, 7), (7, 10)]
    )
    second = Encoding([7], [1], ["est"], [0], [(0, 3)])
    special = Encoding.special([("[SEP]", 2)])
    pair = Encoding.merge(
        [special, first.with_sequence(0), special, second.with_sequence(1), special]
    )
    assert pair.ids == [2, 5, 6, 7, 2, 7, 2]
    assert pair.sequence_ids == [None, 0, 0, 0, None, 1, None]
    assert pair.n_sequences == 2
    assert pair.word_to_tokens(1) == (2, 4)
    assert pair.word_to_chars(1) == (4, 10)
    assert pair.char_to_token(8) == 3
    assert pair.char_to_token(3) is None  # the space
    assert pair.char_to_token(2, sequence_index=1) == 5
    assert pair.char_to_word(2, sequence_index=1) == 0
    assert pair.token_to_chars(0) is None
    assert pair.token_to_sequence(5) == 1
    assert pair.token_to_word(3) == 1


def test_sum_combines_what_overflows() -> None:
    """Every part of one text stands beside every part of the other."""

    def text(*parts: int) -> Encoding:
        columns = ([parts[0]], [0], ["t"], [0], [(0, 1)], [0], [1])
        return Encoding(*columns, overflowing=[text(part) for part in parts[1:]])

    total = text(1, 2) + text(10, 20, 30)
    parts = [total, *total.overflowing]
    assert [part.ids for part in parts] == [[1, 10], [2, 10], [2, 20], [2, 30], [1, 20], [1, 30]]


def test_merge_is_the_sum() -> None:
    """Also where texts, special tokens and parts that overflow follow each other."""
    rng = random.Random(8)
    merged = []
    for _ in range(100):
        ours, _ = both(random_tokenizer(rng) | {"post_processor": None, "padding": None})
        parts = [Encoding.special([("[SEP]", 2)], rng.randrange(2))]
        for sequence in range(rng.randrange(4)):
            with suppress(CourseError):
                text = ours.encode(text_with_tokens(rng))
                parts.append(text.with_sequence(sequence % 2) if rng.random() < 0.7 else text)
        merged.append(Encoding.merge(parts))
        assert merged[-1] == reduce(operator.add, parts, Encoding())
        assert Encoding.merge(iter(parts)) == merged[-1]
    overflow = sum(bool(one.overflowing) for one in merged)
    assert 5 < overflow < len(merged) - 20


def test_frozen() -> None:
    """Processors and padding make new encodings; they never change one."""
    with pytest.raises(FrozenInstanceError):
        Encoding().ids = [1]  # type: ignore[misc]
    text = Encoding([1], [0], ["a"], [0], [(0, 1)], [0], [1])
    text.with_type(3).with_sequence(1)
    assert text == Encoding([1], [0], ["a"], [0], [(0, 1)], [0], [1])
