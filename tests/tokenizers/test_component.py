"""Parts that are built by hand: what does not fit is said at once, what is meant is taken."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders
from lmcourse.tokenizers.component import Id, checked
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.text import normalizers
from lmcourse.tokenizers.text.normalizers import NFC, Normalizer
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.text.pre_tokenizers import Metaspace, Punctuation, Split

BAD: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (Split, (Pattern("-"), "sometimes"), "behavior of Split cannot be 'sometimes'"),
    (Split, (b"-", "removed"), "pattern of Split cannot be b'-'"),
    (Punctuation, (None,), "behavior of Punctuation cannot be None"),
    (Metaspace, ("_", "sometimes"), "prepend_scheme of Metaspace cannot be 'sometimes'"),
    (decoders.Metaspace, ("_", "sometimes"), "of Metaspace cannot be 'sometimes'"),
    (decoders.Strip, (" ", -1), "start of Strip cannot be -1"),
    (Pattern, (5,), "string of Pattern cannot be 5"),
    (normalizers.Replace, ("a", 5), "content of Replace cannot be 5"),
    (normalizers.Sequence, ([NFC],), "normalizers of Sequence cannot be [<class"),
    (normalizers.Sequence, (NFC(),), "normalizers of Sequence cannot be NFC()"),
    (normalizers.Sequence, ([Punctuation()],), "cannot be [Punctuation("),
    (partial(BPE, vocab=["a"]), (), "vocab of BPE cannot be ['a']"),  # type: ignore[arg-type]
    (partial(BPE, vocab={"b": 1, "a": "0"}), (), "vocab of BPE cannot be {'a': '0'}"),  # type: ignore[dict-item]
    (partial(BPE, vocab={"a": True}), (), "vocab of BPE cannot be {'a': True}"),
    (partial(BPE, merges=("a b",)), (), "merges of BPE cannot be ('a b',)"),  # type: ignore[arg-type]
    (BPE, ("x",), "dropout of BPE cannot be 'x'"),
    (Unigram, (0, {"a": -1.0}), "vocab of Unigram cannot be {'a': -1.0}"),
    (WordPiece, ("[UNK]", "##", 100, ["a"]), "vocab of WordPiece cannot be ['a']"),
    (WordPiece, ("[UNK]", "##", -1), "max_input_chars_per_word of WordPiece cannot be -1"),
    (WordLevel, (["a"],), "vocab of WordLevel cannot be ['a']"),
    (WordLevel, ({"a": 2**32},), "gives 'a' the id 4294967296"),
    (checked, ("NFC", Normalizer | None, "normalizer"), "normalizer cannot be 'NFC'"),
    (checked, (-1, Id, "id"), "id cannot be -1"),
]


@pytest.mark.parametrize("place", range(len(BAD)))
def test_what_does_not_fit_is_named(place: int) -> None:
    """The field and the value in the cause, what fits in the remedy."""
    made, given, cause = BAD[place]
    with pytest.raises(CourseError) as error:
        made(*given)
    assert cause in error.value.cause
    assert error.value.remedy.endswith(".")


def test_the_remedy_says_what_fits() -> None:
    """In words, not in the terms of annotations."""
    with pytest.raises(CourseError) as error:
        Punctuation("no")  # type: ignore[arg-type]
    assert error.value.remedy.startswith("Give one of these: 'Removed', 'Isolated', ")
    with pytest.raises(CourseError) as error:
        BPE(merges=5)  # type: ignore[arg-type]
    assert error.value.remedy == "Give a tuple of entries, each a tuple (a string, a string)."
    with pytest.raises(CourseError) as error:
        checked(NFC, Normalizer | None, "normalizer")
    assert error.value.remedy == "Make one of it, with brackets: NFC()."
    with pytest.raises(CourseError) as error:
        checked(math.pi, Id, "id")
    assert error.value.remedy == "Give a whole number from 0 on, below 2 ** 32."
    with pytest.raises(CourseError) as error:
        checked([], dict[str, bool | None], "map")
    assert error.value.remedy == "Give a dict from a string to True or False or None."


def test_what_is_meant_is_taken() -> None:
    """A string as a pattern, the library's names of behaviors, a list for a tuple."""
    cut: Any = Split("-", "merged_with_previous")  # type: ignore[arg-type]
    assert cut == Split(Pattern("-"), "MergedWithPrevious")
    assert [piece for piece, _ in cut.pre_tokenize_str("a-b")] == ["a-", "b"]
    assert normalizers.Replace("a.", "b").normalize_str("a.a") == "ba"  # type: ignore[arg-type]
    parts: Any = [NFC()]
    assert normalizers.Sequence(parts).normalizers == (NFC(),)
    merges: Any = [["a", "b"]]
    assert BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=merges).merges == (("a", "b"),)


def test_a_part_keeps_its_own_vocabulary() -> None:
    """A change to the dictionary that it was made of does not reach it."""
    vocab = {"a": 0}
    model = WordLevel(vocab)
    vocab["b"] = 1
    assert model.vocab == {"a": 0}
