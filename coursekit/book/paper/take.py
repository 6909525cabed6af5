"""Take the pages of a built site as a book on paper shows them."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from coursekit.book.execute import Report
from coursekit.book.slides import browser
from lmcourse.errors import CourseError

WIDTH = 800  # pixels: a widget has the form that it has on a narrow page
_SCRIPT = Path(__file__).with_name("take.js")
_REMEDY = "Install Chromium, Chrome or Edge; `make doctor` says which are found."
_LOADED = """new Promise((done) => {
  const look = () => document.readyState === "complete" ? done(true) : setTimeout(look, 20);
  look();
})"""


@dataclass(frozen=True)
class Leaf:
    """A page: its article as XHTML twice, with its formulas as MathML and as KaTeX's boxes."""

    slug: str
    title: str
    label: str | None
    part: str | None
    epub: str
    paper: str


def take(site: Path, folder: Path, report: Report) -> Iterator[Leaf]:
    """Yield the pages of a site; write the pictures of their widgets into a folder.

    Raises:
        CourseError: there is no browser, or it fails.
    """
    path = browser.find_browser()
    if path is None:
        raise CourseError("There is no browser here that can print the book.", _REMEDY)
    with browser.opened(
        path, _url(site, "index"), f"did not read {site}", _REMEDY, _LOADED
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
            talk.evaluate(_LOADED)
            pictures = _pictures(talk, page["slug"], folder)
            given = {"slug": page["slug"], "pictures": pictures, "slugs": slugs}
            epub, paper = (
                talk.evaluate(f"{_script()}.article({json.dumps(given | form)})")
                for form in ({"math": True, "paper": False}, {"math": False, "paper": True})
            )
            yield Leaf(**page, epub=epub, paper=paper)


def _pictures(talk: browser.Talk, slug: str, folder: Path) -> list[dict[str, object]]:
    found = talk.evaluate(f"{_script()}.pictures()")
    for number, it in enumerate(found, start=1):
        clip = {name: it[name] for name in ("x", "y")} | {"scale": 2}
        clip |= {name: max(it[name], 1) for name in ("width", "height")}
        shot = talk("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        it["name"] = f"assets/{slug}-{number}.png"
        (folder / it["name"]).parent.mkdir(parents=True, exist_ok=True)
        (folder / it["name"]).write_bytes(base64.b64decode(shot["data"]))
    return list(found)


def _script() -> str:
    """The script as an expression: its last line is what it gives."""
    body = _SCRIPT.read_text(encoding="utf-8").rstrip().removesuffix("page;")
    return f"(() => {{ {body} return page; }})()"


def _url(site: Path, slug: str) -> str:
    return f"{site.absolute().as_uri()}/{quote(slug)}.html"
