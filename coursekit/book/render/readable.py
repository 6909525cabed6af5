"""Text of nodes for those who see no markup: search results, tooltips. Mathematics without TeX."""

import re
from xml.etree import ElementTree

from coursekit.book.content import Node

GAP = "…"  # what cannot be written in one line
_LONGEST = 40  # characters of an expression
_MATHML = re.compile(r"<math.*?</math>", re.DOTALL)
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u200b"))
_RELATIONS = frozenset("=<>≤≥≈≠∼∝→∈≪≫≡")
_NORMAL = "0123456789+-−=()aehijklmnoprstuvxβγρφχ"
_SUBSCRIPTS = dict(zip(_NORMAL, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
_SUPERSCRIPTS = dict(
    zip(
        "0123456789+-−=()abcdehijklmnoprstuvwxyz⊤T∗*′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᵀ**′",
        strict=True,
    )
)
_ACCENTS = {
    "^": "\u0302",
    "ˆ": "\u0302",
    "~": "\u0303",
    "˜": "\u0303",
    "ˉ": "\u0304",
    "¯": "\u0304",
}
_JOINED = frozenset({"math", "mrow", "mstyle", "mpadded", "menclose"})


class _Unreadable(Exception):
    """An expression needs more than one line."""


def text_of(node: Node) -> str:
    """Return a node's text in one line."""
    kind = node["type"]
    if kind == "inlineMath":
        return maths(str(node.get("html", "")))
    if kind == "math":
        return GAP
    if kind in ("comment", "mystTarget", "footnoteReference", "footnoteDefinition"):
        return ""
    if kind == "break":
        return " "
    if "children" in node:
        return "".join(map(text_of, node["children"]))
    return str(node.get("value", ""))


def maths(html: str) -> str:
    """Return an expression in one line, from KaTeX's HTML: ``√d``, ``hₜ``; else `GAP`."""
    found = _MATHML.search(html)
    if not found:
        return GAP
    try:
        line = _line(ElementTree.fromstring(found[0])).strip()
    except (ElementTree.ParseError, _Unreadable):
        return GAP
    return line if 0 < len(line) <= _LONGEST else GAP


def _line(node: ElementTree.Element) -> str:
    kind, parts = node.tag.rpartition("}")[2], list(node)
    if kind in ("mi", "mn", "mtext"):
        return (node.text or "").translate(_INVISIBLE)
    if kind == "mo":
        sign = (node.text or "").translate(_INVISIBLE)
        return f" {sign} " if sign in _RELATIONS else sign
    if kind == "mspace":
        return " "
    if kind == "semantics":
        return _line(parts[0])
    if kind in _JOINED:
        return "".join(map(_line, parts))
    if kind == "msqrt":
        return "√" + _grouped("".join(map(_line, parts)))
    if kind == "mfrac":
        return f"{_grouped(_line(parts[0]))}/{_grouped(_line(parts[1]))}"
    if kind in ("msub", "msup", "msubsup"):
        scripts = zip(parts[1:], [_SUBSCRIPTS, _SUPERSCRIPTS][kind == "msup" :], strict=False)
        return _line(parts[0]) + "".join(_script(_line(part), table) for part, table in scripts)
    if kind == "mover" and _line(parts[1]) in _ACCENTS:
        return _line(parts[0]) + _ACCENTS[_line(parts[1])]
    raise _Unreadable(kind)


def _script(text: str, table: dict[str, str]) -> str:
    """Return an index or exponent: raised or lowered; a capital letter stays as it is."""
    text = text.strip()
    if all(letter in table for letter in text):
        return "".join(table[letter] for letter in text)
    if table is _SUBSCRIPTS and len(text) == 1:
        return text
    raise _Unreadable(text)


def _grouped(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 or text.isalnum() else f"({text})"
