"""The figures of a slide: how large their files are, and what they say of themselves."""

import base64
import io
import re
from pathlib import Path
from typing import Any

from coursekit.book.content import Node
from coursekit.book.render.figures import image_size, in_pixels
from coursekit.book.slides import sizes
from coursekit.book.slides.sizes import ImageSizes

_SVG = "image/svg+xml"


def image_sizes(public: Path) -> ImageSizes:
    """Return what gives the size of the image that an output or a node of a page shows.

    Args:
        public: mystmd's folder of extracted figures.
    """

    def size(node: Node) -> tuple[float, float] | None:
        if node["type"] == "image":
            path = public / node.get("url", "").lstrip("/")
            return (image_size(path) or (4, 3)) if path.is_file() else (4, 3)
        for child in node.get("children", []):
            if found := size(child):
                return found
        data = node.get("jupyter_data") or {}
        mime = sizes.image_form(data)
        return _size_of(mime, data["data"][mime], public) if mime else None

    return size


def _size_of(mime: str, entry: Any, public: Path) -> tuple[float, float]:
    from PIL import Image

    if isinstance(entry, dict) and "path" in entry:
        return image_size(public / entry["path"].lstrip("/")) or (4, 3)
    text = str(entry["content"] if isinstance(entry, dict) else entry)
    if mime == _SVG:
        found = re.search(r'width="([\d.]+)"\s+height="([\d.]+)"', text[:2000])
        return (float(found[1]), float(found[2])) if found else (4, 3)
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return in_pixels(image)


def diagram(node: Node, public: Path) -> tuple[str, str] | None:
    """Return the SVG that a cell shows, and its alternative text."""
    for output in node.get("children", []):
        data = output.get("jupyter_data") or {}
        entry = data.get("data", {}).get(_SVG)
        if entry is not None:
            alt = (data.get("metadata") or {}).get(_SVG, {}).get("alt", "")
            return _text(entry, public), str(alt)
    return None


def smallest(output: Node) -> float:
    """Return the size of the smallest type in a figure, in pixels of its image; 0 if unknown."""
    for words in ((output.get("jupyter_data") or {}).get("metadata") or {}).values():
        if isinstance(words, dict) and words.get("smallest"):
            return float(words["smallest"])
    return 0.0


def _text(entry: Any, public: Path) -> str:
    if isinstance(entry, dict) and "path" in entry:
        return (public / entry["path"].lstrip("/")).read_text(encoding="utf-8")
    return str(entry["content"] if isinstance(entry, dict) else entry)
