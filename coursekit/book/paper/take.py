"""Take the pages of a built site as a book on paper shows them."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coursekit.book.execute import Report
from coursekit.book.slides import browser

PURPOSE = "print the book"
WIDTH = 800  # pixels: a widget has the form that it has on a narrow page
_WIDTHS = (760, 900, 1080)  # pixels of a widget: the first at which its figure fits
_TRIES = 4
_SCRIPT = Path(__file__).with_name("take.js")
LOADED = """new Promise((done) => {
  const look = () => document.readyState === "complete" ? done(true) : setTimeout(look, 20);
  look();
})"""

_LEDE = 'document.querySelector(".lede")?.textContent.trim() ?? ""'


@dataclass(frozen=True)
class Leaf:
    """A page: its article as XHTML twice, with its formulas as MathML and as KaTeX's boxes."""

    slug: str
    title: str
    label: str | None
    part: str | None
    description: str
    epub: str
    paper: str


def take(site: Path, folder: Path, report: Report, address: str | None = None) -> Iterator[Leaf]:
    """Yield the pages of a site; write the pictures of their widgets into a folder.

    Args:
        address: where the site is served, for links to its interactive figures.

    Raises:
        CourseError: there is no browser, or it fails.
    """
    path = browser.require_browser(PURPOSE)
    with browser.opened(
        path, _url(site, "index"), f"did not read {site}", browser.REMEDY, LOADED
    ) as talk:
        pages = talk.evaluate(f"{_script()}.contents()")
        slugs = [page["slug"] for page in pages]
        talk("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1100,
             deviceScaleFactor=1, mobile=False)  # fmt: skip
        talk("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ])  # fmt: skip
        for number, page in enumerate(pages, start=1):
            if number % 5 == 0:
                report(f"Page {number} of {len(pages)} ...")
            talk("Page.navigate", url=_url(site, page["slug"]))
            talk.evaluate(LOADED)
            pictures = _pictures(talk, page["slug"], folder)
            given = {"slug": page["slug"], "pictures": pictures, "slugs": slugs, "address": address}
            epub, paper = (
                talk.evaluate(f"{_script()}.article({json.dumps(given | form)})")
                for form in ({"math": True, "paper": False}, {"math": False, "paper": True})
            )
            yield Leaf(**page, description=talk.evaluate(_LEDE), epub=epub, paper=paper)


def _pictures(talk: browser.Talk, slug: str, folder: Path) -> list[dict[str, object]]:
    """Photograph the figure of each widget, without its controls."""
    found = []
    for number in range(talk.evaluate(f"{_script()}.still()")):
        it, data = _photograph(talk, number)
        it["name"] = f"assets/{slug}-{number + 1}.png"
        (folder / it["name"]).parent.mkdir(parents=True, exist_ok=True)
        (folder / it["name"]).write_bytes(data)
        found.append(it)
    return found


def _photograph(talk: browser.Talk, number: int) -> tuple[dict[str, Any], bytes]:
    """Return a widget's figure at the first width that it fits; it must not move meanwhile."""
    for width in _WIDTHS:
        it = talk.evaluate(f"{_script()}.spot({number}, {width})")
        if it["fits"]:
            break
    for _ in range(_TRIES):
        clip = {name: it[name] for name in ("x", "y", "width", "height")} | {"scale": 2}
        shot = talk("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        after = talk.evaluate(f"{_script()}.spot({number}, {width})")
        if after == it and min(it["width"], it["height"]) > 0:
            return it, base64.b64decode(shot["data"])
        it = after
    raise ValueError(f"widget {number + 1} does not stay where it is, or is empty")


def _script() -> str:
    """The script as an expression: its last line is what it gives."""
    body = _SCRIPT.read_text(encoding="utf-8").rstrip().removesuffix("page;")
    return f"(() => {{ {body} return page; }})()"


def _url(site: Path, slug: str) -> str:
    return f"{site.absolute().as_uri()}/{quote(slug)}.html"
