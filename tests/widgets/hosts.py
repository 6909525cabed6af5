"""Pages that host a widget, as MyST, Jupyter and a file from disk do; and axe.

Each host page logs what it did to ``window.host``: what the widget wrote (``changed``), and after
``window.end()`` whether anything of it is left. For other tests (book, slides): `axe`, `open_file`.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from lmcourse.widgets import Widget
from tests.browser import PATIENCE

WEB = Path(__file__).parents[2] / "web"
MODULES = WEB / "node_modules"
Host = Literal["myst", "jupyter", "file"]
HOSTS: tuple[Host, ...] = ("myst", "jupyter", "file")

PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width">
<style>:root{{color-scheme:light dark;color:CanvasText;background:Canvas}}
body{{margin:8px}}.dark{{color:#eee;background:#111}}</style></head>
<body><main><h1>A page</h1><div id="el"><style>/* the theme's own */</style></div></main>
<script type="module">
const given = {state};
const module = {module};
const url = URL.createObjectURL(new Blob([module], {{type: "text/javascript"}}));
const widget = (await import(url)).default;
const el = document.getElementById("el");
const theirs = [...el.childNodes];
window.host = {{changed: {{}}, heard: 0, isObject: typeof widget === "object"}};
{model}
const end = await widget.render({{model, el}});
window.end = () => {{
  end?.();
  return {{left: el.childNodes.length - theirs.length, listeners: Object.keys(listeners).length}};
}};
window.host.ready = theirs.every((node) => node.parentNode === el);
</script></body></html>
"""
# MyST's own: nothing but get, set and on; what is more throws.
MYST = """
const state = structuredClone(given), listeners = {};
const never = (name) => () => { throw new Error(`${name} is not there`); };
const model = {
  get: (name) => state[name],
  set: (name, value) => { host.changed[name] = state[name] = value; },
  on: () => {}, off: never("off"), save_changes: never("save_changes"), send: never("send"),
};
"""
# Jupyter's: bytes are DataViews, listeners count, and set reaches them as a kernel's message would.
JUPYTER = """
const state = structuredClone(given), listeners = {};
const binary = Uint8Array.from(atob(given.arrays), (c) => c.charCodeAt(0));
state.arrays = new DataView(binary.buffer);
const fire = (name) => (listeners[name] ?? []).forEach((f) => f());
const model = {
  get: (name) => state[name], widget_manager: {},
  set: (name, value) => { host.changed[name] = state[name] = value; fire(`change:${name}`); },
  on: (name, f) => { (listeners[name] ??= []).push(f); },
  off: (name, f) => {
    listeners[name] = listeners[name].filter((it) => it !== f);
    if (!listeners[name].length) delete listeners[name];
  },
  save_changes: () => { host.saved = {...host.changed}; }, send: () => {},
};
window.kernel = (name, value) => { state[name] = value; fire(`change:${name}`); };
"""


@dataclass
class Opened:
    """A page, and what it tried behind the reader's back."""

    page: Page
    requests: list[str]  # everything but the page itself
    errors: list[str]


@contextlib.contextmanager
def open_file(
    browser: Browser,
    path: Path,
    *,
    dark: bool = False,
    touch: bool = False,
    width: int = 1000,
    fragment: str = "",
) -> Iterator[Opened]:
    """Open a file from disk; every request but for the file itself is refused and listed."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        has_touch=touch,
        accept_downloads=True,
    )
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    opened = Opened(page, [], [])

    def route(route: Route) -> None:
        if route.request.url.split("#")[0] == path.as_uri():
            route.continue_()
        else:
            opened.requests.append(route.request.url)
            route.abort()

    context.route("**/*", route)
    page.on("pageerror", lambda error: opened.errors.append(str(error)))
    page.on("console", lambda it: opened.errors.append(it.text) if it.type == "error" else None)
    try:
        page.goto(path.as_uri() + fragment)
        yield opened
    finally:
        context.close()


def host_page(host: Host, widget: Widget, folder: Path) -> Path:
    """Write the page of a host that holds the widget."""
    path = folder / f"{host}.html"
    if host == "file":
        widget.save(path)
        return path
    model = MYST if host == "myst" else JUPYTER
    path.write_text(_page(widget.state(), str(widget._esm), model), encoding="utf-8")
    return path


def strict_page(state: dict[str, Any], module: str) -> str:
    """The page of a strict host for what MyST's directive holds."""
    return _page(state, module, MYST)


def _page(state: dict[str, Any], module: str, model: str) -> str:
    facts = {
        "state": json.dumps(state).replace("<", "\\u003c"),
        "module": json.dumps(module).replace("<", "\\u003c"),
    }
    return PAGE.format(**facts, model=model)


def show_values(page: Page) -> None:
    """Open the one table of values, and wait until its rows are drawn."""
    page.get_by_text("Show values").click()
    expect(page.locator(".lm-table tbody tr").first).to_be_visible()


COLORS = (
    "color-contrast",
)  # axe's one rule that a dark theme can break where a light one does not


def axe(page: Page, within: str = "html", rules: Sequence[str] = ()) -> list[str]:
    """Return axe's serious and critical findings within the page, each with where and why.

    Args:
        rules: the names of the rules to run; all by default.
    """
    script = MODULES / "axe-core" / "axe.min.js"
    if not script.is_file():
        missing_node_modules()
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(script.read_text(encoding="utf-8"))
    run = """async ([within, rules]) => {
      const frame = () => new Promise(requestAnimationFrame);
      await frame();
      await document.fonts.ready; // equations have their width
      await frame().then(frame); // what pages do when something has a new size is done
      const only = rules.length ? {runOnly: rules} : {};
      return axe.run(within, {resultTypes: ["violations"], ...only});
    }"""
    found: dict[str, Any] = page.evaluate(run, [within, list(rules)])
    return [
        f"{it['impact']} {it['id']}: {node['html'][:160]} {node['failureSummary']}"
        for it in found["violations"]
        if it["impact"] in ("serious", "critical")
        for node in it["nodes"]
    ]


def missing_node_modules() -> None:
    """Skip a test that needs what npm installs; under ``CI=true`` fail it with the remedy."""
    say = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
    say("web/node_modules is not there. Run `npm ci` in web/ (it needs node 20 or newer).")


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )
