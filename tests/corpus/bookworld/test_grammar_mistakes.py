"""Mistakes in a grammar are reported with file, line and what to do."""

import pytest

from lmcourse.corpus.bookworld import LANGUAGE, BookWorld, Grammar
from lmcourse.errors import CourseError
from tests.corpus.bookworld import lint
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
        "'love' may be NOUN or VERB",
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
    "number of weights": (
        "  good 0.1 0.5 0.9",
        "  good 0.1 0.5",
        "`good` have 2 numbers",
        "Give 3",
    ),
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
    "calls itself after nothing": (
        "  $sense\n",
        "  2 [0.5 star] $body\n",
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
        "$closing, in some genre or at some rating, the weights of all lines are zero.",
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
    if mistake == "nothing to say":  # no line is wrong alone: the rule's first is named
        assert line == "  [stars3] three stars . !closing"
    elif mistake == "ambiguous word":
        assert "love" in line
    elif mistake in ("rule without lines", "unknown table"):  # where it is used
        assert "$closing" in line or "{rival.past}" in line
    elif "calls" in mistake:  # the rule's first line
        assert text.splitlines()[int(place.split(":")[0]) - 2] == "rule body"
    else:
        assert line in new or new.strip() in line or line.strip() in new


MISSING = {
    "people": ("table people :", "table persons :", "`people` is missing", "name | gender"),
    "gender": ("dan | male", "dan | dog", "'dog', which is not known", "male, female"),
    "city": ("max | hill | rome", "max | hill | oslo", "'oslo', which is not known", "paris, rome"),
    "ratings": (SMALL, "genres mystery\nrule review\n  ()", "lacks its genres, its ratings", "Add"),
    "review": ("rule review", "rule reviews", "the rule `review`", "Add the block"),
}


@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_named(what):
    old, new, cause, remedy = MISSING[what]
    with pytest.raises(CourseError) as caught:
        world_of(swapped(old, new))
    assert cause in caught.value.cause and remedy in caught.value.remedy


@pytest.mark.parametrize("before", [[], [LANGUAGE]])
def test_a_folder_without_grammars_is_an_error(tmp_path, before):
    with pytest.raises(CourseError, match=r"no \*\.grammar file in .*no-such-folder"):
        Grammar.read(*before, tmp_path / "no-such-folder")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("words tools NOUNS : hammer", "'NOUNS' is no part of speech"),
        ("table tools : tool/THING", "'THING' is no part of speech"),
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


# What a teacher's file adds to the small grammar; the line that the message names; cause, remedy.
ADDED = {
    "shorter weights": (
        "genres horror\nweights genre\n  dark 1 1",
        "  dark 1 1",
        "`dark` have 2 numbers, and there are 3 genres",
        "mystery, romance, horror",
    ),
    "genre again": ("genres mystery", "genres mystery", "'mystery' is there already", "only"),
    "no ratings": ("ratings 0 0 0", "ratings 0 0 0", "frequencies are all zero", "its own"),
    "other columns": (
        "table cities : country/PROPN | city/PROPN",
        "table cities : country/PROPN | city/PROPN",
        "begun in small.grammar, line 31, with other columns",
        "in this order: city | country",
    ),
    "other part of speech of a column": (
        "table cities : city/NOUN | country/PROPN",
        "table cities : city/NOUN | country/PROPN",
        "with other columns",
        "city | country",
    ),
    "no columns": ("table rivers", "table rivers", "`rivers` has no columns", "table rivers : one"),
    "other part of speech": (
        "words praise NOUN : merit",
        "words praise NOUN : merit",
        "<praise> was begun in small.grammar, line 17, as ADJ with zipf 1",
        "name of its own",
    ),
    "stage in mid-sentence": (
        "rule closing\n  the star !closing",
        "  the star !closing",
        "!closing but does not end its sentence",
        "` .`",
    ),
    "sentence that may not end": (
        "rule closing\n  the star ( . | , ) !closing",
        "  the star ( . | , ) !closing",
        "does not end its sentence",
        "` .`",
    ),
    "glued mark": ("rule closing\n  star. !end", "  star. !end", "'star.' is in", "space before"),
    "unknown mark": ("rule closing\n  star ; .", "  star ; .", "mark ';' is in no list", ";/PUNCT"),
    "fact of two parts": (
        "rule closing\n  star . !fact:diamond:stolen",
        "  star . !fact:diamond:stolen",
        "no fact of three parts",
        "!fact:subject:relation:object",
    ),
    "fact of an unknown register": (
        "rule closing\n  star . !fact:@hro:stole:@book",
        "  star . !fact:@hro:stole:@book",
        "reads @hro",
        "@book, @other, @hero",
    ),
    "empty class": (
        "words gems NOUN\nrule closing\n  <gems> .",
        "words gems NOUN",
        "<gems> has no words",
        "colon",
    ),
    "two words in a cell": (
        "table cities\n  new york | usa",
        "  new york | usa",
        "the city 'new york' is not one token",
        "one word",
    ),
    "capital in a class": (
        "words gems NOUN : Ruby",
        "words gems NOUN : Ruby",
        "'Ruby' has",
        "'ruby'",
    ),
    "capital in a line": ("rule closing\n  Star .", "  Star .", "'Star' has a capital", "capitals"),
    "choice of nothing": (
        "rule closing\n  ( 0 star | 0 three ) .",
        "  ( 0 star | 0 three ) .",
        "$closing, in some genre or at some rating, the weights of all lines are zero.",
        "above zero",
    ),
    "no article": ("irregular article\n  ufo the", "  ufo the", "'the' is no article", "`an`"),
    "missing column of senses": (
        "",
        "table senses : word | sense | acts",
        "lacks the column where",
        "word, sense",
    ),
    "place without a sense": (
        "table senses\n  star | sky | near the star | moor the star",
        "  star | sky | near the star | moor the star",
        "does not end with the word and its sense",
        "star#sky",
    ),
    "place that tells": (
        "table senses\n  bank | seat | near the bank#seat | meet three",
        "  bank | seat | near the bank#seat | meet three",
        "the context determines the sense of bank (seat, and river in small.grammar, line 42)",
        "at the bank",
    ),
    "acts that share a word": (
        "table senses\n  bank | seat | at the bank#seat | meet three ; moor the star",
        "  bank | seat | at the bank#seat | meet three ; moor the star",
        "share the words moor",
        "their own",
    ),
}


@pytest.mark.parametrize("mistake", ADDED)
def test_a_mistake_in_a_teacher_s_file_is_reported_there(mistake):
    added, line, cause, remedy = ADDED[mistake]
    small = SMALL
    if mistake == "missing column of senses":
        small = SMALL[: SMALL.index("table senses")] + SMALL[SMALL.index("rule review") :]
        added = f"{line}\n  bank | river | moor the canoe"
    texts = [("small.grammar", small), ("mine.grammar", added)]
    with pytest.raises(CourseError) as caught:
        grammar = Grammar(texts)
        lint.check(grammar)
        BookWorld(grammar)
    assert cause in caught.value.cause and remedy in caught.value.remedy
    number = added.splitlines().index(line) + 1
    assert caught.value.cause.startswith(f"mine.grammar, line {number}: ")


# What stands in the course's file although the teacher's made it wrong.
ELSEWHERE = {
    "more ratings": ("ratings 1 1 1 1", "  good", "`good` have 3 numbers, and there are 4 ratings"),
    "ambiguous word": (
        "words loves NOUN : star love",
        "  1 [0.4 i love this .]",
        "'love' may be NOUN or VERB",
    ),
    "ambiguous cell": (
        "table ways : way/NOUN\n  star\n  love",
        "  1 [0.4 i love this .]",
        "'love' may be NOUN or VERB",
    ),
    "genre of which nothing is said": (
        "genres horror\nweights genre\n  mystery 1 1 0\n  romance 1 1 0",
        "  [mystery] @hero met",
        "$meeting, in some genre or at some rating, the weights of all lines are zero.",
    ),
}


@pytest.mark.parametrize("mistake", ELSEWHERE)
def test_what_a_teacher_s_file_breaks_in_another_is_told(mistake):
    added, begins, cause = ELSEWHERE[mistake]
    with pytest.raises(CourseError) as caught:
        BookWorld(Grammar([("small.grammar", SMALL), ("mine.grammar", added)]))
    assert cause in caught.value.cause
    number = int(caught.value.cause.removeprefix("small.grammar, line ").split(":")[0])
    assert SMALL.splitlines()[number - 1].startswith(begins)


@pytest.mark.parametrize(
    ("name", "lines"),
    [("closng", "three stars ."), ("clsing", "()\nrule other\n  $clsing"), ("lost", "$lost")],
)
def test_a_rule_that_nobody_calls_is_reported(tmp_path, name, lines):
    (tmp_path / "small.grammar").write_text(SMALL, encoding="utf-8")
    mine = tmp_path / "zmine.grammar"
    mine.write_text(f"\nrule _{name}\n  {lines}\n".replace(f"${name}", f"$_{name}"), "utf-8")
    lost = "other" if "other" in lines else name
    if lost == name:
        lint.check(Grammar.read(tmp_path))  # a name that begins with _ may stay unused
    mine.write_text(f"\nrule {name}\n  {lines}\n", encoding="utf-8")
    with pytest.raises(
        CourseError, match=f"zmine.grammar, line .*`{lost}` is never used"
    ) as caught:
        lint.check(Grammar.read(tmp_path))
    assert ("`closing`?" in caught.value.remedy) == (name == "closng")


def test_a_file_that_is_no_utf8_is_named(tmp_path):
    (tmp_path / "mine.grammar").write_bytes("\nwords names NOUN : café\n".encode("latin-1"))
    with pytest.raises(CourseError, match=r"mine\.grammar, line 2: .* UTF-8"):
        Grammar.read(tmp_path)
    (tmp_path / "mine.grammar").unlink()
    (tmp_path / "folder.grammar").mkdir()
    with pytest.raises(CourseError, match=r"folder\.grammar cannot be read"):
        Grammar.read(tmp_path)


def test_rules_that_only_call_each_other_are_reported(tmp_path):
    text = f"{SMALL}\nrule tick\n  star $tock\nrule tock\n  three $tick\n  ()\n"
    (tmp_path / "small.grammar").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match="`tick` is never used"):
        lint.check(Grammar.read(tmp_path))


def test_the_course_s_own_grammar_keeps_to_it():
    lint.check(Grammar.read(LANGUAGE))
