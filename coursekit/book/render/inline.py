"""Text and its marks."""

import re
from collections.abc import Callable

from coursekit.book.content import Node
from coursekit.book.render.markup import classes, element, escape
from coursekit.book.render.renderer import NodeRenderer

_SUBSCRIPT = re.compile(r"(?<=[A-Za-z)\]])\d+")

_SHORT = 24  # letters of TeX that stay on one line
# The TeX in KaTeX's MathML, and a namespace that HTML does not need: a tenth of a formula.
_NEEDLESS = re.compile(
    r'<annotation\b.*?</annotation>|</?semantics>| xmlns="http://www.w3.org/1998/Math/MathML"',
    re.DOTALL,
)


def plain(node: Node) -> str:
    """Return a node's text, without any markup."""
    if node.get("children"):
        return "".join(plain(child) for child in node["children"])
    return str(node.get("value", ""))


def _text(_: NodeRenderer, node: Node) -> str:
    return escape(node["value"])


def _wrap(tag: str) -> Callable[[NodeRenderer, Node], str]:
    def handler(renderer: NodeRenderer, node: Node) -> str:
        return element(
            tag,
            renderer.children(node),
            id=node.get("html_id"),
            class_=classes(node.get("class")),
        )

    return handler


def _inline_code(_: NodeRenderer, node: Node) -> str:
    return element("code", escape(node["value"]))


def _small_caps(renderer: NodeRenderer, node: Node) -> str:
    return element("span", renderer.children(node), class_="small-caps")


def _abbreviation(renderer: NodeRenderer, node: Node) -> str:
    return element("abbr", renderer.children(node), title=node.get("title"))


def _chemical(_: NodeRenderer, node: Node) -> str:
    formula = escape(node["value"])
    return element("span", _SUBSCRIPT.sub(r"<sub>\g<0></sub>", formula), class_="chemical")


def _quantity(_: NodeRenderer, node: Node) -> str:
    number, unit = node.get("number", ""), node.get("unit", "")
    words = f"{number}\u00a0{unit}" if number and unit else node.get("value", "")
    return element("span", escape(words), title=node.get("alt"))


def _math(renderer: NodeRenderer, node: Node) -> str:
    short = " short" if len(node["value"]) <= _SHORT else ""
    return element("span", math_html(renderer, node), class_=f"math-inline{short}")


def math_html(renderer: NodeRenderer, node: Node) -> str:
    """Return KaTeX's HTML, which mystmd made; an equation that it cannot read is a problem."""
    if "html" in node:
        return _NEEDLESS.sub("", str(node["html"]))
    reason = node.get("message", "KaTeX made nothing of it")
    renderer.problem(f"the equation `{node.get('value', '')}` is not right: {reason}.")
    return element("code", escape(node.get("value", "")))


def _nothing(_: NodeRenderer, node: Node) -> str:
    return ""


def _evaluated(renderer: NodeRenderer, node: Node) -> str:
    renderer.problem(f"{{eval}}`{node.get('value', '')}` has no value. Print it in a cell instead.")
    return element("code", escape(node.get("value", "")))


def _html(renderer: NodeRenderer, node: Node) -> str:
    renderer.problem(f"raw HTML `{node.get('value', '')[:60]}`. Write it in Markdown or a cell.")
    return ""


def _raw(renderer: NodeRenderer, node: Node) -> str:
    if node.get("lang") in ("latex", "tex", "typst"):
        return ""  # meant for print alone
    return _html(renderer, node)


HANDLERS = {
    "text": _text,
    "emphasis": _wrap("em"),
    "strong": _wrap("strong"),
    "delete": _wrap("del"),
    "underline": _wrap("u"),
    "subscript": _wrap("sub"),
    "superscript": _wrap("sup"),
    "keyboard": _wrap("kbd"),
    "span": _wrap("span"),
    "smallcaps": _small_caps,
    "inlineCode": _inline_code,
    "abbreviation": _abbreviation,
    "chemicalFormula": _chemical,
    "si": _quantity,
    "inlineMath": _math,
    "inlineExpression": _evaluated,
    "break": lambda _, node: "<br>",
    "html": _html,
    "raw": _raw,
    "comment": _nothing,
    "mystComment": _nothing,
    "mystTarget": _nothing,
}
