"""What a deck carries in itself: images as data, and the fonts that its equations use."""

import base64
import mimetypes
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

_FACE = re.compile(r"@font-face\{(?P<body>[^}]*)\}")
_RULE = re.compile(r"(?P<selectors>[^{}@]+)\{(?P<body>[^}]*)\}")
_FAMILY = re.compile(r"font(?:-family)?:[^;}]*?\"?(KaTeX_\w+)")
_STYLE = re.compile(r"font-style:(\w+)")
_WEIGHT = re.compile(r"font-weight:(\w+)")
_URL = re.compile(r"url\((?P<path>[^)]+)\)")
_CLASSES = re.compile(r'class="([^"]*)"')
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_WEIGHTS = {"bold": "700", "normal": "400"}
_BASE = "KaTeX_Main"


@dataclass(frozen=True)
class _Font:
    family: str
    style: str
    weight: str


def data_uri(path: Path) -> str:
    """Return a file's bytes as a ``data:`` URL."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if path.suffix == ".woff2":
        kind = "font/woff2"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def equation_style(style_sheet: Path, html: str) -> str:
    """Return KaTeX's style sheet for some HTML: it holds the fonts that are used there, no other.

    Without an equation in it, the answer is empty.
    """
    used = {name for names in _CLASSES.findall(html) for name in names.split()}
    if "katex" not in used:
        return ""
    text = style_sheet.read_text(encoding="utf-8")
    fonts = set(_fonts(text, used)) | {_Font(_BASE, "normal", "400")}

    def face(match: re.Match[str]) -> str:
        body = match["body"]
        if _font(body) not in fonts:
            return ""
        path = style_sheet.parent / _URL.search(body)["path"]  # type: ignore[index]
        return f"@font-face{{{_URL.sub(f'url({data_uri(path)})', body)}}}"

    return _FACE.sub(face, text)


def _fonts(text: str, used: Set[str]) -> Iterator[_Font]:
    """Yield the fonts that those rules name whose classes are all in use."""
    for rule in _RULE.finditer(_FACE.sub("", text)):
        body = rule["body"]
        if not (_FAMILY.search(body) or _STYLE.search(body) or _WEIGHT.search(body)):
            continue
        selectors = rule["selectors"].split(",")
        if any(set(_CLASS.findall(selector)) <= used for selector in selectors):
            yield _font(body)


def _font(body: str) -> _Font:
    family, style, weight = _FAMILY.search(body), _STYLE.search(body), _WEIGHT.search(body)
    number = weight[1] if weight else "400"
    return _Font(
        family[1] if family else _BASE,
        style[1] if style else "normal",
        _WEIGHTS.get(number, number),
    )
