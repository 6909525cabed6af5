"""Added tokens: their ids, and where they are found."""

import random
from typing import Any

import pytest
import tokenizers

from lmcourse.errors import CourseError
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.text.normalizers import Lowercase, Strip
from lmcourse.tokenizers.text.pre_tokenizers import WhitespaceSplit
from lmcourse.tokenizers.tokenizer import Tokenizer

WORDS = ("[UNK]", "a", "b", "ab")
OPTIONS = ("single_word", "lstrip", "rstrip")


def small(**parts: Any) -> Tokenizer:
    """Words, and no token added yet."""
    model = WordLevel({word: id_ for id_, word in enumerate(WORDS)}, "[UNK]")
    return Tokenizer(model, pre_tokenizer=WhitespaceSplit(), **parts)


def library(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    """The library's, with the same calls to come."""
    return tokenizer.to_library()


def test_equal_to_the_library_in_tight_texts() -> None:
    """Few letters and white spaces, so that tokens touch, overlap and lie within words."""
    rng = random.Random(3)
    letters, compared = "aabbx  \n\u2003É", 0
    contents = ("a", "ab", "aba", "bx", "b b", "xa", "é", "a ", " b")
    for _ in range(250):
        ours = small(normalizer=rng.choice((None, Lowercase())))
        theirs = library(ours)
        for content in rng.sample(contents, k=rng.randrange(1, 4)):
            options = {name: rng.random() < 0.4 for name in (*OPTIONS, "normalized", "special")}
            ours.add_tokens([AddedToken(content, **options)])
            theirs.add_tokens([tokenizers.AddedToken(content, **options)])
        for _ in range(20):
            text = "".join(rng.choices(letters, k=rng.randrange(14)))
            try:
                expected = theirs.encode(text)
            except BaseException as error:  # two tokens claimed the same space: it panics
                assert "bad split" in str(error)
                continue
            found = ours.encode(text)
            assert (found.ids, found.tokens) == (expected.ids, expected.tokens)
            assert (found.offsets, found.word_ids) == (expected.offsets, expected.word_ids)
            compared += 1
    assert compared > 4000


def test_longest_and_leftmost() -> None:
    """``ab`` before ``a``; what starts first wins."""
    tokenizer = small()
    tokenizer.add_tokens(["xy", "xyz", "yzz"])
    assert tokenizer.encode("xyzz").tokens == ["xyz", "[UNK]"]


def test_ids_go_on_behind_the_model() -> None:
    """Known tokens keep their ids; a second time is no change."""
    for backend in (small(), library(small())):
        assert backend.add_tokens(["b", "x", "", "x", "y"]) == 3
        assert [backend.token_to_id(token) for token in ("b", "x", "y", "z")] == [2, 4, 5, None]
        assert backend.add_special_tokens(["x", "w"]) == 2
        assert backend.add_special_tokens(["x"]) == 0
        assert backend.get_vocab_size() == 7
        assert backend.get_vocab_size(with_added_tokens=False) == 4
        assert backend.get_vocab() == dict(zip([*WORDS, "x", "y", "w"], range(7), strict=True))
        assert [backend.id_to_token(id_) for id_ in (3, 6, 7)] == ["ab", "w", None]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("normalized", [None, False, True])
def test_normalized_unless_special(special: bool, normalized: bool | None) -> None:
    """The defaults are the library's, by either call."""
    arguments = {} if normalized is None else {"normalized": normalized}
    for call in ("add_tokens", "add_special_tokens"):
        ours = small()
        theirs = library(ours)
        getattr(ours, call)([AddedToken("x", special=special, **arguments), "y"])
        added = tokenizers.AddedToken("x", special=special, **arguments)
        getattr(theirs, call)([added, "y"])
        assert ours.to_str() == Tokenizer.from_library(theirs).to_str()


def test_normalized_form_is_what_decodes() -> None:
    """A token that is looked for in lower case comes back in lower case, also when set later."""
    for tokenizer in (small(), library(small())):
        tokenizer.add_tokens(["YES"])
        assert tokenizer.decode([4]) == "YES"
        assert tokenizer.encode("a yES YES").ids == [1, 0, 4]
        small_letters: Any = Lowercase() if isinstance(tokenizer, Tokenizer) else None
        tokenizer.normalizer = small_letters or tokenizers.normalizers.Lowercase()
        assert tokenizer.decode([4]) == "yes"
        assert tokenizer.encode("a yES b").ids == [1, 4, 2]
        assert tokenizer.token_to_id("yes") is None


def test_special_tokens_read_as_text() -> None:
    """``encode_special_tokens``: what a user types is no special token."""
    ours = small()
    ours.add_special_tokens(["ab", "<s>"])
    ours.add_tokens(["x"])
    theirs = library(ours)
    assert ours.encode("<s> ab x").ids == theirs.encode("<s> ab x").ids == [4, 3, 5]
    ours.encode_special_tokens = theirs.encode_special_tokens = True
    assert ours.encode("<s> ab x").ids == theirs.encode("<s> ab x").ids == [0, 3, 5]
    assert Tokenizer.from_library(theirs).encode_special_tokens
    assert ours.to_library().encode_special_tokens


def test_normalized_to_nothing() -> None:
    """It cannot be found (the library crashes on other texts than ASCII)."""
    tokenizer = small(normalizer=Strip())
    tokenizer.add_tokens(["  "])
    assert tokenizer.encode("ab é b").ids == [3, 0, 2]


def test_same_normalized_form() -> None:
    """The token that was added first is found (in the library, either)."""
    tokenizer = small(normalizer=Lowercase())
    tokenizer.add_tokens(["YES", "yes", "Yes"])
    assert tokenizer.encode("yes YES").ids == [4, 4]


def test_holes_in_the_vocabulary() -> None:
    """A new id must be free: the library would give two tokens the same."""
    tokenizer = Tokenizer(WordLevel({"a": 0, "b": 2, "[UNK]": 5}, "[UNK]"))
    assert tokenizer.add_tokens(["a", "x", "y"]) == 3  # 3 and 4 are free
    with pytest.raises(CourseError, match=r"'z' would get the id 5.*gives that id to '\[UNK\]'"):
        tokenizer.add_tokens(["z"])


def test_token_that_is_no_text() -> None:
    """Neither bytes nor half a surrogate pair can be added."""
    for bad in (b"a", "\ud800"):
        with pytest.raises(CourseError, match=r"must be a string|lone surrogate"):
            small().add_tokens([bad])  # type: ignore[list-item]
        with pytest.raises(CourseError, match=r"must be a string|lone surrogate"):
            small().add_tokens([AddedToken(bad)])  # type: ignore[arg-type]


@pytest.mark.parametrize("tokens", ["[X]", b"[X]", None, 5, {"[X]": 1}])
def test_tokens_that_are_no_list(tokens: Any) -> None:
    """A string would add its characters."""
    tokenizer = small()
    for add in (tokenizer.add_tokens, tokenizer.add_special_tokens):
        with pytest.raises(CourseError, match="Added tokens are a list of texts, not"):
            add(tokens)
    assert tokenizer.get_vocab_size() == len(WORDS)
