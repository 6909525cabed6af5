"""Whether every link, image and anchor inside a built site leads somewhere."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

_CSS_URL = re.compile(r"""url\(\s*['"]?([^'")]+)""")
# Most of a page is spans that color code and set equations. Without them it is read in a third of
# the time.
_DULL = re.compile(r"""</span>|<span(?: (?:class|style|aria-hidden)="[^"<>]*")*>""")
_LEADING = {"href": "link", "src": "file", "poster": "file"}


@dataclass
class _Document:
    """What one page names and holds."""

    anchors: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    wordless: list[str] = field(default_factory=list)  # images without an alt attribute


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.document = _Document()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.document.anchors.append(values["id"])
        if tag == "img" and "alt" not in values:
            self.document.wordless.append(values.get("src", "?")[:80])
        for name in _LEADING:
            if name in values:
                self.document.targets.append(values[name])
        for name in ("aria-labelledby", "aria-controls", "for"):
            self.document.targets += [f"#{each}" for each in values.get(name, "").split()]


def check(folder: Path, absolute_prefix: str = "/") -> list[str]:
    """Return what is broken inside a site, each with its page; an empty list is a whole site.

    Links to other machines are not followed. Slides, in a folder below, are taken as they are.

    Args:
        folder: the site's first folder.
        absolute_prefix: the path under which it is served; only ``404.html`` may use it.
    """
    documents = {
        path.relative_to(folder).as_posix(): _read(path.read_text(encoding="utf-8"))
        for path in folder.glob("*.html")
    }
    found: list[str] = []
    for name, document in sorted(documents.items()):
        twice = {each for each in document.anchors if document.anchors.count(each) > 1}
        found += [f"{name}: the anchor `{each}` is used twice." for each in sorted(twice)]
        found += [f"{name}: the image `{each}` has no words." for each in document.wordless]
        prefix = absolute_prefix if name == "404.html" else None
        for target in dict.fromkeys(document.targets):
            reason = _broken(folder, name, target, documents, prefix)
            if reason:
                found.append(f"{name}: `{target}` {reason}.")
    for path in sorted(folder.rglob("*.css")):
        found += _check_sheet(path, folder)
    return found


@lru_cache(maxsize=128)  # a watched book is checked after each edit of one page
def _read(page: str) -> _Document:
    reader = _Reader()
    reader.feed(_DULL.sub("", page))
    reader.close()
    return reader.document


def _broken(
    folder: Path, name: str, target: str, documents: dict[str, _Document], prefix: str | None
) -> str | None:
    """Say why a link leads nowhere, or return ``None``."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None if parts.scheme in {"http", "https", "mailto", "data", "blob"} else "is no link"
    path = unquote(parts.path)
    if path.startswith("/"):
        if prefix is None or not path.startswith(prefix):
            return "starts at the server's root, so that it fails under a sub-path"
        target = path.removeprefix(prefix)
    else:
        target = str(PurePosixPath(name).parent / path) if path else name
    target = target or "index.html"
    if not (folder / target).is_file():
        return "is not there"
    known = documents.get(target)
    if known and parts.fragment and unquote(parts.fragment) not in known.anchors:
        return f"names an anchor that {target} does not have"
    return None


def _check_sheet(path: Path, folder: Path) -> list[str]:
    found = []
    for target in _CSS_URL.findall(path.read_text(encoding="utf-8")):
        inside = not urlsplit(target).scheme
        if not inside:
            if not target.startswith("data:"):
                found.append(f"{path.relative_to(folder)}: `{target}` is on another server.")
        elif not (path.parent / unquote(urlsplit(target).path)).is_file():
            found.append(f"{path.relative_to(folder)}: `{target}` is not there.")
    return found
