"""Links between the course's pages: written to the sources, led to what is made of them.

A source links another as `[lab 08](../labs/08-lab-attention.md)`, which an editor and a code host
follow. In the workbook and in the book's staged folder the same page is a notebook.
"""

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from coursekit.notebooks.prose import masked
from lmcourse.errors import CourseError

_LINK = re.compile(
    r"""(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)(?:\s+"[^"]*")?\)"""
    r"""|^:link:[ ]+(?P<card>\S+)$""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Link:
    """A link in a Markdown text."""

    text: str
    target: str  # as it is written
    start: int  # where the link begins and ends
    end: int
    target_start: int


def links_of(text: str) -> Iterator[Link]:
    """Yield the links of a Markdown text, those shown as code left out."""
    for found in _LINK.finditer(masked(text)):
        group = "target" if found["target"] else "card"
        begin, end = found.span(group)
        words = text[slice(*found.span("text"))] if found["text"] is not None else ""
        yield Link(words, text[begin:end], found.start(), found.end(), begin)


def source_of(target: str, folder: str) -> str | None:
    """Return the path in the checkout of a link to a Markdown file; None for any other link.

    Args:
        folder: of the text that holds the link, relative to the checkout; ``""`` is its root.
    """
    path = target.partition("#")[0]
    if not path.endswith(".md") or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", path):
        return None
    return posixpath.normpath(posixpath.join(folder, path))


def lead_to_notebooks(
    text: str, folder: str, pages: Collection[str], name: str, *, texts: Collection[str] = ()
) -> str:
    """Let links to the course's sources lead to their notebooks.

    Args:
        folder: of the text, relative to the checkout.
        pages: the sources that are pages, as paths in the checkout.
        name: of the text, for the error.
        texts: pages that are no notebooks, to which links stay as they are.

    Raises:
        CourseError: a link leads to a Markdown file that is no page of the course.
    """
    out, position = [], 0
    for link in links_of(text):
        source = source_of(link.target, folder)
        if source is None:
            continue
        if source not in pages:
            raise CourseError(
                f"{name} links to {link.target!r}, which is not a page of the course.",
                "Correct the path: it is relative to the file that holds the link. A chapter that "
                "is not written yet is mentioned without a link, as `chapter 03 (planned)`.",
            )
        if source in texts:
            continue
        path, hash_, anchor = link.target.partition("#")
        out += [text[position : link.target_start], f"{path[:-3]}.ipynb{hash_}{anchor}"]
        position = link.target_start + len(link.target)
    return "".join([*out, text[position:]])
