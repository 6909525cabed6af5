"""What a reference to another page shows before it is followed: terms and equations.

What is on the same page, the script takes from there: equations, cited works, footnotes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from coursekit.book.content import Content, Node
from coursekit.book.render.markup import element, escape
from coursekit.book.render.renderer import NodeRenderer
from coursekit.book.site.terms import entries
from coursekit.notebooks.glossary import PAGE as GLOSSARY


def previews_script(
    content: Content, references: Iterable[str], renderer: NodeRenderer, page_of: Mapping[str, str]
) -> str:
    """Return a script that holds the HTML of each target, by its URL.

    It is a script and no JSON, because a page that was opened from a disk may load scripts, and
    may not fetch files.

    Args:
        references: the URLs that the pages' references have.
        renderer: renders the targets.
        page_of: the slug of each page by its URL.
    """
    wanted: dict[str, set[str]] = {}
    for url in references:
        name, _, anchor = url.partition("#")
        if name in page_of and anchor:
            wanted.setdefault(name, set()).add(unquote(anchor))
    found: dict[str, str] = {}
    for name, anchors in sorted(wanted.items()):
        if page_of[name] == GLOSSARY:
            shown = _terms(content, renderer)
        else:
            shown = _equations(content.page(page_of[name]).tree, renderer)
        found |= {f"{name}#{anchor}": html for anchor, html in shown if anchor in anchors}
    written = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"window.lmcoursePreviews = {written};\n"


def _terms(content: Content, renderer: NodeRenderer) -> Iterator[tuple[str, str]]:
    for entry in entries(content):
        name = element("p", element("strong", element("dfn", escape(entry.name))))
        yield entry.anchor, name + renderer.render(entry.described)


def _equations(node: Node, renderer: NodeRenderer) -> Iterator[tuple[str, str]]:
    if node["type"] == "math" and node.get("html_id"):
        bare = {key: value for key, value in node.items() if key != "html_id"}  # used once already
        yield node["html_id"], renderer.render([bare])
    for child in node.get("children", []):
        yield from _equations(child, renderer)
