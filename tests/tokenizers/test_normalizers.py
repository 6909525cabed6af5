"""Each normalizer gives what the library's gives, and every character keeps the same place."""

import base64
import random
import struct
from typing import Any

import msgspec
import pytest
from tokenizers import Regex
from tokenizers import normalizers as library

from data.unicode_tables import every_character
from lmcourse.errors import CourseError
from lmcourse.tokenizers.text import normalizers as ours
from lmcourse.tokenizers.text.normalized_string import NormalizedString
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.pattern import Pattern
from tests.tokenizers.library_splits import library_characters, our_characters
from tests.tokenizers.random_text import random_texts

TEXTS = random_texts(6, 10_000)
PAIRS: dict[str, tuple[Normalizer, Any]] = {
    "NFC": (ours.NFC(), library.NFC()),
    "NFD": (ours.NFD(), library.NFD()),
    "NFKC": (ours.NFKC(), library.NFKC()),
    "NFKD": (ours.NFKD(), library.NFKD()),
    "Lowercase": (ours.Lowercase(), library.Lowercase()),
    "StripAccents": (ours.StripAccents(), library.StripAccents()),
    "Strip": (ours.Strip(), library.Strip()),
    "Strip left": (ours.Strip(strip_right=False), library.Strip(right=False)),
    "Strip right": (ours.Strip(strip_left=False), library.Strip(left=False)),
    "Nmt": (ours.Nmt(), library.Nmt()),
    "ByteLevel": (ours.ByteLevel(), library.ByteLevel()),
    "Prepend": (ours.Prepend(), library.Prepend()),
    "Prepend several": (ours.Prepend("<é>"), library.Prepend("<é>")),
    "Replace string": (
        ours.Replace(Pattern(string=" "), "▁"),
        library.Replace(" ", "▁"),
    ),
    "Replace metacharacter": (
        ours.Replace(Pattern(string="."), ""),
        library.Replace(".", ""),
    ),
    "Replace expression": (
        ours.Replace(Pattern(regex=r"\s+|\p{N}"), "xy"),
        library.Replace(Regex(r"\s+|\p{N}"), "xy"),
    ),
    "Replace words": (
        ours.Replace(Pattern(regex=r"[\w']+(?=\W)"), "w"),
        library.Replace(Regex(r"[\w']+(?=\W)"), "w"),
    ),
    "BertNormalizer": (ours.BertNormalizer(), library.BertNormalizer()),
}
for clean in (True, False):
    for chinese in (True, False):
        for accents in (None, True, False):
            for lower in (True, False):
                options = (clean, chinese, accents, lower)
                PAIRS[f"BertNormalizer {options}"] = (
                    ours.BertNormalizer(*options),
                    library.BertNormalizer(*options),
                )
BERTS = [name for name in PAIRS if name.startswith("BertNormalizer ")]


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in BERTS])
def test_like_the_library_on_random_texts(name: str) -> None:
    our, their = PAIRS[name]
    for text in TEXTS:
        assert our_characters(text, our) == library_characters(text, their), ascii(text)


@pytest.mark.parametrize("name", BERTS)
def test_every_way_to_set_up_bert(name: str) -> None:
    our, their = PAIRS[name]
    for text in TEXTS[:1000]:
        assert our_characters(text, our) == library_characters(text, their), ascii(text)


@pytest.mark.parametrize("name", ["Nmt", "BertNormalizer"])
def test_like_the_library_on_every_character(name: str) -> None:
    our, their = PAIRS[name]
    everything = every_character()
    for start in range(0, len(everything), 0x8000):
        text = "".join(f"a{character}" for character in everything[start : start + 0x8000])
        assert our.normalize_str(text) == their.normalize_str(text)


def test_random_sequences_like_the_library() -> None:
    rng = random.Random(7)
    for text in random_texts(8, 10_000):
        names = rng.choices(list(PAIRS), k=rng.randrange(2, 5))
        our = ours.Sequence(tuple(PAIRS[name][0] for name in names))
        their = library.Sequence([PAIRS[name][1] for name in names])
        assert our_characters(text, our) == library_characters(text, their), (names, ascii(text))


@pytest.mark.parametrize("name", PAIRS)
def test_written_as_the_library_writes_it(name: str) -> None:
    our, their = PAIRS[name]
    written = msgspec.json.encode(our).decode()
    assert written == their.__getstate__().decode()
    assert msgspec.json.decode(written, type=Normalizer) == our


def test_a_sequence_of_sequences_is_read_back() -> None:
    inner = ours.Sequence((ours.NFD(), ours.Replace(Pattern(regex="a+"), "b")))
    sequence = ours.Sequence((inner, ours.Lowercase()))
    assert msgspec.json.decode(msgspec.json.encode(sequence), type=Normalizer) == sequence


def test_hangul_letters_alone_become_a_syllable() -> None:
    letters = "\u1112\u1161\u11ab"
    assert our_characters(letters, ours.NFC()) == [("한", (0, 1))]
    assert library_characters(letters, library.NFC()) == [("한", (0, 1))]


def test_empty_matches_are_replaced_as_in_the_library() -> None:
    for expression in ("b*", "|a", "", "x|", r"(?=b)", r"\b", "^|$", "a*?"):
        our, their = (
            ours.Replace(Pattern(regex=expression), "-"),
            library.Replace(Regex(expression), "-"),
        )
        for text in ("abbc", "", "é b", "bb\nb", "aab"):
            assert our_characters(text, our) == library_characters(text, their), expression


def test_a_character_put_before_the_first_stands_for_nothing() -> None:
    # The library says the same, but its next normalizer then fails.
    mark = ours.Replace(Pattern(regex="^"), "X")
    assert our_characters("ab", ours.Sequence((mark, ours.Lowercase()))) == [
        ("x", (0, 0)),
        ("a", (0, 1)),
        ("b", (1, 2)),
    ]


def test_prepending_nothing_changes_nothing() -> None:
    # In the library, the first character then loses its place.
    assert ours.Prepend("").normalize(NormalizedString.of("ab")) == NormalizedString.of("ab")


def darts(entries: dict[bytes, int]) -> list[int]:
    """A double-array trie in Darts-clone's layout, for a test's few texts.

    Each node's children get a block of 256 units of their own, so nothing ever collides.
    """
    units: dict[int, int] = {}

    def place(prefix: bytes, node: int, unit: int) -> None:
        nonlocal free
        children = {key[len(prefix)] for key in entries if key[: len(prefix)] == prefix != key}
        children |= {key[0] for key in entries} if not prefix else set()
        block, free = free, free + 256
        leaf = prefix in entries
        units[node] = unit | (block ^ node) << 10 | leaf << 8
        if leaf:
            units[block] = 1 << 31 | entries[prefix]
        for byte in children:
            place(prefix + bytes([byte]), block ^ byte, byte)

    free = 256
    place(b"", 0, 0)
    return [units.get(i, 0) for i in range(free)]


def charsmap(rules: dict[str, str]) -> str:
    """Rules as SentencePiece's file holds them."""
    strings, entries = b"", {}
    for old, new in rules.items():
        entries[old.encode()] = len(strings)
        strings += new.encode() + b"\0"
    units = darts(entries)
    block = struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + strings
    return base64.b64encode(block).decode()


RULES = {
    "ﬁ": "fi", "Ａ": "A", "e\u0301": "é", "\t": " ", "\u3000": " ", "…": "...", "\u200b": "",
    "½": "1⁄2", "\u0301": "", "㎏": "kg", "q": "kw", "\r\n": "", "カ\u3099": "ガ", " ": "▁",
}  # fmt: skip


def test_precompiled_rules_like_the_library() -> None:
    encoded = charsmap(RULES)
    our = ours.Precompiled(encoded)
    their = library.Precompiled(base64.b64decode(encoded))
    rng = random.Random(9)
    drawn = ["".join(rng.choices("".join(RULES) + "ae ", k=rng.randrange(12))) for _ in range(3000)]
    changed = 0
    for text in TEXTS[:3000] + drawn:
        assert our_characters(text, our) == library_characters(text, their), ascii(text)
        changed += our.normalize_str(text) != text
    assert changed > 3000
    assert our.normalize_str("ﬁne e\u0301\u200b!") == "fine▁é!"
    assert msgspec.json.encode(our) == their.__getstate__()


@pytest.mark.parametrize(
    "damaged", ["?", "AAA=", "AAAAAA==", "EAAAAAAA", charsmap({"a": "b"})[:40]]
)
def test_a_damaged_table_of_rules_is_named(damaged: str) -> None:
    with pytest.raises(CourseError, match="precompiled_charsmap of the normalizer is damaged"):
        ours.Precompiled(damaged)


@pytest.mark.parametrize("bad", [b"a", None, ["a"], "a\ud800"])
def test_what_is_no_text_is_named(bad: Any) -> None:
    with pytest.raises(CourseError, match=r"must be a string, not|lone surrogate, U\+D800"):
        ours.NFC().normalize_str(bad)
