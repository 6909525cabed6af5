"""Tokens: what is refused, and what a reader sees; the same in Python and in a browser."""

import json
import unicodedata
from random import Random

import numpy as np
import pytest

from lmcourse.errors import CourseError
from lmcourse.widgets.tokens import as_tokens, visible
from tests.widgets.strings import HOSTILE, token
from tests.widgets.test_modules import node

SHOW = """
import { shortened, visible } from "./widgets/shared/tokens.js";
let text = "";
for await (const part of process.stdin) text += part;
const words = JSON.parse(text);
console.log(JSON.stringify([words.map(visible), words.map((it) => shortened(it, 5))]));
"""


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("word", "word"),
        ("", "∅"),
        (" a\n", "␣a⏎"),
        ("\t\r\u00a0", "⇥␍⍽"),
        ("a\u200bb", "a⟨200B⟩b"),
        ("\u202eabc\u2069", "⟨202E⟩abc⟨2069⟩"),
        ("\x00\x1b", "⟨0000⟩⟨001B⟩"),
        ("\ufeff\ue000\uffff", "⟨FEFF⟩⟨E000⟩⟨FFFF⟩"),
        ("Ġthe ▁a ##ing", "Ġthe␣▁a␣##ing"),
        ("</script>", "</script>"),
        ("שלום", "שלום"),
        ("e\u0301", "e\u0301"),
        ("\u3164\u115f", "⟨3164⟩⟨115F⟩"),
    ],
)
def test_what_has_no_ink_gets_a_mark(given, seen):
    assert visible(given) == seen


def test_python_and_the_browser_show_the_same():
    random = Random(0)
    words = [*HOSTILE, *(token(random) for _ in range(3000)), *map(chr, range(0x3000))]
    # What a version of Unicode does not know yet, another one may; what joins emoji is JavaScript's
    words = [it for it in words if not any(_differs(c) for c in it)]
    assert len(words) > 10_000
    shown, short = json.loads(_run(words))
    assert shown == [visible(it) for it in words]
    assert all(len(it) > 0 for it in short)


def test_what_joins_emoji_stays_and_long_tokens_are_cut_between_characters():
    words = ["👩‍👩‍👧", "🏳️‍🌈", "a‍b", "👍🏽‍x", "👩‍👩‍👧" * 9, "e\u0301" * 9, "abcde", "abcdef"]
    shown, short = json.loads(_run(words))
    assert shown[:4] == ["👩‍👩‍👧", "🏳️‍🌈", "a⟨200D⟩b", "👍🏽⟨200D⟩x"]
    assert short[4:] == ["👩‍👩‍👧" * 4 + "…", "e\u0301" * 4 + "…", "abcde", "abcd…"]


def _differs(c: str) -> bool:
    new = unicodedata.category(c) == "Cn" and ord(c) & 0xFFFE != 0xFFFE
    return new or c == "\u200d"


def _run(words: list[str]) -> str:
    done = node("--input-type=module", "--eval", SHOW, given=json.dumps(words))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("a text", r"tokens is of type str, not a list of strings. Pass one string per token"),
        (None, r"tokens is None, not a list"),
        ([], r"tokens is empty. Pass at least one"),
        (["a", 7], r"tokens\[1\] is of type int, not a string. .*convert_ids_to_tokens"),
        (["a", "\ud83d"], r"tokens\[1\] has half of a surrogate pair"),
        (["a"], r"tokens has 1 tokens, the arrays have 2. Pass the tokens of the same"),
        ({"a": 1}, r"tokens is of type dict"),
    ],
)
def test_what_is_no_list_of_tokens_is_named(value, says):
    with pytest.raises(CourseError, match=says):
        as_tokens("tokens", value, 2)


def test_tuples_are_taken_and_nothing_is_changed():
    assert as_tokens("tokens", ("", "<s>", " a")) == ["", "<s>", " a"]


def test_an_array_of_strings_is_a_list_of_them():
    found = as_tokens("classes", np.array(["a", "bc"]))
    assert found == ["a", "bc"] and {type(it) for it in found} == {str}
    with pytest.raises(CourseError, match=r"classes is of type ndarray, not a list of strings"):
        as_tokens("classes", np.array([["a", "bc"]]))
    with pytest.raises(CourseError, match=r"classes\[0\] is of type int, not a string"):
        as_tokens("classes", np.array([1, 2]))
