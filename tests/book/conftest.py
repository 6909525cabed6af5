"""A small book with every kind of node, parsed by mystmd once; its site; a browser."""

import base64
import contextlib
import hashlib
import io
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from coursekit.book import myst
from coursekit.book.content import Content, read_content
from coursekit.book.published import Published
from coursekit.book.site.site import write_site
from coursekit.repository import Repository
from tests.browser import PATIENCE, chromium

BASE_URL = "https://example.org/a/course"
CONFIGURATION = """\
version: 1
project:
  title: A small book
  description: A small book with every kind of node.
  bibliography: [references.bib]
  abbreviations: {RNN: recurrent neural network}
  options:
    links: {Code: "https://example.org/code"}
  toc:
    - file: index.md
    - title: "Part I: Beginnings"
      children:
        - file: everything.md
        - file: outputs.ipynb
    - title: "Part II: Ends"
      children:
        - file: second.md
site:
  template: ./theme
"""
INDEX = """\
---
title: A small book
description: Every kind of node, on a few pages.
---

Hello.

::::{grid} 1 1 2 3
:::{card} Everything
:link: everything.md
:header: Chapter 01
All of it, **boldly**, with [a second link](second.md).
:::
:::{card} Later
:footer: Planned
Not yet written.
:::
:::{card}
:link: second.md
A card without a title.
:::
::::

(laptop)=
**Work through it** on your laptop.
"""
SECOND = """\
---
title: Second
short_title: Chapter 02
description: What does the second page ask?
downloads:
  - file: part.txt
    title: Text (.txt)
    filename: second.txt
---

*What does the second page ask?*

(far)=
## Far away

Truncation cuts the gradient. See {eq}`eq-far`, [back](everything.md) and {cite:t}`elman1990`.

$$ z = 1 $$ (eq-far)

(lists-far)=
An embedded paragraph.
"""
WORKS = (
    ("witten1991", "Witten, Ian H. and Bell, Timothy C.", 1991),
    ("chen1999", "Chen, Stanley F. and Goodman, Joshua", 1999),
    ("mikolov2010", "Mikolov, T. and Karafiát, M. and Burget, L. and Khudanpur, S.", 2010),
    ("elman1990", "Elman, Jeffrey L.", 1990),
    ("werbos1990", "Werbos, Paul J.", 1990),
    ("tallec2017", "Tallec, Corentin and Ollivier, Yann", 2017),
    ("pascanu2013", "Pascanu, Razvan and Mikolov, Tomas and Bengio, Yoshua", 2013),
)


def picture(width: int = 60, height: int = 40) -> bytes:
    """A PNG of one color."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "#0072B2").save(buffer, "PNG")
    return buffer.getvalue()


def cell(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """A code cell that has run."""
    return {
        "cell_type": "code",
        "id": hashlib.sha256(source.encode()).hexdigest()[:16],
        "metadata": {"tags": list(tags)} if tags else {},
        "source": source,
        "execution_count": 1,
        "outputs": list(outputs),
    }


def display(data: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """What `display` leaves in a notebook."""
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    """What `print` leaves in a notebook."""
    return {"output_type": "stream", "name": name, "text": text}


def figure(alt: str = "A blue square.") -> dict[str, Any]:
    """What `lmcourse.show.figure` leaves in a notebook."""
    png = base64.b64encode(picture()).decode()
    html = f'<img alt="{alt}" src="data:image/png;base64,{png}">'
    data = {"image/png": png, "text/html": html, "text/plain": alt}
    return display(data, **{"image/png": {"alt": alt}})


def check() -> dict[str, Any]:
    """What `lmcourse.expect` leaves in a notebook."""
    from lmcourse.checks import Check

    kept = Check("measured", "both sides", 0.5, "0.5", "0.5 ± 0.1", True, "It is `0.5` here.")
    return display({"text/html": kept._repr_html_(), "text/plain": str(kept)})


def shown_source() -> dict[str, Any]:
    """What `lmcourse.show.source` leaves in a notebook."""
    from IPython.display import Code

    code = Code("# lmcourse/thing.py\ndef thing():\n    return 1 < 2\n", language="python")
    return display({"text/html": code._repr_html_(), "text/plain": repr(code)})


WIDGET = """\
<div id="widget-1"><p>Words in place of the widget.</p></div>
<script type="module">
const el = document.getElementById("widget-1");
el.innerHTML = "<button>Alive</button><svg><text>drawn</text></svg>";
</script>"""


def notebook() -> dict[str, Any]:
    """A notebook with every kind of output."""
    traceback = ["\x1b[31mZeroDivisionError\x1b[0m: division by zero"]
    error = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"}
    table = "| a | $\\rho$ |\n|---|---|\n| <b>1</b> | 2 |"
    cells = [
        {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": "# Outputs\n\nText."},
        cell("print(1)", stream("one\n"), stream("two <b>\n"), stream("careful\n", "stderr")),
        cell("1 / 0", error | {"traceback": traceback}, tags=("raises-exception",)),
        cell("show.figure(figure)", figure(), tags=("hide-input",)),
        cell("removed_input()", stream("its output stays\n"), tags=("remove-input",)),
        cell("removed_cell()", stream("gone\n"), tags=("remove-cell",)),
        cell("hidden_output()", stream("folded\n"), tags=("hide-output",)),
        cell("hidden_cell()", stream("folded too\n"), tags=("hide-cell",)),
        cell("expect(...)", check()),
        cell("show.source(thing)", shown_source()),
        cell("Markdown(...)", display({"text/markdown": table, "text/plain": "table"})),
        cell("Latex(...)", display({"text/latex": "$$x^2$$", "text/plain": "latex"})),
        cell(
            "SVG(...)",
            display(
                {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"/>', "text/plain": "svg"},
                **{"image/svg+xml": {"alt": "Nothing is drawn."}},
            ),
        ),
        cell("widget", display({"text/html": WIDGET, "text/plain": "words"})),
        cell("value", display({"text/plain": "'plain <i>'"})),
        cell("long()", stream("".join(f"line {n} {'y' * 70}\n" for n in range(4000)))),
        cell("#| label: fig-cell\n#| caption: A cell's figure\nf()", figure("Another square.")),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}


def write_sources(folder: Path) -> None:
    """Write the sources of the small book."""
    (folder / "theme").mkdir()
    shutil.copyfile(_ROOT / "theme" / "template.yml", folder / "theme" / "template.yml")
    shutil.copyfile(Path(__file__).with_name("everything.md"), folder / "everything.md")
    (folder / "square.png").write_bytes(picture())
    (folder / "outputs.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    entry = "@article{{{},\n author={{{}}}, title={{On it}}, journal={{J}}, year={{{}}}\n}}\n"
    texts = {
        "myst.yml": CONFIGURATION,
        "index.md": INDEX,
        "second.md": SECOND,
        "part.txt": "Included **text**.\n",
        "references.bib": "".join(entry.format(*work) for work in WORKS),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """The small book as mystmd leaves it."""
    folder = tmp_path_factory.mktemp("small-book")
    write_sources(folder)
    return read_content(myst.build_site(folder))


@pytest.fixture(scope="session")
def site(content: Content, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small book's site, to be served at ``BASE_URL``."""
    folder = tmp_path_factory.mktemp("site")
    deck = tmp_path_factory.mktemp("decks") / "second-slides.html"
    deck.write_text("<!doctype html><title>Slides</title>", encoding="utf-8")
    where = Published(BASE_URL, Repository("https://github.com/ann/course", "main", "gh-pages", ""))
    assert write_site(content, folder, published=where, slides={"second": deck}) == []
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for the module: Playwright's event loop ends with it."""
    with chromium() as found:
        yield found


@dataclass
class Opened:
    """A page of the site in Chromium."""

    page: Page
    site: Path
    outside: list[str] = field(default_factory=list)  # requests to elsewhere, all refused
    failed: list[str] = field(default_factory=list)  # requests inside the site without an answer
    errors: list[str] = field(default_factory=list)  # the console's errors

    def open(self, name: str) -> Page:
        """Open a page of the site from disk."""
        path, hash_, anchor = name.partition("#")
        self.page.goto((self.site / path).as_uri() + hash_ + anchor)
        return self.page

    def is_quiet(self) -> bool:
        """Tell whether nothing was asked of others, nothing was missing, nothing went wrong."""
        return not (self.outside or self.failed or self.errors)


@pytest.fixture
def opened(browser: Browser, site: Path) -> Iterator[Callable[..., Opened]]:
    """Return what opens a page that reaches the site's folder and this machine, and no other."""
    contexts = []

    def make(dark: bool = False, width: int = 1280, height: int = 900, **options: Any) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            **options,
        )
        context.set_default_timeout(PATIENCE * 1000)
        contexts.append(context)
        opened = Opened(context.new_page(), site)
        page = opened.page

        def route(route: Route) -> None:
            url = route.request.url
            if url.startswith((site.as_uri(), "http://127.0.0.1:")):
                route.continue_()
            else:
                opened.outside.append(url)
                route.abort()

        context.route("**/*", route)
        page.on("requestfailed", lambda it: opened.failed.append(it.url))
        page.on("pageerror", lambda it: opened.errors.append(str(it)))
        page.on("console", lambda it: opened.errors.append(it.text) if it.type == "error" else None)
        return opened

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")  # each module has a site of its own
def address(site: Path) -> Iterator[str]:
    """Serve the site on this machine as it will be served: under a sub-path, with its 404 page."""
    with served(site, urlsplit(BASE_URL).path) as found:
        yield found


@contextlib.contextmanager
def served(site: Path, prefix: str) -> Iterator[str]:
    """Serve a site under a path; yield its address."""

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            inside = urlsplit(path).path.removeprefix(prefix)
            return super().translate_path(inside if path.startswith(prefix) else "/gone")

        def send_error(self, code: int, *_: Any) -> None:
            body = (site / "404.html").read_bytes()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    server.handle_error = lambda *_: None  # a browser that hangs up early is no fault
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{prefix}"
    server.shutdown()
    server.server_close()
    thread.join()
