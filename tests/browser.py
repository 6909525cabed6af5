"""Helpers for tests that a browser drives: Chromium, the course's door, JupyterLab.

What held (JupyterLab 4.6): its execution indicator says idle while there is no kernel yet, so the
kernel's name is awaited first; "Run All" returns early on an error, and the page holds only the
cells around those in view, so what a notebook computed is read from its file, saved repeatedly.
Every wait has a limit; ``page.evaluate`` has none, so nothing waits inside it.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    Locator,
    Page,
    Playwright,
    Route,
    TimeoutError,
    ViewportSize,
    expect,
    sync_playwright,
)

from coursekit.testing import CHROMIUM_REMEDY, THREADS, find_chromium
from lmcourse.labs.verdict import MIME as CHECK  # what a check shows, for programs
from tests.without_chromium import REASON

VIEWPORT: ViewportSize = {"width": 1300, "height": 900}
PATIENCE = 120.0  # seconds for what takes two on an idle machine
expect.set_options(timeout=30_000)  # of what takes none: 5 s are few on a busy machine
CHROMIUM_OPTIONS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_URL = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
_PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"


@dataclass
class Seen:
    """What the page tried behind the reader's back."""

    outside: list[str] = field(default_factory=list)  # requests to other machines, all refused
    errors: list[str] = field(default_factory=list)  # the console's errors


@dataclass(frozen=True)
class Door:
    """A running ``lmcourse lab``."""

    process: "subprocess.Popen[bytes]"
    url: str  # the start page, with the token
    workbook: Path
    log: Path

    @property
    def origin(self) -> str:
        """Return the server's address."""
        return f"http://{urlsplit(self.url).netloc}"

    @property
    def token(self) -> str:
        """Return what the server asks for."""
        return urlsplit(self.url).query.removeprefix("token=")


def require_chromium() -> Path:
    """Return Chromium's path; without one, skip the test, or fail it under ``CI=true``."""
    found = find_chromium()
    if found is None:
        say = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
        say(f"{REASON} {CHROMIUM_REMEDY}")
    return found


@contextlib.contextmanager
def playwright() -> Iterator[Playwright]:
    """Start Playwright, or lend the one that runs: a second in the same thread is refused."""
    if _playwrights:
        yield _playwrights[-1]
        return
    with sync_playwright() as started:
        _playwrights.append(started)
        try:
            yield started
        finally:
            _playwrights.pop()


_playwrights: list[Playwright] = []


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, for several pages."""
    options = [*CHROMIUM_OPTIONS]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")
    path = require_chromium()
    with playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=options)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def chromium_page(dark: bool = False, touch: bool = False) -> Iterator[tuple[Page, Seen]]:
    """Open a page in Chromium that reaches this machine and no other.

    It is opened anew for each test: Playwright leaves an event loop running, which trips others.
    """
    seen = Seen()

    def route(route: Route) -> None:
        if _is_local(route.request.url):
            route.continue_()
        else:
            seen.outside.append(route.request.url)
            route.abort()

    with chromium() as browser:
        context = browser.new_context(
            viewport=VIEWPORT, color_scheme="dark" if dark else "light", has_touch=touch
        )
        context.set_default_timeout(PATIENCE * 1000)
        context.route("**/*", route)
        page = context.new_page()
        page.on("websocket", lambda it: _is_local(it.url) or seen.outside.append(it.url))
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("console", lambda it: seen.errors.append(it.text) if it.type == "error" else None)
        yield page, seen


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about", "file"} or parts.hostname in _LOOPBACK


def free_port() -> int:
    """Return a port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def open_door(folder: Path, **variables: str) -> Iterator[Door]:
    """Run ``lmcourse lab`` as a reader does, with a workbook and Jupyter's own files in ``folder``.

    The kernels find no network either: each proxy is a port where nobody listens.
    """
    log = folder / "door.log"
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    paths = {name: str(folder / "jupyter" / part) for name, part in own.items()}
    dead = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    workbook = folder / "workbook"
    environment = dict(os.environ) | paths | dead | {name.upper(): dead[name] for name in dead}
    environment |= {"no_proxy": "127.0.0.1,localhost", "LMCOURSE_WORKBOOK": str(workbook)}
    environment |= dict.fromkeys(THREADS, "1")  # other tests compute beside it
    environment |= {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"} | variables
    command = [sys.executable, "-m", "lmcourse", "lab", "--no-browser", "--port", str(free_port())]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, **as_in_a_terminal()
        )
    try:
        yield Door(process, _address(process, log), workbook, log)
    finally:
        _close(process)


def as_in_a_terminal() -> dict[str, Any]:
    """Return the options of a child that hears Ctrl-C; a background shell's would not."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {
        "start_new_session": True,
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    }


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Wait for the line that names the start page."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        said = log.read_text(encoding="utf-8", errors="replace")
        if found := _URL.search(said):
            return found[0]
        if ended:
            break
        time.sleep(0.1)
    raise AssertionError(f"`lmcourse lab` served nothing. It said:\n{said}")


def _close(process: "subprocess.Popen[bytes]") -> None:
    """End the door and, whatever it did about them, everything under it."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=40)
        for child in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.wait()


def open_notebook(page: Page, door: Door, name: str) -> Locator:
    """Open a notebook of the workbook (``chapters/02-x.ipynb``) by its address, ready to run."""
    page.goto(f"{door.origin}/lab/tree/{quote(name)}?reset&token={door.token}")
    return ready(page)


def ready(page: Page) -> Locator:
    """Wait until the notebook in front has its cells and an idle kernel; return its panel."""
    panel = page.locator(_PANEL)
    limit = PATIENCE * 1000
    panel.locator(".jp-Notebook .jp-Cell").first.wait_for()
    name = panel.locator(".jp-Toolbar-kernelName")
    expect(name).to_have_text(re.compile("Python"), timeout=limit)
    indicator = panel.locator(".jp-Notebook-ExecutionIndicator")
    expect(indicator).to_have_attribute("data-status", "idle", timeout=limit)
    return panel


def start_all(page: Page) -> None:
    """Choose Run All for the notebook in front, and go on."""
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
    page.locator(".lm-Menu-item[data-command='runmenu:run-all']").click()


def run_all(page: Page, notebook: Path, limit: float = 600.0) -> list[dict[str, Any]]:
    """Run all cells of the notebook in front, and return its code cells as saved.

    It ends with the last cell or the first error. The page cannot tell: it holds only the cells
    around those in view.

    Args:
        notebook: its file in the workbook; no cell of it has run yet.
        limit: seconds.
    """
    start_all(page)
    indicator = page.locator(f"{_PANEL} .jp-Notebook-ExecutionIndicator")
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        idle = indicator.get_attribute("data-status") == "idle"  # seen before saving: all is there
        cells = _save(page, notebook)
        if idle and (errors_in(cells) or all(cell["execution_count"] for cell in cells)):
            return cells
        page.wait_for_timeout(1000)
    done = sum(cell["execution_count"] is not None for cell in cells)
    raise AssertionError(f"After {limit:g} s {done} of {len(cells)} cells of {notebook} had run.")


def _save(page: Page, notebook: Path) -> list[dict[str, Any]]:
    """Save the notebook in front; return its code cells from the file."""
    before = notebook.stat().st_mtime_ns
    page.keyboard.press("Control+s")
    pressed = started = time.monotonic()
    while time.monotonic() < started + PATIENCE:
        page.wait_for_timeout(100)
        if time.monotonic() > pressed + 15:  # the focus was in a frame, which keeps its keys
            page.locator(".lm-MenuBar-itemLabel", has_text="File").first.click()
            page.locator(".lm-Menu-item[data-command='docmanager:save']").click()
            pressed = time.monotonic()
        with contextlib.suppress(json.JSONDecodeError):  # it is being written at this moment
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            if notebook.stat().st_mtime_ns != before:
                return [cell for cell in cells if cell["cell_type"] == "code"]
    raise AssertionError(f"JupyterLab did not save {notebook}.")


def errors_in(cells: list[dict[str, Any]]) -> list[str]:
    """Return the errors among saved outputs, save those of cells that are to raise one."""
    return [
        f"{output['ename']}: {output['evalue']}"
        for cell in cells
        if "raises-exception" not in cell["metadata"].get("tags", [])
        for output in cell["outputs"]
        if output["output_type"] == "error"
    ]


def checks_in(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what each lab check said: ``{"exercise": "02.1", "passed": False, "hint": "..."}``."""
    return [data[CHECK] for data in _shown(cells) if CHECK in data]


def _shown(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output.get("data", {}) for cell in cells for output in cell["outputs"]]


def picture(page: Page, name: str) -> None:
    """Save a picture in the folder that ``LMCOURSE_SCREENSHOTS`` names, if it names one."""
    folder = os.environ.get("LMCOURSE_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")


def leaf(page: Page) -> Iterator[int]:
    """Scroll the notebook in front from top to bottom; yield the number of each page, from 1."""
    scroller = page.locator(f"{_PANEL} .jp-WindowedPanel-outer")
    for number in range(1, 200):
        top = 0.9 * (number - 1)
        scroller.evaluate("(it, top) => it.scrollTo(0, top * it.clientHeight)", top)
        page.wait_for_timeout(500)  # cells come into being as they come into view
        yield number
        if scroller.evaluate("it => it.scrollTop + it.clientHeight >= it.scrollHeight - 1"):
            return


def reach(page: Page, target: Locator) -> Locator:
    """Scroll the notebook in front until `target` is in view, and return it.

    Only cells in view exist, and on a busy machine one comes into being when its page has been
    left, or is moved out of view by one above it that grows: so the notebook is leafed through
    until the target stays.
    """
    started = time.monotonic()
    while time.monotonic() - started < PATIENCE:
        for _page in leaf(page):
            if target.count():
                try:
                    target.scroll_into_view_if_needed(timeout=5_000)
                except TimeoutError:
                    break
                return target
    raise AssertionError(f"Nowhere in the notebook after {PATIENCE} s: {target}")


def pictures(page: Page, name: str) -> None:
    """Save pictures (``NAME-01.png``, ...) of the notebook in front, from top to bottom."""
    if os.environ.get("LMCOURSE_SCREENSHOTS"):
        page.set_viewport_size({"width": VIEWPORT["width"], "height": 1500})
        for number in leaf(page):
            picture(page, f"{name}-{number:02}")
        page.set_viewport_size(VIEWPORT)
