"""Grammars for the tests: a small one, one without loops, and any number drawn at random."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from lmcourse.corpus.bookworld import BookWorld, Grammar

SMALL = (Path(__file__).parent / "small.grammar").read_text(encoding="utf-8")
# Each loop goes round at most once, and less is said: few enough texts to write them all out.
FINITE = SMALL
for loop, once in {
    "$claim $body": "$claim",
    "[0.6 $meeting] $body": "( $meeting | $body )",
    "0.4 near the (<place> | <place.plural>) $links": "0.4 near the <place>",
    "2 this (is | 2 was) a [0.4 great] <head> of": "2 this was a <head> of",
    "[0.5] a ( <praise> | awful ) <head>": "[0.5] a ( <praise> | awful ) star",
    "  bea | female\n": "",
}.items():
    assert loop in FINITE
    FINITE = FINITE.replace(loop, once)


@cache
def world_of(text: str) -> BookWorld:
    """The world of a grammar's text."""
    return BookWorld(Grammar([("test.grammar", text)]))


_HEAD = """\
words things NOUN zipf 0.8 : apple hat bank owl
words others NOUN : bank hat tree
words ways ADJ zipf 0.5 : idle slow big
table people : name/PROPN | gender
{people}
table cities : city/PROPN | country/PROPN
  paris | france
  rome | italy
table books : {columns}
{books}
"""
_COLUMNS = (
    "adjective/ADJ | noun/NOUN | first/PROPN | last/PROPN | city/PROPN | series/PROPN | genre"
)
_PEOPLE = ["ada | female", "carl | male", "bea | female", "dan | male"]
_BOOKS = [
    "glass | door | eve | stone | paris | dusk | {0}",
    "slow | river | eve | stone | paris | dusk | {0}",
    "big | bank | max | hill | rome | dawn | {1}",
]
# Few words, several of which are said in other ways too: so most texts have several derivations.
_LITERALS = [
    "apple/NOUN",
    "bank/NOUN#river",
    "bank/NOUN#money",
    "bank/VERB",
    "slow/ADJ",
    "she/PRON",
    "the/DET",
    "ada/PROPN",
    "paris/PROPN",
    "./PUNCT",
]
_LOOPS = [
    "  0.6 {name}/ADV {word} ${name}",
    "  0.5 {name}/ADV {word} ${name} ;   0.3 {name}/ADV {word}",
    "  0.7 {name}/ADV [0.4 {word} ${name}]",
    "  0.7 {word} ( [0.3 ${name}] | {name}/ADV )",
]
_REGISTERS = [
    *("hero", "hero.he", "hero.his", "hero.man", "second", "second.he", "second.him"),
    *("book.adjective", "book.noun", "book.other_noun", "book.city", "book.country"),
    *("book.last", "book.series"),
]


def random_grammar(seed: int) -> str:
    """The text of a grammar; the same for a seed."""
    draw = Random(seed)
    genres = ["mystery", "romance", "science"][: draw.randint(2, 3)]
    ratings = [f"{draw.uniform(0.1, 1):.2f}" for _ in range(draw.randint(2, 3))]
    lines = [f"genres {' '.join(genres)}", f"ratings {' '.join(ratings)}"]
    for kind, size in (("genre", len(genres)), ("rating", len(ratings))):
        lines.append(f"weights {kind}")
        for name in ("first", "second"):
            numbers = [draw.choice(["0", "0.3", "1", "2.5"]) for _ in range(size)]
            lines.append(f"  {kind}_{name} {' '.join(numbers)}")
    people = draw.sample(_PEOPLE, draw.randint(2, 4))
    books = [row.format(*genres) for row in draw.sample(_BOOKS, draw.randint(2, 3))]
    lines.append(
        _HEAD.format(
            columns=_COLUMNS,
            people="\n".join(f"  {row}" for row in people),
            books="\n".join(f"  {row}" for row in books),
        )
    )
    rules = ["review", "one", "two", "three"]
    for index, name in enumerate(rules):
        lines.append(f"rule {name}")
        lines += _Lines(draw, rules[index + 1 :]).of(name)
    return "\n".join(lines)


class _Lines:
    """Writes the lines of a rule, which may call the rules after it."""

    def __init__(self, draw: Random, callable_: list[str]) -> None:
        self.draw = draw
        self.callable = callable_

    def of(self, name: str) -> list[str]:
        draw = self.draw
        found = [f"  1 {self._sequence(2)}"]  # this one has a weight in every class
        for _ in range(draw.randint(1, 3)):
            weights = draw.sample(["genre_first", "genre_second", "rating_first", "1.5"], 2)
            found.append(f"  [{' '.join(weights)}] {self._sequence(2)}")
        if draw.random() < 0.3:  # the same twice: their weights add up
            found.append(draw.choice(found))
        if name != "review" and draw.random() < 0.4:
            found += draw.choice(_LOOPS).format(name=name, word=draw.choice(_LITERALS)).split(" ; ")
        if name != "review" and draw.random() < 0.3:
            found.append("  ()")
        return found

    def _sequence(self, depth: int) -> str:
        return " ".join(self._element(depth) for _ in range(self.draw.randint(1, 3)))

    def _element(self, depth: int) -> str:
        draw = self.draw
        kinds: list[Callable[[], str]] = [
            lambda: draw.choice(_LITERALS),
            lambda: draw.choice(["<things>", "<others>", "<things.plural>", "<ways>", "<ways.er>"]),
            lambda: f"@{draw.choice(_REGISTERS)}",
            lambda: f"@{draw.choice(_REGISTERS)}",
            lambda: "( bank/NOUN#river | bank/NOUN#money | 0.5 <others> )",
            lambda: "( [0.6 @hero] [0.5 @second] ada/PROPN | @second [0.3 @hero] )",
            lambda: f"a [0.4 {draw.choice(['idle/ADJ', 'slow/ADJ', '<ways>'])}] <things>",
        ]
        if depth:
            kinds += [
                lambda: f"( {self._sequence(depth - 1)} | 2 {self._sequence(depth - 1)} )",
                lambda: f"[0.{draw.randint(1, 9)} {self._sequence(depth - 1)}]",
            ]
        if self.callable:
            kinds += [lambda: f"${draw.choice(self.callable)}"] * 3
        return draw.choice(kinds)()
