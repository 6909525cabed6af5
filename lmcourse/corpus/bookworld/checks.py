"""Checks of a grammar whose lines can all be parsed."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from lmcourse.corpus.bookworld.blocks import Blocks, Table
from lmcourse.corpus.bookworld.templates import REGISTERS, Choice, Location, Nodes, Rule

_CALL = re.compile(r"\$(\w+)")
_ARTICLES = {"the", "a", "an"}
_TITLES = ("book", "other")  # entities of a fact beside the registers: this title, the other one
_SENSES = ("word", "sense", "where", "acts")


class Wrong(Exception):
    """An error found while a rule is compiled; its line is not known yet.

    Args:
        cause, remedy: as of a ``CourseError``.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy


def check_blocks(blocks: Blocks) -> None:
    """Check what depends on all files."""
    _check_weights(blocks)
    for each in blocks.classes.values():
        if not each.words:
            raise each.location.error(
                f"the class <{each.name}> has no words.",
                "Add words after a colon, or in indented lines below.",
            )
    if "senses" in blocks.tables:
        _check_senses(blocks.tables["senses"])


def check_rivals(blocks: Blocks) -> None:
    """Check that only the acts determine the sense of a word, not word counts."""
    if "senses" not in blocks.tables:
        return
    table = blocks.tables["senses"]
    for index, row in enumerate(table.rows):
        for other in table.rows[:index]:
            if row["word"] == other["word"] and row["sense"] != other["sense"]:
                _check_two_senses(table, row, other)


def check_reached(blocks: Blocks) -> None:
    """Check that every rule can be reached from ``review``, unless its name begins with ``_``."""
    calls = {name: _calls(blocks, name) for name in blocks.lines}
    reached, waiting = {"review"}, ["review"]
    while waiting:
        new = (calls.get(waiting.pop(), set()) & calls.keys()) - reached
        reached |= new
        waiting += new
    lost = [name for name in calls if name not in reached and not name.startswith("_")]
    called = {other for name in lost for other in calls[name] - {name}}
    for name in [name for name in lost if name not in called] or lost:
        close = get_close_matches(name, reached, 1)
        raise blocks.rule_locations[name].error(
            f"the rule `{name}` is never used: no rule that `review` leads to calls it.",
            (f"Did you mean `{close[0]}`? " if close else "")
            + f"Mend its name, or write ${name} in another rule. A rule whose name begins with "
            "`_` may stay unused.",
        )


def check_mark(mark: str, location: Location) -> None:
    """Check a line's mark: a fact has three parts, and reads registers."""
    kind, *parts = mark.split(":")
    if kind != "fact" and not parts:
        return
    if kind != "fact" or len(parts) != 3 or not all(parts):
        raise location.error(
            f"the mark !{mark} is no fact of three parts.",
            "Write !fact:subject:relation:object, such as !fact:@book.last:wrote:@book.",
        )
    for part in parts:
        if part.startswith("@") and part[1:] not in (*_TITLES, *REGISTERS):
            raise location.error(
                f"the fact !{mark} reads {part}, which is no register.",
                f"Write a word, or one of: @{', @'.join((*_TITLES, *REGISTERS))}.",
            )


def nothing_said(total: object, genres: Sequence[str], ratings: int) -> str | None:
    """Return in which genres or at which ratings the weights of all lines are zero, if in any.

    Args:
        total: the sum of the weights, one number or [genres · ratings].
    """
    shape = (len(genres), ratings)
    empty = np.broadcast_to(np.asarray(total) <= 0, len(genres) * ratings).reshape(shape)
    if not empty.any():
        return None
    if empty.all():
        return "nothing can be said in any genre."
    stars = [f"at {index + 1} star{'s' if index else ''}" for index in range(ratings)]
    where = [f"in the genre {name}" for name, row in zip(genres, empty, strict=True) if row.all()]
    where = where or [name for name, row in zip(stars, empty.T, strict=True) if row.all()]
    where = where or [
        f"in the genre {genres[row]} {stars[column]}" for row, column in np.argwhere(empty).tolist()
    ]
    return f"nothing can be said {' or '.join(where)}."


def calls_at_once(nodes: Nodes, name: str) -> bool:
    """Return whether a line may call a rule before its first word."""
    for node in nodes:
        if isinstance(node, Rule):
            return node.name == name
        if not isinstance(node, Choice):
            return False
        if any(calls_at_once(option, name) for _, option in node.options):
            return True
        if all(option for _, option in node.options):
            return False
    return False


def _check_weights(blocks: Blocks) -> None:
    """A genre that is added later gets the smallest number of each earlier vector."""
    known = {"genre": len(blocks.genres), "rating": len(blocks.ratings)}
    for name, weights in blocks.weights.items():
        wanted, given = known[weights.kind], len(weights.numbers)
        if weights.kind == "genre" and 0 < given == weights.genres:
            weights.numbers.extend([min(weights.numbers)] * (wanted - given))
        elif given != wanted:
            raise weights.location.error(
                f"the weights `{name}` have {given} numbers, there are {wanted} {weights.kind}s.",
                f"Give {wanted}, one for each {weights.kind}"
                + (f": {', '.join(blocks.genres)}." if weights.kind == "genre" else "."),
            )


def _check_senses(table: Table) -> None:
    missing = [column for column in _SENSES if column not in table.columns]
    if missing:
        raise table.location.error(
            f"the table `senses` lacks the column {missing[0]}.",
            f"Give it the columns {', '.join(_SENSES)}.",
        )
    for row in table.rows:
        word, sense = row["word"], row["sense"]
        if row["where"].split()[-1:] != [f"{word}#{sense}"]:
            raise table.location_of(row).error(
                f"the context {row['where']!r} does not end with the word and its sense.",
                f"End it with {word}#{sense}.",
            )


def _check_two_senses(table: Table, row: dict[str, str], other: dict[str, str]) -> None:
    location, before = table.location_of(row), table.location_of(other)
    both = f"{row['word']} ({row['sense']}, and {other['sense']} in {before.file}, "
    both += f"line {before.line})"
    if row["where"].split("#")[0] != other["where"].split("#")[0]:
        raise location.error(
            f"the context determines the sense of {both}.",
            f"Begin it alike for all senses: {other['where'].split('#')[0]}.",
        )
    mine, rival = (set(each["acts"].replace(";", " ").split()) for each in (row, other))
    if shared := sorted((mine & rival) - _ARTICLES):
        raise location.error(
            f"two senses of {both} share the words {', '.join(shared)}.",
            "Let each sense's acts have words of their own: they alone tell it.",
        )


def _calls(blocks: Blocks, name: str) -> set[str]:
    """The rules that a rule's lines, or their tables' cells, call."""
    found: set[str] = set()
    for table, line in blocks.lines[name]:
        found.update(_CALL.findall(line.text))
        if table in blocks.tables and "{" in line.text:
            for row in blocks.tables[table].rows:
                for column, cell in row.items():
                    if "$" in cell and f"{{{column}" in line.text:
                        found.update(_CALL.findall(cell))
    return found
