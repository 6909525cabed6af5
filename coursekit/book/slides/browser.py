"""An installed Chromium, Chrome or Edge, without a window: it prints and photographs decks."""

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
REMEDY = "Install Chromium, Chrome or Edge; `make doctor` says which are found."
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


def require_browser(purpose: str, remedy: str = REMEDY) -> Path:
    """Return a browser.

    Args:
        purpose: what it is needed for: it "can" do this.

    Raises:
        CourseError: there is none.
    """
    found = find_browser()
    if found is None:
        raise CourseError(f"There is no browser here that can {purpose}.", remedy)
    return found


@contextlib.contextmanager
def opened(
    browser: Path,
    url: str,
    failed: str,
    remedy: str,
    ready: str = _READY,
    within: float | None = None,
) -> Iterator["Talk"]:
    """Open a page, and yield what calls the browser once the page is ready.

    Args:
        failed: what the browser did not do if something goes wrong in here; with the remedy.
        ready: JavaScript whose promise is kept when the page is ready; by default, when a deck is.
        within: seconds that the browser may take for a call; by default, what a deck needs.

    Raises:
        CourseError: the browser fails or takes too long.
    """
    within = within or _WITHIN
    profile_folder = tempfile.TemporaryDirectory(prefix="lmcourse-", ignore_cleanup_errors=True)
    with profile_folder as profile, _browser(browser, Path(profile)) as it:
        try:
            with _talking(it, Path(profile), within) as talk:
                talk("Page.enable")
                talk("Page.navigate", url=url)
                talk.evaluate(ready)
                yield talk
        except _ERRORS as error:
            late = isinstance(error, TimeoutError | WebSocketTimeoutException)
            cause = f"within {within:g} seconds" if late else f"({error})"
            raise CourseError(f"The browser {browser} {failed} {cause}.", remedy) from error


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


@contextlib.contextmanager
def _talking(browser: "subprocess.Popen[bytes]", profile: Path, within: float) -> Iterator["Talk"]:
    """Open an empty page.

    The browser's own ``--print-to-pdf`` does not wait until a page is ready, and loses pages now
    and then.
    """
    line = create_connection(_address(browser, profile), timeout=within, suppress_origin=True)
    try:
        talk = Talk(line)
        target = talk("Target.createTarget", url="about:blank")["targetId"]
        talk.session = talk("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        yield talk
    finally:
        line.close()


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


class Talk:
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
                return dict(answer["result"])

    def evaluate(self, expression: str) -> Any:
        """Return what JavaScript gives, once it has settled."""
        found = self(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise ValueError(found["exceptionDetails"].get("text"))
        return found["result"].get("value")


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End the browser, if it still runs, with the processes that it started."""
    if child.poll() is None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
    child.wait()
