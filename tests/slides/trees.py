"""Small syntax trees, as mystmd makes them of an executed notebook."""

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

from coursekit.book.content import Content, Node, Page

KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mi>{tex}</mi>'
    '<annotation encoding="application/x-tex">{tex}</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="base"><span class="mord mathnormal">'
    "{tex}</span></span></span></span>"
)
LONG = (
    "The first sentence says it. The second one explains at some length what the first one has "
    "said, so that a reader who was not there understands it, too."
)


def text(value: str) -> Node:
    return {"type": "text", "value": value}


def p(*parts: str | Node) -> Node:
    children = [text(part) if isinstance(part, str) else part for part in parts]
    return {"type": "paragraph", "children": children}


def math(tex: str) -> Node:
    return {"type": "inlineMath", "value": tex, "html": KATEX.format(tex=tex)}


def equation(tex: str, number: str, name: str) -> Node:
    html = f'<span class="katex-display">{KATEX.format(tex=tex)}</span>'
    return {"type": "math", "value": tex, "html": html, "enumerator": number, "html_id": name}


def heading(words: str, depth: int = 2) -> Node:
    name = words.lower().replace(" ", "-")
    return {"type": "heading", "depth": depth, "html_id": name, "children": [text(words)]}


def block(*children: Node, kind: str | None = None, **marks: str) -> Node:
    """A block of Markdown, with its mark and further ones: ``block(…, kind="slide")``."""
    node: Node = {"type": "block", "kind": "notebook-content", "children": list(children)}
    slideshow = marks | ({"slide_type": kind} if kind else {})
    return node | ({"data": {"slideshow": slideshow}} if slideshow else {})


def cell(
    source: str,
    *outputs: dict[str, Any],
    kind: str | None = None,
    hide: bool = False,
    **marks: str,
) -> Node:
    code: Node = {"type": "code", "lang": "python", "executable": True, "value": source}
    if hide:
        code["visibility"] = "hide"
    shown = [{"type": "output", "jupyter_data": each} for each in outputs]
    node = block(code, {"type": "outputs", "children": shown}, kind=kind, **marks)
    return node | {"kind": "notebook-code"}


def stream(words: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": words}


def display(**forms: str) -> dict[str, Any]:
    """An output: ``display(text_html="<b>")`` has the form ``text/html``."""
    data = {name.replace("_", "/", 1): {"content": form} for name, form in forms.items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def figure(alt: str = "A square.", **words: str) -> dict[str, Any]:
    """A figure; ``caption="It is gray."`` and ``title="Figure 1"`` are below it."""
    output = display(image_png=base64.b64encode(png()).decode(), text_plain=alt)
    return output | {"metadata": {"image/png": {"alt": alt} | words}}


def png(width: int = 800, height: int = 400) -> bytes:
    """A gray image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xaa" * width) * height)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def question(words: str, answer: str) -> list[Node]:
    title = {"type": "admonitionTitle", "children": [text("Question")]}
    summary = {"type": "summary", "children": [text("Answer")]}
    return [
        {"type": "admonition", "class": "tip", "children": [title, p(words)]},
        {"type": "details", "children": [summary, p(answer)]},
    ]


def bullets(*items: str, ordered: bool = False) -> Node:
    children = [{"type": "listItem", "children": [p(item)]} for item in items]
    return {"type": "list", "ordered": ordered, "key": "list", "children": children}


def cite(words: str, key: str) -> Node:
    return {"type": "cite", "label": key, "children": [text(words)]}


def reference(words: str, name: str) -> Node:
    """A reference to an equation of the same page."""
    node: Node = {"type": "crossReference", "resolved": True, "html_id": name}
    return node | {"children": [text(words)]}


def page(*blocks: Node, **facts: Any) -> Page:
    known: dict[str, Any] = {
        "slug": "a-chapter",
        "title": "A chapter",
        "description": "What is a slide?",
        "bibliography": {"elman1990": "Elman, J. L. (1990). <i>Finding Structure in Time</i>."},
        "source": "chapters/02-a-chapter.md",
        "label": "Chapter 02",
    }
    return Page(tree={"type": "root", "children": list(blocks)}, **known | facts)


def book(chapter: Page, public: Path) -> Content:
    return Content("The course", "A course.", (chapter,), public)
