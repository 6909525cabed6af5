"""A deck as PDF: printed by a Chromium, Chrome or Edge that is installed, one page a slide."""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websocket import WebSocketException, WebSocketTimeoutException, create_connection

from coursekit.book.slides.deck import ELSEWHERE
from coursekit.notebooks import files
from coursekit.testing import CHROMIUM_NAMES
from lmcourse.errors import CourseError

NAMES = (*CHROMIUM_NAMES, "microsoft-edge", "msedge")
_ELSEWHERE = (  # where installers put them without a name on the PATH
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_REMEDY = (
    "Install Chromium, Chrome or Edge. Or print it yourself: open {deck} in any browser, add "
    "?print-pdf to its address, and print to PDF without margins and with backgrounds."
)
_WITHIN = 120.0  # seconds: a deck of a hundred slides takes five on an idle machine
_OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",  # any; the browser writes which into its profile
)
_ERRORS = (WebSocketException, OSError, KeyError, ValueError)
_READY = """new Promise((done) => {
  const look = () => document.documentElement?.dataset.ready ? done(true) : setTimeout(look, 50);
  look();
})"""


def find_browser() -> Path | None:
    """Find a browser that prints without a window."""
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    there = (Path(path) for path in _ELSEWHERE)
    return next((path for path in there if path.is_file()), None)


def require_browser(deck: Path) -> Path:
    """Return a browser that prints.

    Raises:
        CourseError: there is none.
    """
    browser = find_browser()
    if browser is None:
        raise CourseError(
            "There is no browser here that can write the PDF.", _REMEDY.format(deck=deck)
        )
    return browser


def write_pdf(deck: Path, pdf: Path) -> None:
    """Print a deck: one page a slide, answers unfolded, fragments shown. Whole, or not at all.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or the file cannot be written.
    """
    remedy = _REMEDY.format(deck=deck)
    browser = require_browser(deck)
    profile_folder = tempfile.TemporaryDirectory(prefix="lmcourse-", ignore_cleanup_errors=True)
    with profile_folder as profile, _browser(browser, Path(profile)) as it:
        try:
            data = _printed(it, Path(profile), f"{deck.absolute().as_uri()}?print-pdf")
        except _ERRORS as error:
            late = isinstance(error, TimeoutError | WebSocketTimeoutException)
            cause = f"within {_WITHIN:g} seconds" if late else f"({error})"
            raise CourseError(
                f"The browser {browser} did not print {deck} {cause}.", remedy
            ) from error
    if not data.startswith(b"%PDF"):
        raise CourseError(f"The browser {browser} wrote no PDF of {deck}.", remedy)
    try:
        files.write(pdf, data)
    except CourseError as error:
        raise CourseError(error.cause, ELSEWHERE) from error


@contextlib.contextmanager
def _browser(path: Path, profile: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a browser with a profile of its own, so that one that is open is left alone."""
    command = [str(path), *_OPTIONS, f"--user-data-dir={profile}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container one is often root
        command.append("--no-sandbox")
    child = subprocess.Popen(
        [*command, "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=None if sys.platform == "win32" else 0,  # Ctrl-C is for us: we end it
    )
    try:
        yield child
    finally:
        _end(child)


def _printed(browser: "subprocess.Popen[bytes]", profile: Path, url: str) -> bytes:
    """Return a page as PDF, once it says that it is ready.

    The browser's own ``--print-to-pdf`` does not wait for that, and loses pages now and then.
    """
    address = _address(browser, profile)
    line = create_connection(address, timeout=_WITHIN, suppress_origin=True)
    try:
        talk = _Talk(line)
        target = talk("Target.createTarget", url="about:blank")["targetId"]
        talk.session = talk("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        talk("Page.enable")
        talk("Page.navigate", url=url)
        waited = talk("Runtime.evaluate", expression=_READY, awaitPromise=True)
        if "exceptionDetails" in waited:
            raise ValueError(waited["exceptionDetails"].get("text"))
        page = talk("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    finally:
        line.close()
    return base64.b64decode(page["data"])


def _address(browser: "subprocess.Popen[bytes]", profile: Path) -> str:
    """Wait for the browser to say where it listens."""
    deadline = time.monotonic() + _WITHIN
    port_file = profile / "DevToolsActivePort"
    while time.monotonic() < deadline:
        if browser.poll() is not None:
            raise OSError(f"it ended with status {browser.returncode}")
        with contextlib.suppress(OSError):
            lines = port_file.read_text(encoding="utf-8").splitlines()
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise TimeoutError("it did not start")


class _Talk:
    """Calls the browser's DevTools protocol, one method after the other."""

    def __init__(self, line: Any) -> None:
        self.line, self.session, self.number = line, None, 0

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.line.send(json.dumps(message))
        while True:
            answer = json.loads(self.line.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ValueError(answer["error"].get("message"))
                return answer["result"]


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End the browser, if it still runs, with the processes that it started."""
    if child.poll() is None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
    child.wait()
