"""What of a Markdown text is prose: not code, mathematics, front matter or comments."""

import re
from collections.abc import Callable, Iterator

SYMBOL = "\ufffc"  # stands for each character of what is not prose
_HIDDEN = re.compile(
    r"""
    \A---\n.*?^---[ \t]*$                                                # front matter
    | ^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$
    | \{(?P<role>[\w:-]+)\}(?P<tick>`+)(?P<content>(?:(?!\n\s*\n).)+?)(?P=tick)
    | (?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)     # code in a line
    | \$\$.*?\$\$ | (?<![\\$])\$(?=\S)[^$\n]*?\S\$(?!\d)                  # mathematics
    | ^%[^\n]*$ | <!--.*?-->                                             # comments
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_END = re.compile(r"[.?!][)\]”’\"']*(?=\s|$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|al|cf|vs|Fig|Eq|Sec|approx|resp|No)|\b[A-Z])\.$")


def masked(text: str) -> str:
    """Return the text with a symbol for each character that is not prose, in the same length.

    Positions and lines are those of the text, so what is found here can be cut out there.
    """
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", SYMBOL, found[0]), text)


def replace_roles(text: str, name: str, written: Callable[[str], str]) -> str:
    """Replace each MyST role of a name by what the function makes of its content.

    Roles that are shown as code are left alone.
    """

    def replaced(found: re.Match[str]) -> str:
        return written(found["content"]) if found["role"] == name else found[0]

    return _HIDDEN.sub(replaced, text)


def sentence_ends(text: str) -> Iterator[int]:
    """Yield each position where a sentence ends, its space included, and the end of the text."""
    depth, seen = 0, 0
    for match in _END.finditer(text):
        piece = text[seen : match.end()]
        depth, seen = depth + piece.count("(") - piece.count(")"), match.end()
        after = text[match.end() :].lstrip()
        if not after:
            break
        inside = depth > 0 or after[0].islower() or _ABBREVIATION.search(text[: match.start() + 1])
        if not inside:
            yield len(text) - len(after)
    yield len(text)
