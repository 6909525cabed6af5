"""Small pieces of HTML: elements, attributes, and foreign fragments made safe."""

import html
import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

VOID = frozenset({"br", "hr", "img", "input", "wbr"})
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_CLASS = re.compile(r"[A-Za-z][\w-]*")


def escape(text: str) -> str:
    """Escape text for an element's content."""
    return html.escape(text, quote=False)


def element(tag: str, content: str = "", /, **attributes: str | int | bool | None) -> str:
    """Write one element; ``content`` is HTML.

    An attribute that is ``None``, ``False`` or an empty class is left out, ``True`` has no value.
    Python's own words take an underscore: ``class_``, ``for_``; ``aria_label`` is ``aria-label``.
    """
    start = opening(tag, **attributes)
    return start if tag in VOID else f"{start}{content}</{tag}>"


def folded(summary: str, content: str) -> str:
    """Fold away what the source hides; it opens by a click on the summary."""
    return element("details", element("summary", summary) + content, class_="folded")


def opening(tag: str, /, **attributes: str | int | bool | None) -> str:
    """Write an element's first tag."""
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    return f"<{tag}{written}>"


def _attribute(name: str, value: str | int | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False or (name == "class" and not value):
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'


def classes(*names: str | None) -> str | None:
    """Join class names; what is no plain name is dropped."""
    words = [word for name in names if name for word in name.split()]
    return " ".join(dict.fromkeys(word for word in words if _CLASS.fullmatch(word))) or None


def is_safe(url: str) -> bool:
    """Return whether a link may lead there: the web, a mail address, or a relative path."""
    visible = "".join(character for character in url if ord(character) > 32)  # browsers skip these
    try:
        return urlsplit(visible).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def is_outside(url: str) -> bool:
    """Return whether a link leaves the book."""
    return urlsplit(url).scheme != "" or url.startswith("//")


def sanitize(fragment: str) -> str:
    """Keep the text, the emphasis and the safe links of a fragment of HTML, and nothing else."""
    cleaner = _Cleaner()
    cleaner.feed(fragment)
    cleaner.close()
    return cleaner.html()


class _Cleaner(HTMLParser):
    KEPT = frozenset({"i", "b", "em", "strong", "sub", "sup", "a"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.KEPT:
            return
        href = dict(attrs).get("href") if tag == "a" else None
        self._out.append(opening(tag, href=href if href and is_safe(href) else None))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open[-1] != tag:
                self._out.append(f"</{self._open.pop()}>")
            self._out.append(f"</{self._open.pop()}>")

    def handle_data(self, data: str) -> None:
        self._out.append(escape(data))

    def html(self) -> str:
        """Return what was kept, every element closed."""
        return "".join(self._out) + "".join(f"</{tag}>" for tag in reversed(self._open))
