r"""A user's expression finds the same as in the library, for every character."""

import random

import pytest
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from data.unicode_tables import every_character
from lmcourse.errors import CourseError
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.text.unicode import characters
from tests.tokenizers.random_text import random_texts

EVERYTHING = "".join(every_character())
EDGES = "".join(  # where a class may begin or end
    chr(code)
    for name in ("word", "letter", "number", "white_space")
    for start, end in characters(name).ranges
    for code in (start - 1, start, end, end + 1)
    if code >= 0 and not 0xD800 <= code < 0xE000
)


def library_matches(expression: str, text: str) -> list[tuple[int, int]]:
    pieces = Split(Regex(expression), "removed", invert=True).pre_tokenize_str(text)
    return [span for _, span in pieces]


def test_word_characters_are_the_same_of_all_characters() -> None:
    ours = [start for start, _ in Pattern(regex=r"\w").matches(EVERYTHING)]
    theirs = []
    for block in range(0, len(EVERYTHING), 0x8000):
        found = library_matches(r"\w", EVERYTHING[block : block + 0x8000])
        theirs += [block + start for start, _ in found]
    assert ours == theirs


@pytest.mark.parametrize(
    "expression",
    [
        r"\w", r"[\w]", r"\p{L}", r"[\p{N}]", r"\s", r"[^\w\s]", r"\W", r"[\W]", r"[^\w']",
        r"[\w']+", r"\P{L}+", r"[\P{N}x]+",
        r"[^\p{L}\p{N}]", r"\S", r"[\s\S]", r"a\W", r"(?<=\w)a", r"\\w|a",
    ],
)  # fmt: skip
def test_classes_in_brackets_and_negated(expression: str) -> None:
    text = "".join(f"a{c}" for c in EDGES) + "\\w"
    assert Pattern(regex=expression).matches(text) == library_matches(expression, text)


@pytest.mark.parametrize("expression", [r"\b[\s\S]", r"[\s\S]\B", r"\bn't\b|\b\w+\b"])
def test_borders_of_words(expression: str) -> None:
    for text in ["".join(f"{c} " for c in EDGES), "a².b _don't_ ¼a\u200da"]:
        assert Pattern(regex=expression).matches(text) == library_matches(expression, text)


PUBLISHED = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "Llama 3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "BLOOM": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "lines": r"^.+$",
    "CLIP": (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_expressions_on_random_texts(name: str) -> None:
    rng = random.Random(11)
    ascii_only = ["".join(chr(rng.randrange(128)) for _ in range(20)) for _ in range(2000)]
    for text in random_texts(12, 3000) + ascii_only:
        ours = Pattern(regex=PUBLISHED[name]).matches(text)
        assert ours == library_matches(PUBLISHED[name], text), ascii(text)


def test_plain_strings_are_taken_as_they_are() -> None:
    rng = random.Random(13)
    for text in random_texts(14, 2000)[1:]:
        start = rng.randrange(len(text) + 1)
        part = text[start : start + rng.randrange(1, 3)] or "."
        theirs = Split(part, "removed", invert=True).pre_tokenize_str(text)
        assert Pattern(string=part).matches(text) == [span for _, span in theirs], ascii(part)


def test_empty_matches_count_but_not_right_after_another() -> None:
    assert Pattern(regex="b*").matches("abbc") == [(0, 0), (1, 3), (4, 4)]
    assert Pattern(regex="|a").matches("aa") == [(0, 0), (1, 1), (2, 2)]
    assert Pattern(regex="x*").matches("") == []


def test_an_expression_that_cannot_be_read_is_named() -> None:
    with pytest.raises(CourseError, match=r"expression '\(a' cannot be read: .* position"):
        Pattern(regex="(a")


@pytest.mark.parametrize("given", [{}, {"string": "a", "regex": "b"}])
def test_a_pattern_is_one_of_two(given: dict[str, str]) -> None:
    with pytest.raises(CourseError, match="either a plain string or a regular expression"):
        Pattern(**given)
