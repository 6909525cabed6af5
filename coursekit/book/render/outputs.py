"""What cells show: printed text, errors, figures, tables, widgets.

Of the forms that an output has, the first of these is shown: an image with its words; HTML;
Markdown; SVG; LaTeX; text.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from coursekit.book.content import Node
from coursekit.book.render import mathml
from coursekit.book.render.code import highlight
from coursekit.book.render.figures import picture
from coursekit.book.render.markup import classes, element, escape, folded
from coursekit.book.render.night import for_night
from coursekit.book.render.renderer import NodeRenderer

IMAGES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_SVG = "image/svg+xml"
LONGEST = 32_000  # characters of a printed text on a page; the rest is in a file beside it
_OWN_STYLE = re.compile(r' style="[^"]*"')
_PYGMENTS = re.compile(r'\A<style>.*?</style>\s*<div class="highlight">', re.DOTALL)
_NAME = re.compile(r"[^a-z0-9]+")
_FILENAME = re.compile(r"\A# (?P<name>[\w./-]+\.py)\n")


def _outputs(renderer: NodeRenderer, node: Node) -> str:
    if node.get("visibility") == "remove":
        return ""
    content = renderer.render(_merged(node.get("children", [])))
    if not content:
        return ""
    shown = element("div", content, class_="outputs")
    if node.get("visibility") == "hide":
        return folded("Show the output", shown)
    return shown


def _merged(outputs: list[Node]) -> list[Node]:
    """Join printed texts that follow each other: Jupyter cuts a stream where it likes."""
    joined: list[Node] = []
    for output in outputs:
        data = output.get("jupyter_data", {})
        before = joined[-1]["jupyter_data"] if joined else {}
        if _is_short_stream(data) and _is_short_stream(before) and data["name"] == before["name"]:
            text = before["text"] + data["text"]
            joined[-1] = {**joined[-1], "jupyter_data": {**before, "text": text}}
        else:
            joined.append(output)
    return joined


def _is_short_stream(data: dict[str, Any]) -> bool:
    return data.get("output_type") == "stream" and "path" not in data


def _output(renderer: NodeRenderer, node: Node) -> str:
    data = node.get("jupyter_data")
    if not data:  # mystmd gives an output with nothing in it no data
        return renderer.children(node)
    if data["output_type"] == "stream":
        return _stream(renderer, data)
    if data["output_type"] == "error":
        return _error(renderer, data)
    return _display(renderer, data)


def _stream(renderer: NodeRenderer, data: dict[str, Any]) -> str:
    return _printed(renderer, data, "text", f"stream {data.get('name', 'stdout')}")


def _error(renderer: NodeRenderer, data: dict[str, Any]) -> str:
    key = "traceback" if data.get("traceback") else "evalue"
    return _printed(renderer, data, key, "error")


def _printed(renderer: NodeRenderer, data: dict[str, Any], key: str, names: str) -> str:
    text, more = data.get(key, ""), ""
    if "path" in data:
        path = renderer.public / data["path"].lstrip("/")
        text = path.read_text(encoding="utf-8")
    if len(text) > LONGEST:
        text = text[:LONGEST].rpartition("\n")[0]
        note = "The rest is in the notebook."
        if "path" in data:
            note = element("a", "The whole text", href=renderer.asset(path), download=True)
        more = element("p", note, class_="more")
    pre = element("pre", _colored(text.rstrip("\n")), class_="scroll")
    return element("div", pre + more, class_=classes("output", names))


def _colored(text: str) -> str:
    """Escape a text; a terminal's colors become classes."""
    if "\x1b" not in text:
        return escape(text)
    from nbconvert.filters.ansi import ansi2html

    return str(ansi2html(text))


def _display(renderer: NodeRenderer, data: dict[str, Any]) -> str:
    bundle, metadata = data.get("data", {}), data.get("metadata", {})
    images = [mime for mime in IMAGES if mime in bundle]
    described = next((mime for mime in [_SVG, *images] if _words(metadata, mime)["alt"]), None)
    if described is not None and described in bundle:
        show = _svg if described == _SVG else _image
        return show(renderer, bundle[described], described, _words(metadata, described))
    if "text/html" in bundle:
        return _html(renderer, bundle)
    if "text/markdown" in bundle:
        shown = mathml.markdown(renderer, _content(renderer, bundle["text/markdown"]))
        return element("div", shown, class_="output markdown")
    if images:
        renderer.problem(
            "a figure of a cell has no alternative text. Show it by "
            '`show.figure(figure, "a description")`.'
        )
        return _image(renderer, bundle[images[0]], images[0], _words({}, ""))
    if _SVG in bundle:
        renderer.problem("an SVG of a cell has no alternative text (`metadata`: `alt`).")
        return _svg(renderer, bundle[_SVG], _SVG, _words({}, ""))
    if "text/latex" in bundle:
        return mathml.latex(renderer, _content(renderer, bundle["text/latex"]))
    if "text/plain" in bundle:
        plain = {"text": _content(renderer, bundle["text/plain"])}
        return _printed(renderer, plain, "text", "result")
    renderer.problem(f"an output of {', '.join(bundle) or 'no form'}, which a page cannot show.")
    return ""


def _words(metadata: dict[str, Any], mime: str) -> dict[str, str]:
    """The alternative text, the title (Figure 3) and the caption of an image."""
    words = metadata.get(mime)
    words = words if isinstance(words, dict) else {}
    return {key: str(words.get(key) or "").strip() for key in ("alt", "title", "caption")}


def _content(renderer: NodeRenderer, entry: Any) -> str:
    """Return the text of an output, which mystmd keeps inline or in a file."""
    if isinstance(entry, str):
        return entry
    if "content" in entry:
        return str(entry["content"])
    return (renderer.public / entry["path"].lstrip("/")).read_text(encoding="utf-8")


def _image(renderer: NodeRenderer, entry: Any, mime: str, words: dict[str, str]) -> str:
    if isinstance(entry, dict) and "path" in entry:
        path = renderer.public / entry["path"].lstrip("/")
    else:
        path = _file(renderer, base64.b64decode(_content(renderer, entry)), IMAGES[mime])
    return _figure(renderer, path, words)


def _svg(renderer: NodeRenderer, entry: Any, mime: str, words: dict[str, str]) -> str:
    return _figure(renderer, _file(renderer, _content(renderer, entry).encode(), "svg"), words)


def _file(renderer: NodeRenderer, data: bytes, suffix: str) -> Path:
    """Write an image into the book, named by its content."""
    path = renderer.public / f"{hashlib.sha256(data).hexdigest()[:32]}.{suffix}"
    path.write_bytes(data)
    return path


def _figure(renderer: NodeRenderer, path: Path, words: dict[str, str]) -> str:
    """An image, with its title and caption if it has them."""
    image = element("div", _pictures(renderer, path, words["alt"]), class_="output image")
    if not words["title"] and not words["caption"]:
        return image
    title = element("span", escape(words["title"] + "."), class_="caption-number") + " "
    caption = mathml.markdown(renderer, words["caption"], inline=True)
    name = _NAME.sub("-", words["title"].lower()) or None
    line = element("figcaption", (title if words["title"] else "") + caption)
    return element("figure", image + line, id=name, class_="figure-output")


def _pictures(renderer: NodeRenderer, path: Path, alt: str) -> str:
    """The image, and its form for dark pages if the style sheet cannot make that of it."""
    night = for_night(path) if renderer.night else None
    if night is None:
        return picture(renderer, path, alt, class_="plot")
    day = picture(renderer, path, alt, class_="plot by-day")
    return day + picture(renderer, _file(renderer, night, "png"), alt, class_="plot by-night")


def _html(renderer: NodeRenderer, bundle: dict[str, Any]) -> str:
    """Return HTML of the course's own making, as it is, but for the colors of two old friends."""
    text = _content(renderer, bundle["text/html"])
    if 'class="lmcourse-check"' in text:  # the style sheet knows it
        return _OWN_STYLE.sub("", text)
    if _PYGMENTS.match(text) and "text/plain" in bundle:  # IPython's Code: colors of its own
        return _source(_content(renderer, bundle["text/plain"]))
    return element("div", text, class_="output html")


def _source(code: str) -> str:
    match = _FILENAME.match(code)
    if match:
        code = code[match.end() :]
    shown = highlight(code, "python", filename=match["name"] if match else None)
    return element("div", shown, class_="output source")


HANDLERS = {"outputs": _outputs, "output": _output}
