"""What the course's own grammar keeps to, beyond what can be compiled.

No word but the acts determines the sense of a word, every class has words, and every rule is used.
"""

import re
from difflib import get_close_matches

from lmcourse.corpus.bookworld.blocks import Blocks, Table

_CALL = re.compile(r"\$(\w+)")
_ARTICLES = {"the", "a", "an"}
_SENSES = ("word", "sense", "where", "acts")


def check(blocks: Blocks) -> None:
    """Raise the error of a line that does not keep to it."""
    for each in blocks.classes.values():
        if not each.words:
            raise each.location.error(
                f"the class <{each.name}> has no words.",
                "Add words after a colon, or in indented lines below.",
            )
    if "senses" in blocks.tables:
        _check_senses(blocks.tables["senses"])
    check_rivals(blocks)
    check_reached(blocks)


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
