"""Images, and figures, tables and listings with captions."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.book.content import Node
from coursekit.book.render.markup import classes, element, escape
from coursekit.book.render.renderer import NodeRenderer
from lmcourse.show import DENSITY

if TYPE_CHECKING:
    from PIL import Image

_WIDTH = re.compile(r"(\d+(?:\.\d+)?)(px|%|em|rem)?")
_SVG_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)"\s+height="([\d.]+)"')
_DENSE = 150  # dots per inch of an image that has `DENSITY` pixels for each of the page
_ALIGNS = frozenset({"left", "center", "right"})


def image_size(path: Path) -> tuple[int, int] | None:
    """Return an image's width and height in pixels of a page, if they can be read."""
    from PIL import Image, UnidentifiedImageError

    if path.suffix == ".svg":
        size = _SVG_SIZE.search(path.read_text(encoding="utf-8")[:2000])
        return (round(float(size[1])), round(float(size[2]))) if size else None
    try:
        with Image.open(path) as image:
            return in_pixels(image)
    except (OSError, UnidentifiedImageError):
        return None


def in_pixels(image: "Image.Image") -> tuple[int, int]:
    """Return the size of an image on a page: plots have more pixels than the page shows."""
    dense = image.info.get("dpi", (0, 0))[0] >= _DENSE
    return (round(image.width / DENSITY), round(image.height / DENSITY)) if dense else image.size


def picture(
    renderer: NodeRenderer, path: Path, alt: str, *, width: str = "", class_: str = ""
) -> str:
    """Return an image whose space is reserved before it is loaded."""
    size = image_size(path)
    return element(
        "img",
        src=renderer.asset(path),
        alt=alt,
        width=size[0] if size else None,
        height=size[1] if size else None,
        loading="lazy",
        decoding="async",
        class_=class_,
        style=f"width:{width}" if width else None,
    )


def _image(renderer: NodeRenderer, node: Node) -> str:
    url, alt = node.get("url", ""), node.get("alt", "").strip()
    path = renderer.public / url.lstrip("/")
    name = node.get("urlSource") or url
    if not alt:
        renderer.problem(f"the image `{name}` has no alternative text. Describe it.")
    if not path.is_file():
        renderer.problem(f"the image `{name}` is not a file of this book.")
        return escape(alt)
    align = node.get("align") if node.get("align") in _ALIGNS else None
    chosen = classes(node.get("class"), f"align-{align}" if align else None) or ""
    return picture(renderer, path, alt, width=_width(node.get("width")), class_=chosen)


def _width(value: object) -> str:
    match = _WIDTH.fullmatch(str(value or ""))
    return f"{match[1]}{match[2] or 'px'}" if match else ""


def _container(renderer: NodeRenderer, node: Node) -> str:
    children = node.get("children", [])
    words = [child for child in children if child["type"] in ("caption", "legend")]
    rest = [child for child in children if child["type"] not in ("caption", "legend")]
    caption = element("figcaption", renderer.render(words)) if words else ""
    content = renderer.render(rest)
    above = bool(children) and children[0]["type"] == "caption"  # a table's is above it
    parts = any(child.get("subcontainer") for child in rest)
    return element(
        "figure",
        caption + content if above else content + caption,
        id=node.get("html_id"),
        class_=classes(
            f"figure-{node.get('kind') or 'figure'}",
            "subfigures" if parts else None,
            node.get("class"),
        ),
    )


def _caption(renderer: NodeRenderer, node: Node) -> str:
    return renderer.children(node)


def _legend(renderer: NodeRenderer, node: Node) -> str:
    return element("div", renderer.children(node), class_="legend")


def _caption_number(renderer: NodeRenderer, node: Node) -> str:
    return element("span", renderer.children(node), class_="caption-number") + " "


HANDLERS = {
    "image": _image,
    "container": _container,
    "caption": _caption,
    "legend": _legend,
    "captionNumber": _caption_number,
}
