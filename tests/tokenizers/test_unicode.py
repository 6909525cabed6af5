"""The tables are what the installed library answers, and the normal forms follow them."""

import sys
import unicodedata
from itertools import product

import pytest
from tokenizers import normalizers

from data import unicode_tables
from lmcourse.tokenizers.text import unicode
from lmcourse.tokenizers.text.unicode import characters, lowercase_forms, tables
from lmcourse.tokenizers.text.unicode_forms import composed, composition, decomposed, normalizable

PROPERTIES = [name for name in tables() if name not in ("library", "lowercase")]


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    return unicode_tables.ask(unicode_tables.every_character())


def test_the_file_is_small() -> None:
    assert unicode.TABLES.stat().st_size <= 40_000


@pytest.mark.parametrize("name", tables())
def test_the_library_still_answers_the_same(name: str, answers: dict[str, str]) -> None:
    assert answers[name] == tables()[name]


def test_there_is_a_table_for_each_probe() -> None:
    assert set(unicode_tables.probes()) == set(PROPERTIES)


def test_lowercase_of_every_character() -> None:
    everything = [c for c in unicode_tables.every_character() if c != "\n"]
    theirs = normalizers.Lowercase().normalize_str("\n".join(everything)).split("\n")
    ours = "\n".join(everything).translate(lowercase_forms()).split("\n")
    assert ours == theirs
    assert "ΟΣ".translate(lowercase_forms()) == "οσ"


def test_ranges_are_read_as_written() -> None:
    text = "0 41-5a 61-62 aa 10ffff"
    assert unicode_tables.encode_ranges(unicode.CharacterSet(unicode.decode_ranges(text))) == text


def test_a_set_and_its_complement_hold_each_character_once() -> None:
    for name in PROPERTIES:
        inside = characters(name)
        both = sorted(inside.ranges + inside.complement.ranges)
        assert [end + 1 for _, end in both] == [start for start, _ in both[1:]] + [0x110000]


def test_a_set_holds_the_ends_of_its_ranges_and_no_neighbor() -> None:
    letters = unicode.CharacterSet([(0x41, 0x5A), (0x61, 0x7A)])
    assert [c for c in "@AZ[`az{" if c in letters] == ["A", "Z", "a", "z"]


FORMS = {
    "NFD": lambda text: decomposed(text, "NFD"),
    "NFKD": lambda text: decomposed(text, "NFKD"),
    "NFC": lambda text: composed(text, "NFD"),
    "NFKC": lambda text: composed(text, "NFKD"),
}


def joined(form: str, text: str) -> str:
    return "".join(character for character, _ in FORMS[form](text))


@pytest.mark.parametrize("form", FORMS)
def test_normal_forms_of_all_that_they_know_and_a_tenth_of_the_rest(form: str) -> None:
    library = getattr(normalizers, form)()
    rest = [c for c in unicode_tables.every_character() if c != "\n" and c not in normalizable()]
    asked = sorted({*normalizable(), *rest[::10]})
    for start in range(0, len(asked), 0x8000):
        text = "\n".join(asked[start : start + 0x8000])
        assert joined(form, text) == library.normalize_str(text)


def test_every_mark_beside_a_mark_of_each_class() -> None:
    classes = {
        unicodedata.combining(c): c for c in sorted(normalizable()) if unicodedata.combining(c)
    }
    assert len(classes) > 50
    marks = [c for c in sorted(normalizable()) if unicodedata.combining(c)]
    pairs = [f"a{x}{y}\na{y}{x}" for x, y in product(marks, classes.values())]
    text = "\n".join(pairs)
    assert joined("NFD", text) == normalizers.NFD().normalize_str(text)


def test_every_composition_and_every_pair_of_parts() -> None:
    wholes = [c for c in sorted(normalizable()) if len(joined("NFD", c)) > 1 and c < "\uac00"]
    firsts = sorted({joined("NFC", joined("NFD", c)[:-1]) for c in wholes})
    seconds = sorted({joined("NFD", c)[-1] for c in wholes})
    text = "\n".join(first + second for first in firsts for second in seconds)
    assert joined("NFC", text) == normalizers.NFC().normalize_str(text)


def test_hangul_letters_become_syllables_but_the_filler_tail_does_not_join() -> None:
    for first in "\u10ff\u1100\u1112\u1113\uac00\uac01\ud788\ud789":
        for second in "\u1160\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3":
            theirs = normalizers.NFC().normalize_str(first + second)
            assert (composition(first, second) or first + second) == theirs


def test_characters_younger_than_the_library_are_left_alone() -> None:
    # U+32FF, the square of the era Reiwa, came in Unicode 12.1; Python's tables know it.
    assert unicodedata.normalize("NFKC", "\u32ff") == "令和"
    assert joined("NFKC", "\u32ff") == "\u32ff" == normalizers.NFKC().normalize_str("\u32ff")


@pytest.mark.parametrize("form", FORMS)
def test_marks_younger_than_the_library_part_a_base_from_its_accent(form: str) -> None:
    known = normalizable()
    young = [c for c in map(chr, range(0x20000)) if unicodedata.combining(c) and c not in known]
    assert "\u1abf" in young
    text = "\n".join(f"a{mark}\u0301{mark}\u0316" for mark in young)
    assert joined(form, text) == getattr(normalizers, form)().normalize_str(text)


def test_python_knows_all_that_the_library_normalizes() -> None:
    """Else the result would depend on Python's version."""
    ignorant = [
        c
        for c in normalizable()
        if unicodedata.normalize("NFKD", c) == c and not unicodedata.combining(c)
    ]
    assert not ignorant, sys.version
