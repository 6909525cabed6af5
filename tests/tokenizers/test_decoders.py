"""Decoders, one by one, against the library's on random tokens."""

import json
import random
from typing import Any

import msgspec
import pytest
from tokenizers import Tokenizer, models

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders
from lmcourse.tokenizers.text.byte_characters import BYTE_TO_CHARACTER
from tests.tokenizers.random_text import random_text

PIECES = ("##a", "▁", "▁▁b", "</w>", "a</w>", "<0xE2>", "<0x82>", "<0xac>", "<0xFF>", "<0x4>", " ",
          "  a ", "'s", " ' ", "n't", ".", "do not", "Ġa", "Ċ", "é", "€", "\n", "")  # fmt: skip
DECODERS: tuple[dict[str, Any], ...] = (
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "", "cleanup": False},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
    {"type": "Metaspace", "replacement": "a", "prepend_scheme": "never", "split": True},
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    {"type": "Strip", "content": "a", "start": 2, "stop": 0},
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": "a+|\\s"}, "content": "<>"},
)


def ours(decoder: dict[str, Any]) -> decoders.Decoder:
    """The decoder of this JSON."""
    return msgspec.convert(decoder, decoders.Decoder)  # type: ignore[call-overload, no-any-return]


def theirs(decoder: dict[str, Any]) -> Any:
    """The library's decoder of this JSON."""
    value = json.loads(Tokenizer(models.BPE()).to_str())
    return Tokenizer.from_str(json.dumps(value | {"decoder": decoder})).decoder


def random_tokens(rng: random.Random) -> list[str]:
    """At least one token: the library's BPEDecoder cannot have none."""
    return [
        rng.choice(PIECES) if rng.random() < 0.8 else random_text(rng, 6)
        for _ in range(rng.randrange(1, 9))
    ]


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: str(decoder["type"]))
def test_equals_the_library(decoder: dict[str, Any]) -> None:
    """The same text of the same tokens."""
    mine, library, rng = ours(decoder), theirs(decoder), random.Random(7)
    for _ in range(1000):
        tokens = random_tokens(rng)
        assert mine.decode(tokens) == library.decode(tokens)


def test_sequences_equal_the_library() -> None:
    """Decoders one after the other, also within each other."""
    rng = random.Random(8)
    for _ in range(100):
        parts = rng.choices(DECODERS, k=rng.randrange(4))
        decoder = {
            "type": "Sequence",
            "decoders": [*parts, {"type": "Sequence", "decoders": parts}],
        }
        mine, library = ours(decoder), theirs(decoder)
        for _ in range(10):
            tokens = random_tokens(rng)
            assert mine.decode(tokens) == library.decode(tokens)


def test_bytes_that_are_no_utf8() -> None:
    """Cut and overlong sequences become as many U+FFFD as in the library."""
    rng = random.Random(9)
    library = theirs(DECODERS[0])
    starts = (0x41, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0x82, 0xED, 0xA0, 0xF0, 0x90, 0xF4, 0xFF)
    for _ in range(3000):
        tokens = ["".join(BYTE_TO_CHARACTER[byte] for byte in rng.choices(starts, k=4))]
        assert decoders.ByteLevel().decode(tokens) == library.decode(tokens)


def test_no_tokens() -> None:
    """Nothing stands for nothing."""
    for decoder in DECODERS:
        assert ours(decoder).decode([]) == ""


def test_strip_more_than_there_is() -> None:
    """Both ends may want the same character (the library panics)."""
    assert decoders.Strip("a", 2, 2).decode(["aaa", "ba", ""]) == "b"
    assert decoders.Strip("a", 1, 1).decode(["aaa"]) == "a"


def test_strip_takes_one_character() -> None:
    """Its content is a character."""
    with pytest.raises(CourseError, match="takes away one character, not 'ab'"):
        decoders.Strip("ab")
