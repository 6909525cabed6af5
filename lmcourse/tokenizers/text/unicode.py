"""What kind of character is this? The library's answers, for every character there is.

Unicode grows every year: new letters, marks and digits, and new lowercase forms. Each program
carries the tables of the year in which it was compiled, so the same text gives other tokens under
another version. The ``tokenizers`` library alone holds several: its normal forms know Unicode 12,
its categories (for BERT's punctuation) Unicode 8, and its two engines for regular expressions
newer ones. Python's ``unicodedata`` is yet another, and changes with Python.

So a model that learned with one table must be read with the same one. ``unicode_tables.json``
holds what the library answers when it is asked about each of the 1,112,064 characters:

    make tables    # asks the installed library again, and writes the file anew

Sources: The Unicode Standard, chapter 4 (character properties); https://unicode.org/reports/tr44.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

TABLES = Path(__file__).with_name("unicode_tables.json")

Range = tuple[int, int]  # code points from … to, the end included


class CharacterSet:
    """The characters that have some property.

    Args:
        ranges: their code points from … to (the end included), in rising order.
    """

    def __init__(self, ranges: Iterable[Range]) -> None:
        self.ranges = tuple(ranges)
        self._starts = [start for start, _ in self.ranges]

    @classmethod
    def of(cls, members: Iterable[str]) -> "CharacterSet":
        """The set of these characters."""
        ranges: list[list[int]] = []
        for code in sorted(map(ord, members)):
            if ranges and code == ranges[-1][1] + 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
        return cls((start, end) for start, end in ranges)

    def __contains__(self, character: str) -> bool:
        code = ord(character)
        place = bisect_right(self._starts, code) - 1
        return place >= 0 and code <= self.ranges[place][1]

    def __iter__(self) -> Iterator[str]:
        return (chr(code) for start, end in self.ranges for code in range(start, end + 1))

    @cached_property
    def expression(self) -> str:
        """The set as it stands between the brackets of a regular expression."""
        return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in self.ranges)

    @cached_property
    def complement(self) -> "CharacterSet":
        """All other characters."""
        edges = [-1, *chain.from_iterable(self.ranges), 0x110000]
        gaps = zip(edges[::2], edges[1::2], strict=True)  # an end, and the start after it
        return CharacterSet((end + 1, start - 1) for end, start in gaps if end + 1 < start)

    @cached_property
    def ascii_expression(self) -> str:
        """The same for a text that is ASCII only: much shorter, so much faster."""
        ranges = [(start, min(end, 127)) for start, end in self.ranges if start < 128]
        return CharacterSet(ranges).expression


@cache
def tables() -> dict[str, str]:
    """What ``unicode_tables.json`` holds."""
    loaded: dict[str, str] = json.loads(TABLES.read_text(encoding="utf-8"))
    return loaded


@cache
def characters(name: str) -> CharacterSet:
    """The characters with a property, as the file names it."""
    return CharacterSet(decode_ranges(tables()[name]))


@cache
def lowercase_forms() -> dict[int, str]:
    """The lowercase of each character that has another one, as ``str.translate`` wants it.

    It does not depend on the neighbors, unlike ``str.lower``, which knows that a sigma at the end
    of a word is ς. One is longer than what it came from: İ becomes i and a dot above.
    """
    forms: dict[int, str] = {}
    for run in tables()["lowercase"].split():
        codes, _, shift = run.partition("+")
        start, end, step = (int(number, 16) for number in codes.split("-"))
        forms |= {code: chr(code + int(shift, 16)) for code in range(start, end + 1, step)}
    return forms | {ord("İ"): "i\u0307"}


def decode_ranges(text: str) -> list[Range]:
    """``"41-5a aa"`` as [(65, 90), (170, 170)]."""
    ends = (part.partition("-") for part in text.split())
    return [(int(start, 16), int(end or start, 16)) for start, _, end in ends]
