"""Each pre-tokenizer cuts where the library's does, and gives the same places in the text."""

import random
from typing import Any, get_args

import msgspec
import pytest
from tokenizers import Regex
from tokenizers import normalizers as library_normalizers
from tokenizers import pre_tokenizers as library

from lmcourse.errors import CourseError
from lmcourse.tokenizers.text import normalizers
from lmcourse.tokenizers.text import pre_tokenizers as ours
from lmcourse.tokenizers.text.byte_characters import BYTE_TO_CHARACTER, CHARACTER_TO_BYTE
from lmcourse.tokenizers.text.normalized_string import NormalizedString
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.text.pre_tokenizers import Behavior, PreTokenizer
from lmcourse.tokenizers.text.splitting import split
from lmcourse.tokenizers.text.unicode import characters
from tests.tokenizers.library_splits import Pieces, library_pieces
from tests.tokenizers.random_text import random_texts

TEXTS = random_texts(16, 10_000)
BEHAVIORS = {  # ours, as tokenizer.json has it, and the library's in Python
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
WORD = r"[\w']+"
PAIRS: dict[str, tuple[PreTokenizer, Any]] = {
    "Whitespace": (ours.Whitespace(), library.Whitespace()),
    "WhitespaceSplit": (ours.WhitespaceSplit(), library.WhitespaceSplit()),
    "BertPreTokenizer": (ours.BertPreTokenizer(), library.BertPreTokenizer()),
    "Digits": (ours.Digits(), library.Digits()),
    "Digits each": (ours.Digits(True), library.Digits(True)),
    "CharDelimiterSplit": (ours.CharDelimiterSplit("e"), library.CharDelimiterSplit("e")),
    "CharDelimiterSplit ▁": (ours.CharDelimiterSplit("▁"), library.CharDelimiterSplit("▁")),
}
for behavior, theirs in BEHAVIORS.items():
    PAIRS[f"Punctuation {behavior}"] = (ours.Punctuation(behavior), library.Punctuation(theirs))
    PAIRS[f"Split string {behavior}"] = (
        ours.Split(Pattern(string=" "), behavior),
        library.Split(" ", theirs),
    )
    for invert in (False, True):
        PAIRS[f"Split {behavior} {invert}"] = (
            ours.Split(Pattern(regex=WORD), behavior, invert),
            library.Split(Regex(WORD), theirs, invert),
        )
for prefix in (True, False):
    for cut in (True, False):
        PAIRS[f"ByteLevel {prefix} {cut}"] = (
            ours.ByteLevel(prefix, True, cut),
            library.ByteLevel(prefix, True, cut),
        )
    for scheme in ("always", "first", "never"):
        PAIRS[f"Metaspace {scheme} {prefix}"] = (
            ours.Metaspace("▁" if prefix else "_", scheme, prefix),
            library.Metaspace("▁" if prefix else "_", scheme, prefix),
        )
PAIRS["Metaspace _"] = (ours.Metaspace("_", "first"), library.Metaspace("_", "first"))


# One way to set up each component is tried on all texts, the other ways on some.
FIRST = [
    "Whitespace",
    "WhitespaceSplit",
    "BertPreTokenizer",
    "Digits",
    "CharDelimiterSplit",
    "Punctuation Isolated",
    "Split Isolated False",
    "ByteLevel True True",
    "Metaspace always True",
]


@pytest.mark.parametrize("name", PAIRS)
def test_like_the_library_on_random_texts(name: str) -> None:
    our, their = PAIRS[name]
    for text in TEXTS if name in FIRST else TEXTS[:2500]:
        assert our.pre_tokenize_str(text) == their.pre_tokenize_str(text), ascii(text)


EDGES = "".join(  # a character of each side of every border of every class
    f"a{chr(code)}1{chr(code)}!{chr(code)} "
    for name in ("white_space", "punctuation", "numeric", "letter", "number", "word")
    for start, end in characters(name).ranges
    for code in (start - 1, start, end, end + 1)
    if code >= 0 and not 0xD800 <= code < 0xE000
)


@pytest.mark.parametrize("name", PAIRS)
def test_like_the_library_on_the_borders_of_all_classes(name: str) -> None:
    our, their = PAIRS[name]
    assert our.pre_tokenize_str(EDGES) == their.pre_tokenize_str(EDGES)


def test_random_sequences_like_the_library() -> None:
    rng = random.Random(17)
    for text in random_texts(18, 10_000):
        names = rng.choices(list(PAIRS), k=rng.randrange(2, 5))
        our = ours.Sequence(tuple(PAIRS[name][0] for name in names))
        their = library.Sequence([PAIRS[name][1] for name in names])
        assert our.pre_tokenize_str(text) == their.pre_tokenize_str(text), (names, ascii(text))


NORMALIZERS = {
    "NFKD": (normalizers.NFKD(), library_normalizers.NFKD()),
    "BertNormalizer": (normalizers.BertNormalizer(), library_normalizers.BertNormalizer()),
    "Strip": (normalizers.Strip(), library_normalizers.Strip()),
    "Prepend": (normalizers.Prepend("▁"), library_normalizers.Prepend("▁")),
    "Nmt": (normalizers.Nmt(), library_normalizers.Nmt()),
}


def test_after_a_normalizer_like_the_library() -> None:
    """What was stripped from the ends still belongs to the text, as Metaspace's "first" shows."""
    rng = random.Random(19)
    for text in random_texts(20, 10_000):
        normalizer, name = rng.choice(list(NORMALIZERS)), rng.choice(list(PAIRS))
        normalized = NORMALIZERS[normalizer][0].normalize(NormalizedString.of(text))
        found: Pieces = [
            (piece.normalized, piece.span) for piece in PAIRS[name][0].pre_tokenize([normalized])
        ]
        their = library_pieces(text, NORMALIZERS[normalizer][1], PAIRS[name][1])
        assert found == their, (normalizer, name, ascii(text))


@pytest.mark.parametrize("name", PAIRS)
def test_written_as_the_library_writes_it(name: str) -> None:
    our, their = PAIRS[name]
    written = msgspec.json.encode(our).decode()
    assert written == their.__getstate__().decode()
    assert msgspec.json.decode(written, type=PreTokenizer) == our


def test_a_sequence_of_sequences_is_read_back() -> None:
    inner = ours.Sequence((ours.Digits(), ours.Split(Pattern(string="a"), "Removed")))
    sequence = ours.Sequence((inner, ours.ByteLevel()))
    assert msgspec.json.decode(msgspec.json.encode(sequence), type=PreTokenizer) == sequence


def test_the_five_behaviors() -> None:
    text = NormalizedString.of("the-final--countdown")
    expected = {
        "Removed": "the final countdown",
        "Isolated": "the - final - - countdown",
        "MergedWithPrevious": "the- final- - countdown",
        "MergedWithNext": "the -final - -countdown",
        "Contiguous": "the - final -- countdown",
    }
    assert set(expected) == set(get_args(Behavior))
    matches = Pattern(string="-").matches(text.normalized)
    for behavior in get_args(Behavior):
        parts = split(text, matches, behavior)
        assert " ".join(part.normalized for part in parts) == expected[behavior]


@pytest.mark.parametrize("expression", ["", "b*", r"\b", "(?=b)", "x|"])
def test_empty_matches_cut_but_make_no_empty_pieces(expression: str) -> None:
    for behavior, theirs in BEHAVIORS.items():
        for invert in (False, True):
            our = ours.Split(Pattern(regex=expression), behavior, invert)
            their = library.Split(Regex(expression), theirs, invert)
            for text in ("abbc", "", "é b", "bb\nb"):
                assert our.pre_tokenize_str(text) == their.pre_tokenize_str(text), our


def test_the_256_bytes_are_256_visible_characters() -> None:
    assert set(BYTE_TO_CHARACTER.values()) == set(library.ByteLevel.alphabet())
    assert {CHARACTER_TO_BYTE[c]: c for c in CHARACTER_TO_BYTE} == BYTE_TO_CHARACTER
    assert "".join(map(BYTE_TO_CHARACTER.get, "é \n".encode())) == "Ã©ĠĊ"
    assert all(char.isprintable() and char != " " for char in CHARACTER_TO_BYTE)


def test_ascii_texts_are_cut_as_the_same_words_among_others() -> None:
    """The short way for ASCII and the long way agree."""
    rng = random.Random(21)
    for _ in range(2000):
        text = "".join(chr(rng.randrange(128)) for _ in range(rng.randrange(40)))
        for name in ("Whitespace", "BertPreTokenizer", "Digits", "ByteLevel False True"):
            short = PAIRS[name][0].pre_tokenize_str(text + "\n")
            long = PAIRS[name][0].pre_tokenize_str(text + "\n\u3000")
            assert long[: len(short) - 1] == short[:-1], (name, ascii(text))


@pytest.mark.parametrize("bad", ["", "ab"])
def test_what_is_not_one_character_is_named(bad: str) -> None:
    with pytest.raises(CourseError, match=f"delimiter {bad!r} has {len(bad)} characters"):
        ours.CharDelimiterSplit(bad)
    with pytest.raises(CourseError, match=f"replacement {bad!r} has {len(bad)} characters"):
        ours.Metaspace(bad)


@pytest.mark.parametrize("bad", [b"a", None, "a\ud800"])
def test_what_is_no_text_is_named(bad: Any) -> None:
    with pytest.raises(CourseError, match=r"must be a string, not|lone surrogate, U\+D800"):
        ours.Whitespace().pre_tokenize_str(bad)
