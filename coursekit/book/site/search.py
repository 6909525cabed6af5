"""What the search reads: a record for each definition and for each section of a page."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from coursekit.book.content import Content, Node, Page
from coursekit.book.render.readable import GAP, text_of
from coursekit.book.site.terms import Entry, entries
from coursekit.notebooks.glossary import PAGE as GLOSSARY

_SPACE = re.compile(r"\s+")
_DOLLARS = re.compile(r"\$[^$\n]+\$")  # TeX in captions, and in the labels of plots
_GAPS = re.compile(rf"(?:{GAP}\s*){{2,}}")
# Nodes that hold other blocks; what they hold is separated by a space.
_HOLDERS = frozenset(
    {"root", "block", "div", "list", "listItem", "blockquote", "admonition", "details", "exercise"}
    | {"solution", "proof", "aside", "tabSet", "tabItem", "grid", "card", "container", "outputs"}
    | {"table", "tableRow", "definitionList", "glossary", "footer", "header", "embed", "include"}
)


@dataclass
class _Section:
    titles: list[str]
    anchor: str = ""
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


def index_script(content: Content, link: Callable[[str], str]) -> str:
    """Return a script that holds the records.

    It is a script and no JSON, because a page that was opened from a disk may load scripts, and
    may not fetch files. It holds no TeX: nobody types that, and none can read it in a result.

    Args:
        link: gives the URL of a page by mystmd's.
    """
    records = [_of_term(entry, link) for entry in entries(content)]
    for page in content.pages:
        # The glossary's entries are records of their own.
        sections = list(_sections(page)) if page.slug != GLOSSARY else [_Section([])]
        records += [_of_section(page, section, link) for section in sections]
    numbered = [{"id": number, **record} for number, record in enumerate(records)]
    written = json.dumps(numbered, ensure_ascii=False, separators=(",", ":"))
    return f"window.lmcourseIndex = {written};\n"


def _of_term(entry: Entry, link: Callable[[str], str]) -> dict[str, Any]:
    names = {"name": entry.name, "short": entry.short_form, "section": entry.section}
    return names | {"url": link(entry.url), "text": _tidy([entry.meaning])}


def _of_section(page: Page, section: _Section, link: Callable[[str], str]) -> dict[str, Any]:
    path = "/" if page.slug == "index" else f"/{page.slug}"
    named = page.title.startswith(page.label or " ")
    lead = {} if section.titles else {"lead": page.description}
    return {
        "url": link(path + (f"#{section.anchor}" if section.anchor else "")),
        "page": page.title if named or not page.label else f"{page.label}: {page.title}",
        "title": " › ".join(section.titles),
        "text": _tidy(section.text),
        "code": "\n".join(section.code),
        **lead,
    }


def _tidy(parts: Iterable[str]) -> str:
    return _GAPS.sub(f"{GAP} ", _SPACE.sub(" ", " ".join(parts))).strip()


def _sections(page: Page) -> Iterator[_Section]:
    """Yield the sections of a page, the first without a title."""
    section, open_titles = _Section([]), [(0, "")]
    for node in _blocks(page.tree):
        if node["type"] == "heading" and node.get("html_id"):
            yield section
            open_titles = [each for each in open_titles if each[0] < node["depth"]]
            open_titles.append((node["depth"], text_of(node)))
            section = _Section([title for depth, title in open_titles if depth], node["html_id"])
        elif node["type"] in ("code", "literalinclude"):
            section.code.append(_DOLLARS.sub(GAP, node["value"]))
        else:
            section.text.append(text_of(node))
    yield section


def _blocks(node: Node) -> Iterator[Node]:
    """Yield headings, code and texts in order; of what cells show, the captions."""
    kind = node["type"]
    if node.get("visibility") == "remove":
        return
    if kind == "output":
        yield from _captions(node)
    elif kind in _HOLDERS:
        for child in node.get("children", []):
            yield from _blocks(child)
    elif kind == "code":
        if "value" in node and node.get("visibility") != "hide":  # what only draws is hidden
            yield node
    else:
        yield node


def _captions(output: Node) -> Iterator[Node]:
    metadata = (output.get("jupyter_data") or {}).get("metadata") or {}
    for words in metadata.values():
        if isinstance(words, dict) and words.get("caption"):
            plain = _DOLLARS.sub(GAP, words["caption"]).replace("`", "")
            yield {"type": "text", "value": plain}
