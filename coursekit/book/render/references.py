"""What leads elsewhere: links, references within the book, citations, footnotes."""

from coursekit.book.content import Node
from coursekit.book.render.inline import plain
from coursekit.book.render.markup import classes, element, escape, is_safe
from coursekit.book.render.renderer import NodeRenderer


def target(renderer: NodeRenderer, node: Node) -> str:
    """Return the URL of a link, a card or a button; ``""`` where it may not or need not lead."""
    url = node.get("url", "")
    if node.get("static"):
        return renderer.asset(renderer.public / url.lstrip("/"))
    if not is_safe(url):
        renderer.problem(f"a link to `{url}`, which is neither http(s), mailto nor a page.")
        return ""
    if node.get("internal") and node.get("html_id"):
        url = f"{url}#{node['html_id']}"
    return renderer.link(url) if url else ""


def _link(renderer: NodeRenderer, node: Node) -> str:
    content, url = renderer.children(node), target(renderer, node)
    if not url:
        return content
    return element(
        "a",
        content,
        href=url,
        class_=classes(node.get("class"), "external" if url.startswith("http") else None),
        title=node.get("title"),
        download=True if node.get("static") else None,
    )


def _cross_reference(renderer: NodeRenderer, node: Node) -> str:
    content = renderer.children(node) or escape(node.get("label", ""))
    if not node.get("resolved"):
        renderer.problem(f"the reference to `{node.get('label', '')}` leads nowhere.")
        return content
    anchor = f"#{node['html_id']}" if node.get("html_id") else ""
    url = target(renderer, {"url": (node.get("url", "") if node.get("remote") else "") + anchor})
    if not url:
        return content
    renderer.references.append(url)
    meaning = renderer.definitions.get(node.get("html_id", ""))
    names = classes("reference", "term" if meaning else None)
    return element("a", content, href=url, class_=names, title=meaning)


def _cite(renderer: NodeRenderer, node: Node) -> str:
    key, content = node.get("label", ""), renderer.children(node)
    if node.get("error") or not content:
        renderer.problem(f"the citation `{key}` is not in the bibliography.")
        return escape(key)
    anchors = renderer.citations.setdefault(key, [])
    anchors.append(f"cited-{key}-{len(anchors) + 1}")
    url = renderer.cite(key)
    if not url:
        return content
    return element("a", content, href=url, id=anchors[-1], class_="citation")


def _cite_group(renderer: NodeRenderer, node: Node) -> str:
    cites = [renderer.render([child]) for child in node["children"]]
    if node.get("kind") == "narrative":
        return " and ".join(cites) if len(cites) < 3 else f"{', '.join(cites[:-1])} and {cites[-1]}"
    return f"({'; '.join(cites)})"


def _footnote_reference(renderer: NodeRenderer, node: Node) -> str:
    key, number = node["identifier"], node.get("enumerator", "*")
    count = renderer.footnotes[key] = renderer.footnotes.get(key, 0) + 1
    anchor = f"footnote-{key}-from" + (f"-{count}" if count > 1 else "")
    label = f"Footnote {number}"
    inner = element("a", escape(number), href=f"#footnote-{key}", id=anchor, aria_label=label)
    return element("sup", inner, class_="footnote-reference")


def _footnote(renderer: NodeRenderer, node: Node) -> str:
    key, number = node["identifier"], escape(node.get("enumerator", "*"))
    back = element(
        "a",
        "↩",
        href=f"#footnote-{key}-from",
        class_="back",
        aria_label=f"Back to where footnote {number} is called",
    )
    body = element("div", renderer.children(node) + back)
    mark = element("span", f"{number}.", class_="footnote-number")
    return element("div", mark + body, id=f"footnote-{key}", class_="footnote", role="note")


def _wrapper(renderer: NodeRenderer, node: Node) -> str:
    """Render what mystmd made of a role or directive; what it did not understand is a problem."""
    if not node.get("children"):
        name = node.get("name", "?")
        renderer.problem(f"the role or directive `{name}`, which MyST did not understand.")
        return escape(plain(node))
    return renderer.children(node)


HANDLERS = {
    "link": _link,
    "linkBlock": _link,
    "crossReference": _cross_reference,
    "cite": _cite,
    "citeGroup": _cite_group,
    "footnoteReference": _footnote_reference,
    "footnoteDefinition": _footnote,
    "mystRole": _wrapper,
    "mystDirective": _wrapper,
    "mystRoleError": _wrapper,
    "mystDirectiveError": _wrapper,
}
