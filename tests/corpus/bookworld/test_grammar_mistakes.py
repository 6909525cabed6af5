"""Mistakes in a grammar are reported with file, line and what to do."""

import pytest

from lmcourse.corpus.bookworld import Grammar
from lmcourse.errors import CourseError
from tests.corpus.bookworld.grammars import SMALL, world_of


def swapped(old: str, new: str) -> str:
    """The small grammar with one mistake."""
    assert SMALL.count(old) == 1
    return SMALL.replace(old, new)


MISTAKES = {
    "unknown word": ("[0.4 i love this .]", "[0.4 i lose this .]", "'lose' is in no list", "lose/"),
    "ambiguous word": (
        "words things NOUN : bank",
        "words things NOUN : love bank",
        "NOUN or VERB",
        "love/NOUN",
    ),
    "unknown class": ("<head> of @book.last", "<heads> of @book.last", "no class <heads>", "words"),
    "unknown form": (
        "<head> of @book.last",
        "<head.past> of @book.last",
        "no form 'past'",
        "plural",
    ),
    "unknown rule": ("$opening [0.6", "$openin [0.6", "no rule $openin", "name"),
    "rule without lines": (
        "  [stars3] three stars . !closing\n  [not3] star .\n",
        "",
        "no rule $closing",
        "Write",
    ),
    "unknown table": (
        "rule sense each rivals",
        "rule sense each rival",
        "no table 'rival'",
        "rivals",
    ),
    "unknown column": (
        "met @second in {city}",
        "met @second in {town}",
        "no column {town}",
        "city",
    ),
    "column without table": (
        "i read the @book.adjective",
        "i read the {city}",
        "`each TABLE`",
        "none",
    ),
    "no form of a phrase": ("$who {rival.past}", "$who {rival.er}", "no form 'er'", "past"),
    "unknown register": ("@second in {city}", "@third in {city}", "no register @third", "@second"),
    "unknown weights": ("[mystery] @hero", "[horror] @hero", "named 'horror'", "mystery, romance"),
    "number of cells": ("  rome | italy", "  rome | italy | pasta", "3 cells", "city | country"),
    "number of weights": ("  good 0.1 0.5 0.9", "  good 0.1 0.5", "good has 2 weights", "Give 3"),
    "kind of weights": (
        "weights rating",
        "weights stars",
        "`weights stars` begins no block",
        "genre|rating",
    ),
    "no numbers": ("ratings 0.2 0.3 0.5", "ratings 0.2 few 0.5", "are not numbers", "0.25"),
    "below zero": ("  good 0.1 0.5", "  good -0.1 0.5", "numbers of zero or more", "0.25"),
    "irregular form": ("  meet met", "  meet", "not a lemma and a form", "two words"),
    "open bracket": ("[by @book.last] .", "[by @book.last .", "is not closed", "']'"),
    "open parenthesis": ("( <praise> | awful )", "( <praise> | awful", "is not closed", "')'"),
    "bracket too many": ("[by @book.last] .", "by @book.last] .", "']' too many", "Remove"),
    "probability": ("[0.4 great]", "[1.4 great]", "1.4 of an optional part", "[0.3 words]"),
    "unreadable": (
        "the <head.{number}>^subject.{number}",
        "the <head>^object.{number}",
        "cannot be read",
        "word/POS",
    ),
    "mark without token": ("  2 @hero\n", "  2 [@hero] !who\n", "!who find no token", "full stop"),
    "entry without block": (
        "genres mystery",
        "  love NOUN\ngenres mystery",
        "no block",
        "before it",
    ),
    "entry of a line": (
        "ratings 0.2 0.3 0.5",
        "ratings 0.2 0.3 0.5\n  0.1",
        "no entries",
        "own line",
    ),
    "unknown block": ("words praise ADJ", "word praise ADJ", "begins no block", "Blocks are"),
    "left recursion": ("  $sense\n", "  $body $sense\n", "$body, it calls itself", "at the end"),
    "calls only itself": (
        "  $sense\n",
        "  2 $body\n",
        "$body, it calls itself before",
        "at the end",
    ),
    "recursion inside": (
        "  $sense\n",
        "  the $body star\n",
        "$body, it calls itself elsewhere",
        "at the end",
    ),
    "article and register": (
        "a [0.4 great] <head> of",
        "a [0.4 great] @hero of",
        "the register @hero",
        "`the`",
    ),
    "nothing to say": (
        "  [not3] star .",
        "  [stars3] star .",
        "$closing, nothing can be said",
        "above zero",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_with_file_line_and_remedy(mistake):
    old, new, cause, remedy = MISTAKES[mistake]
    text = swapped(old, new)
    with pytest.raises(CourseError) as caught:
        world_of(text)
    assert cause in caught.value.cause and remedy in caught.value.remedy
    file, _, place = caught.value.cause.partition(", line ")
    line = text.splitlines()[int(place.split(":")[0]) - 1]
    assert file == "test.grammar"
    if "in the rule $" in caught.value.cause:  # what was compiled is told with its first line
        line = SMALL.splitlines()[SMALL.splitlines().index(line) - 1]
        assert line.startswith(f"rule {caught.value.cause.split('$')[1].split(',')[0]}")
    elif mistake == "ambiguous word":
        assert "love" in line
    elif mistake in ("rule without lines", "unknown table"):  # where it is used
        assert "$closing" in line or "{rival.past}" in line
    else:
        assert line in new or new.strip() in line or line.strip() in new


MISSING = {
    "people": ("table people :", "table persons :", "`people` is missing", "name | gender"),
    "books": ("table books :", "table volumes :", "`books` is missing", "adjective | noun"),
    "gender": ("dan | male", "dan | dog", "'dog', which is not known", "male, female"),
    "city": ("max | hill | rome", "max | hill | oslo", "'oslo', which is not known", "paris, rome"),
    "genre": ("rome | dawn | romance", "rome | dawn | horror", "'horror', which", "mystery"),
    "ratings": (SMALL, "genres mystery\nrule review\n  ()", "lacks its genres, its ratings", "Add"),
    "review": ("rule review", "rule reviews", "the rule `review`", "Add the block"),
}


@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_named(what):
    old, new, cause, remedy = MISSING[what]
    with pytest.raises(CourseError) as caught:
        world_of(swapped(old, new))
    assert cause in caught.value.cause and remedy in caught.value.remedy


def test_a_folder_without_grammars_is_an_error(tmp_path):
    with pytest.raises(CourseError, match=r"no \*\.grammar file"):
        Grammar.read(tmp_path)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("words tools NOUNS : hammer", "'NOUNS' is no part of speech"),
        ("words tools NOUN zip 0.5 : hammer", "begins no block"),
        ("table tools : tool/THING", "'THING' is no part of speech"),
        ("irregular plurals", "begins no block"),
        ("rule tools for cities", "begins no block"),
    ],
)
def test_a_header_with_a_slip_is_not_taken_silently(line, cause):
    with pytest.raises(CourseError, match=cause) as caught:
        Grammar([("extra.grammar", f"\n{line}\n")])
    assert "extra.grammar, line 2" in caught.value.cause


def test_a_part_of_speech_with_a_slip_is_not_taken_silently():
    with pytest.raises(CourseError, match="'great/ADJS' names no part of speech"):
        world_of(SMALL.replace("a [0.4 great]", "a [0.4 great/ADJS]"))
