"""Boxes: admonitions, dropdowns, tabs, cards, exercises, proofs, asides."""

import re

from coursekit.book.content import Node
from coursekit.book.render.inline import plain
from coursekit.book.render.markup import classes, element, escape
from coursekit.book.render.references import target
from coursekit.book.render.renderer import NodeRenderer

_LINK = re.compile(r"</?a\b[^>]*>")
ADMONITIONS = {
    "note": "Note",
    "attention": "Attention",
    "caution": "Caution",
    "danger": "Danger",
    "error": "Error",
    "hint": "Hint",
    "important": "Important",
    "seealso": "See also",
    "tip": "Tip",
    "warning": "Warning",
}


def _titled(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the children of a box's title, and the rest."""
    children = node.get("children", [])
    if children and children[0]["type"] in ("admonitionTitle", "summary"):
        return children[0].get("children", []), children[1:]
    return [], children


def _box(title: str, body: str, node: Node, names: str, *, folded: bool | None = None) -> str:
    """Write a box: with ``folded`` one that opens and closes, else a plain one."""
    anchor, class_ = node.get("html_id"), classes("box", names, node.get("class"))
    body = element("div", body, class_="box-body")
    if folded is not None:
        summary = element("summary", _LINK.sub("", title) or "Show")  # it is a button itself
        return element("details", summary + body, id=anchor, class_=class_, open=not folded)
    head = element("p", title, class_="box-title") if title else ""
    return element("div", head + body, id=anchor, class_=class_, role="note")


def _admonition(renderer: NodeRenderer, node: Node) -> str:
    words = (node.get("class") or "").split()
    kind = node.get("kind") or next((word for word in words if word in ADMONITIONS), "note")
    head, body = _titled(node)
    title = renderer.render(head)
    if not title and node.get("kind"):
        title = ADMONITIONS.get(kind, "")
    asks = "question" if title == "Question" else None
    folded = not node.get("open") if "dropdown" in words else None
    names = classes("admonition", kind, asks) or ""
    return _box(title, renderer.render(body), node, names, folded=folded)


def _details(renderer: NodeRenderer, node: Node) -> str:
    head, body = _titled(node)
    title, folded = renderer.render(head), not node.get("open")
    names = "answer" if title in ("Answer", "Solution") else "dropdown"
    return _box(title, renderer.render(body), node, names, folded=folded)


def _exercise(renderer: NodeRenderer, node: Node) -> str:
    head, body = _titled(node)
    title = _numbered("Exercise", node, renderer.render(head))
    folded = True if "dropdown" in (node.get("class") or "").split() else None
    return _box(title, renderer.render(body), node, "exercise", folded=folded)


def _solution(renderer: NodeRenderer, node: Node) -> str:
    head, body = _titled(node)
    title = renderer.render(head) or "Solution"
    return _box(title, renderer.render(body), node, "solution", folded=True)


def _proof(renderer: NodeRenderer, node: Node) -> str:
    head, body = _titled(node)
    kind = node.get("kind") or "proof"
    numbered = {} if kind == "proof" else node  # the number of a proof says nothing
    title = _numbered(kind.capitalize(), numbered, renderer.render(head))
    folded = True if "dropdown" in (node.get("class") or "").split() else None
    return _box(title, renderer.render(body), node, f"proof {kind}", folded=folded)


def _numbered(kind: str, node: Node, name: str) -> str:
    number = node.get("enumerator")
    label = escape(f"{kind}\u00a0{number}" if number else kind)
    return f"{label} ({name})" if name else label


def _aside(renderer: NodeRenderer, node: Node) -> str:
    head, body = _titled(node)
    return _box(renderer.render(head), renderer.render(body), node, "aside")


def _tabs(renderer: NodeRenderer, node: Node) -> str:
    """Write tabs as titled parts, one after the other: the page's script makes tabs of them."""
    parts = []
    for item in node.get("children", []):
        title = element("p", escape(item.get("title", "")), class_="tab-title")
        parts.append(
            element(
                "div",
                title + renderer.children(item),
                class_="tab",
                data_sync=item.get("sync"),
                data_selected=True if item.get("selected") else None,
            )
        )
    return element("div", "".join(parts), class_="tabs", id=node.get("html_id"))


def _grid(renderer: NodeRenderer, node: Node) -> str:
    columns = max(node.get("columns") or [2])
    return element("div", renderer.children(node), class_=f"grid columns-{min(columns, 4)}")


def _card(renderer: NodeRenderer, node: Node) -> str:
    parts: dict[str, list[Node]] = {"header": [], "cardTitle": [], "footer": [], "body": []}
    for child in node.get("children", []):
        parts[child["type"] if child["type"] in parts else "body"].append(child)
    url = target(renderer, node) if node.get("url") else ""
    title = "".join(renderer.children(part) for part in parts["cardTitle"])
    if url and title:
        title = element("a", title, href=url, class_="card-link")
    inner = "".join(
        element("div", content, class_=f"card-{name}")
        for name, content in (
            ("header", "".join(renderer.children(part) for part in parts["header"])),
            ("title", title),
            ("body", renderer.render(parts["body"])),
            ("footer", "".join(renderer.children(part) for part in parts["footer"])),
        )
        if content
    )
    class_ = classes("card", "linked" if url else None, node.get("class"))
    if url and not title:
        return _whole_card(renderer, node, inner, url, class_)
    return element("div", inner, class_=class_, id=node.get("html_id"))


def _whole_card(
    renderer: NodeRenderer, node: Node, inner: str, url: str, class_: str | None
) -> str:
    if "<a " in inner:  # a link in a link
        renderer.problem(f"the card “{plain(node)[:60]}” holds links: give it a title to link.")
    return element("a", inner, href=url, class_=class_, id=node.get("html_id"))


def _outside(renderer: NodeRenderer, node: Node) -> str:
    what = node.get("src") or node.get("esm") or "content"
    renderer.problem(
        f"`{what}` in a “{node['type']}”, which needs the network or a server. "
        "Show a figure, or a widget from a cell."
    )
    return ""


HANDLERS = {
    "admonition": _admonition,
    "details": _details,
    "exercise": _exercise,
    "solution": _solution,
    "proof": _proof,
    "aside": _aside,
    "tabSet": _tabs,
    "grid": _grid,
    "card": _card,
    "iframe": _outside,
    "mermaid": _outside,
    "myst": _outside,
    "anywidget": _outside,
}
