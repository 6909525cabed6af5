"""What the search reads: a record for each section, made from mystmd's own."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coursekit.book.content import Node

_LEVELS = [f"lvl{number}" for number in range(1, 7)]
_SPACE = re.compile(r"\s+")


def index_script(
    records: list[dict[str, Any]], trees: Sequence[Node], link: Callable[[str], str]
) -> str:
    """Return a script that holds the records.

    It is a script and no JSON, because a page that was opened from a disk may load scripts, and
    may not fetch files.

    Args:
        records: mystmd's: for each section a heading's record and one with its text.
        trees: the pages' syntax trees. Their displayed equations are taken out of the text: TeX is
            what nobody types, and none can read in a result.
        link: gives the URL of a page by mystmd's.
    """
    equations = sorted({each for tree in trees for each in _equations(tree)}, key=len, reverse=True)
    out: list[dict[str, Any]] = []
    for record in records:
        if record["type"] != "content":
            continue
        text = record.get("content", "")
        for equation in equations:
            text = text.replace(equation, " … ")
        titles = [record["hierarchy"][level] for level in _LEVELS if level in record["hierarchy"]]
        out.append(
            {
                "id": len(out),
                "url": link(record["url"]),
                "page": titles[0] if titles else "",
                "title": " › ".join(titles[1:]),
                "text": _SPACE.sub(" ", text).strip(),
            }
        )
    return f"window.lmcourseIndex = {json.dumps(out, ensure_ascii=False, separators=(',', ':'))};\n"


def _equations(node: Node) -> Iterator[str]:
    if node["type"] == "math":
        yield node["value"]
    for child in node.get("children", []):
        yield from _equations(child)
