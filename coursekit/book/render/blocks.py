"""Paragraphs, headings, lists, quotations, tables, equations, and blocks of the source."""

import re

from coursekit.book.content import Node
from coursekit.book.render.code import highlight
from coursekit.book.render.inline import math_html, plain
from coursekit.book.render.markup import classes, element, escape, folded
from coursekit.book.render.renderer import NodeRenderer

_COMPOUND = re.compile(r"\w+(?:-\w+)+")


def _paragraph(renderer: NodeRenderer, node: Node) -> str:
    content = renderer.children(node)
    return element("p", content, id=node.get("html_id"), class_=classes(node.get("class")))


def _heading(renderer: NodeRenderer, node: Node) -> str:
    renderer.section = plain(node)
    level = min(max(node["depth"] + renderer.heading_shift, 1), 6)
    content, anchor = _unbroken(renderer, node), node.get("html_id")
    if anchor and renderer.permalinks:
        label = f"Link to “{renderer.section}”"
        content += element("a", "#", href=f"#{anchor}", class_="permalink", aria_label=label)
    return element(f"h{level}", content, id=anchor, class_=classes(node.get("class")))


def _unbroken(renderer: NodeRenderer, heading: Node) -> str:
    """Render a heading's children; a phone's narrow line does not end at a word's hyphen."""

    def whole(word: re.Match[str]) -> str:
        return element("span", word[0], class_="unbroken")

    return "".join(
        _COMPOUND.sub(whole, escape(child["value"]))
        if child["type"] == "text"
        else renderer.render([child])
        for child in heading.get("children", [])
    )


def _block(renderer: NodeRenderer, node: Node) -> str:
    """Render a block of the source: a cell, or the text between two ``+++``."""
    if node.get("visibility") == "remove":
        return ""
    content = renderer.children(node)
    if not content:
        return ""
    if node.get("visibility") == "hide":
        content = folded("Show the cell", content)
    cell = "cell" if node.get("kind") == "notebook-code" else None
    # The id of an unlabeled cell is made up; only what an author named is worth a link.
    anchor = node.get("html_id") if node.get("label") or not node.get("kind") else None
    if not (cell or anchor or node.get("class")):
        return content
    return element("div", content, id=anchor, class_=classes(cell, node.get("class")))


def _div(renderer: NodeRenderer, node: Node) -> str:
    return element(
        "div",
        renderer.children(node),
        id=node.get("html_id"),
        class_=classes(node.get("class")),
    )


def _list(renderer: NodeRenderer, node: Node) -> str:
    if not node.get("children"):
        return ""
    tag = "ol" if node.get("ordered") else "ul"
    start = node.get("start")
    tasks = any(item.get("checked") is not None for item in node["children"])
    return element(
        tag,
        renderer.children(node),
        id=node.get("html_id"),
        start=start if tag == "ol" and start not in (None, 1) else None,
        class_=classes(node.get("class"), "tasks" if tasks else None),
    )


def _list_item(renderer: NodeRenderer, node: Node) -> str:
    children = node.get("children", [])
    paragraphs = [child for child in children if child["type"] == "paragraph"]
    if len(paragraphs) == 1 and children[0] is paragraphs[0] and not paragraphs[0].get("html_id"):
        content = renderer.children(paragraphs[0]) + renderer.render(children[1:])
    else:
        content = renderer.render(children)
    if node.get("checked") is not None:
        done = bool(node["checked"])
        label = "done" if done else "to do"
        box = element("input", type="checkbox", checked=done, disabled=True, aria_label=label)
        content = f"{box} {content}"
    return element("li", content, id=node.get("html_id"))


def _quote(renderer: NodeRenderer, node: Node) -> str:
    return element(
        "blockquote",
        renderer.children(node),
        id=node.get("html_id"),
        class_=classes(node.get("class")),
    )


def _definitions(renderer: NodeRenderer, node: Node) -> str:
    return element("dl", renderer.children(node), id=node.get("html_id"))


def _term(renderer: NodeRenderer, node: Node) -> str:
    return element("dt", renderer.children(node), id=node.get("html_id"))


def _description(renderer: NodeRenderer, node: Node) -> str:
    return element("dd", renderer.children(node))


def _glossary(renderer: NodeRenderer, node: Node) -> str:
    return element("div", renderer.children(node), id=node.get("html_id"), class_="glossary")


def _table(renderer: NodeRenderer, node: Node) -> str:
    rows = node.get("children", [])
    count = 0
    while count < len(rows) and all(cell.get("header") for cell in rows[count]["children"]):
        count += 1
    head = "".join(_row(renderer, row, "col") for row in rows[:count])
    body = "".join(_row(renderer, row, "row") for row in rows[count:])
    parts = (element("thead", head) if head else "") + (element("tbody", body) if body else "")
    table = element("table", parts, id=node.get("html_id"), class_=classes(node.get("class")))
    return element("div", element("div", table, class_="scroll"), class_="table")


def _row(renderer: NodeRenderer, row: Node, scope: str) -> str:
    return element("tr", "".join(_cell(renderer, cell, scope) for cell in row["children"]))


def _cell(renderer: NodeRenderer, cell: Node, scope: str) -> str:
    header = cell.get("header")
    align = cell.get("align") if cell.get("align") in ("left", "center", "right") else None
    children = cell.get("children", [])
    if len(children) == 1 and children[0]["type"] == "paragraph":
        children = children[0]["children"]
    return element(
        "th" if header else "td",
        renderer.render(children),
        scope=scope if header else None,
        colspan=cell.get("colspan"),
        rowspan=cell.get("rowspan"),
        class_=f"align-{align}" if align else None,
    )


def _math(renderer: NodeRenderer, node: Node) -> str:
    anchor, number = node.get("html_id"), node.get("enumerator")
    content = element("div", math_html(renderer, node), class_="scroll")
    if number:
        shown = f"({escape(number)})"
        if anchor:
            label = f"Link to equation {number}"
            shown = element("a", shown, href=f"#{anchor}", aria_label=label)
        content += element("span", shown, class_="equation-number")
    return element("div", content, id=anchor, class_="equation")


def _code(renderer: NodeRenderer, node: Node) -> str:
    if node.get("visibility") == "remove":
        return ""
    shown = highlight(
        node["value"],
        node.get("lang") or "",
        filename=node.get("filename"),
        numbers_from=(node.get("startingLineNumber") or 1) if node.get("showLineNumbers") else None,
        emphasized=node.get("emphasizeLines") or (),
    )
    if node.get("visibility") == "hide":
        return folded("Show the code", shown)
    anchor = node.get("html_id")
    return element("div", shown, id=anchor) if anchor else shown


def _pass(renderer: NodeRenderer, node: Node) -> str:
    return renderer.children(node)


HANDLERS = {
    "root": _pass,
    "block": _block,
    "div": _div,
    "paragraph": _paragraph,
    "heading": _heading,
    "thematicBreak": lambda _, node: "<hr>",
    "blockBreak": lambda _, node: "",
    "list": _list,
    "listItem": _list_item,
    "blockquote": _quote,
    "definitionList": _definitions,
    "definitionTerm": _term,
    "definitionDescription": _description,
    "glossary": _glossary,
    "table": _table,
    "math": _math,
    "code": _code,
    "embed": _pass,
    "include": _pass,
    "bibliography": lambda _, node: "",  # a page's works are listed at its end
}
