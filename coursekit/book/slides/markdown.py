"""From the syntax tree back to plain Markdown, for a notebook whose viewer knows no directives.

Equations keep their numbers, references and citations become their words, an admonition a
quotation, a dropdown HTML's own.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from coursekit.book.content import Node
from coursekit.book.slides.assets import data_uri
from lmcourse.errors import CourseError

_SPECIAL = re.compile(r"([\\`*_\[\]<>$#|~])")
_BOXES = ("admonition", "exercise", "solution", "proof", "aside")
_TITLES = ("admonitionTitle", "summary")
_MARKS = {
    "emphasis": ("*", "*"),
    "strong": ("**", "**"),
    "delete": ("~~", "~~"),
    "subscript": ("<sub>", "</sub>"),
    "superscript": ("<sup>", "</sup>"),
    "underline": ("<u>", "</u>"),
    "keyboard": ("<kbd>", "</kbd>"),
}
_DROPPED = ("comment", "mystComment", "mystTarget", "raw", "footnoteReference")


class Markdown:
    """Writes nodes as plain Markdown.

    Args:
        public: mystmd's folder of figures, which are written into the text as data.
        source: its name, for messages.
    """

    def __init__(self, public: Path, source: str) -> None:
        self.public, self.source = public, source
        self._writers: dict[str, Callable[[Node], str]] = {
            "math": self._math,
            "code": self._code,
            "list": self._list,
            "table": self._table,
            "details": self._details,
            "blockquote": lambda node: _quoted(self.blocks(node["children"])),
            "heading": lambda node: f"{'#' * node['depth']} {self.line(node['children'])}",
            "image": self._image,
            "container": lambda node: self.blocks(node["children"]),
            "caption": lambda node: self.blocks(node["children"]),
            "legend": lambda node: self.blocks(node["children"]),
            "definitionList": self._definitions,
            "block": lambda node: self.blocks(node.get("children", [])),
            "div": lambda node: self.blocks(node.get("children", [])),
            "paragraph": lambda node: self.line(node["children"]),
            **dict.fromkeys(_BOXES, self._box),
        }

    def blocks(self, nodes: Sequence[Node]) -> str:
        """Return blocks, an empty line between them.

        Raises:
            CourseError: a node has no form in plain Markdown.
        """
        written = (self._block(node) for node in nodes if node["type"] not in _DROPPED)
        return "\n\n".join(text for text in written if text)

    def line(self, nodes: Sequence[Node]) -> str:
        """Return the content of a paragraph.

        Raises:
            CourseError: a node has no form in plain Markdown.
        """
        return "".join(map(self._inline, nodes))

    def _block(self, node: Node) -> str:
        writer = self._writers.get(node["type"])
        return writer(node) if writer else self._inline(node)

    def _inline(self, node: Node) -> str:
        kind, children = node["type"], node.get("children", [])
        if kind in _DROPPED:
            return ""
        if kind == "text":
            return _SPECIAL.sub(r"\\\1", node["value"])
        if kind == "inlineCode":
            ticks = "``" if "`" in node["value"] else "`"
            return f"{ticks}{node['value']}{ticks}"
        if kind == "inlineMath":
            return f"${node['value']}$"
        if kind == "break":
            return "<br>"
        if kind in _MARKS:
            before, after = _MARKS[kind]
            return f"{before}{self.line(children)}{after}"
        if kind == "link" and re.match(r"https?:", node.get("url", "")):
            return f"[{self.line(children)}]({node['url']})"
        if kind == "citeGroup":
            narrative = node.get("kind") == "narrative"
            cited = (", " if narrative else "; ").join(self._inline(child) for child in children)
            return cited if narrative else f"({cited})"
        if children:
            return self.line(children)
        if kind in ("abbreviation", "span", "link", "crossReference", "captionNumber", "cite"):
            return ""
        raise CourseError(
            f"{self.source}: a node of type {kind!r} cannot be shown in the live slides.",
            "Leave it out of the slides with the mark `skip`, or write it in plain Markdown.",
        )

    def _math(self, node: Node) -> str:
        number = f" \\tag{{{node['enumerator']}}}" if node.get("enumerator") else ""
        return f"$$\n{node['value']}{number}\n$$"

    def _code(self, node: Node) -> str:
        return f"```{node.get('lang') or ''}\n{node['value']}\n```"

    def _list(self, node: Node) -> str:
        items = []
        for number, child in enumerate(node["children"], node.get("start") or 1):
            mark = f"{number}. " if node.get("ordered") else "- "
            parts = child.get("children", [])
            whole = all(part["type"] in self._writers for part in parts)
            text = self.blocks(parts) if whole else self.line(parts)
            items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
        return "\n".join(items)

    def _box(self, node: Node) -> str:
        head = [child for child in node["children"] if child["type"] in _TITLES]
        rest = [child for child in node["children"] if child["type"] not in _TITLES]
        title = self.line(head[0]["children"]) if head else node["type"].capitalize()
        return _quoted(f"**{title}**\n\n{self.blocks(rest)}")

    def _details(self, node: Node) -> str:
        head = [child for child in node["children"] if child["type"] in _TITLES]
        rest = [child for child in node["children"] if child["type"] not in _TITLES]
        title = self.line(head[0]["children"]) if head else "More"
        summary = f"<summary>{title}</summary>"
        return f"<details>{summary}\n\n{self.blocks(rest)}\n\n</details>"

    def _table(self, node: Node) -> str:
        rows = [
            "| " + " | ".join(self._cell(cell) for cell in row["children"]) + " |"
            for row in node["children"]
        ]
        rule = "|" + "---|" * len(node["children"][0]["children"])
        return "\n".join([rows[0], rule, *rows[1:]])

    def _cell(self, cell: Node) -> str:
        return " ".join(map(self._block, cell.get("children", []))).replace("\n", " ")

    def _definitions(self, node: Node) -> str:
        parts = []
        for child in node["children"]:
            term = child["type"] == "definitionTerm"
            text = self._cell(child)
            parts.append(f"**{text}**" if term else text)
        return "\n\n".join(parts)

    def _image(self, node: Node) -> str:
        path = self.public / node["url"].lstrip("/")
        return f"![{node.get('alt', '')}]({data_uri(path)})"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
