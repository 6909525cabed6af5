"""Run JupyterLab as a child on a folder until it is stopped, and end it cleanly."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

from rich.console import Console

from coursekit.notebooks import lab_settings
from coursekit.notebooks.lab_settings import HOST, LISTENING
from coursekit.notebooks.workbook import PRIVATE
from lmcourse.errors import CourseError

_START_WITHIN = 180.0  # seconds: a cold start from a slow disk takes a minute
_END_WITHIN = 15.0  # seconds, for the kernels to be shut down
Child = subprocess.Popen[bytes]


def run(
    folder: Path,
    page: str,
    port: int | None,
    open_browser: bool,
    console: Console,
    said: Sequence[str],
    wait: Callable[[Child], object] = Child.wait,
) -> None:
    """Serve a folder until JupyterLab ends or this process is stopped (Ctrl-C, a signal).

    Args:
        folder: what is served; JupyterLab's own files lie in its private folder.
        page: the address on the server that is opened, such as ``/lab/tree/START.md``.
        port: where to serve; ``None`` is the first free port from 8888.
        open_browser: whether to open the page in the browser.
        console: where to say what goes on.
        said: what is printed once the server answers; ``{url}`` in it becomes the page's address.
        wait: returns when the child has ended.

    Raises:
        CourseError: JupyterLab does not start, or ends by itself with an error.
    """
    lab = lab_settings.write_settings(folder / PRIVATE)
    environment = lab_settings.environment(folder, lab)
    token = environment["JUPYTER_TOKEN"]
    log = lab / f"jupyterlab-{os.getpid()}.log"  # another start on this workbook has its own
    asked_to_stop, served = False, None
    console.print("Starting JupyterLab …")
    with log.open("wb") as output:
        command = lab_settings.command(folder, lab, port, open_browser, page)
        child = _spawn(command, environment, output)
        try:
            served = _wait_until_ready(child, token, log)
            for line in said:
                url = f"http://{HOST}:{served}{page}?token={token}"
                console.print(line.format(url=url), soft_wrap=True)
            wait(child)
        except KeyboardInterrupt:
            asked_to_stop = True
            console.print("\nStopping JupyterLab and its kernels …")
        finally:
            _end(child, served, token)
    if child.returncode and not asked_to_stop:  # negative: killed, perhaps for want of memory
        raise _failed(child.returncode, log)
    with contextlib.suppress(OSError):
        log.unlink()


@contextlib.contextmanager
def able_to_serve(port: int | None) -> Iterator[None]:
    """Enter once nothing prevents serving; meanwhile signals act as Ctrl-C does.

    Args:
        port: the port that is wanted; ``None`` is the first free one from 8888.

    Raises:
        CourseError: the port is taken, or Jupyter cannot write its own files.
    """
    with stopped_by_signals():
        if port is not None:
            require_port(port)
        lab_settings.require_runtime_folder()
        yield


def require_port(port: int) -> None:
    """Raise if a port cannot be bound.

    Raises:
        CourseError: it is no port, taken, or reserved.
    """
    if not 1 <= port <= 65535:
        raise CourseError(
            f"There is no port {port}.", "Choose one from 1024 to 65535: `make lab PORT=8890`."
        )
    try:
        with socket.socket() as probe:
            if sys.platform != "win32":  # as the server does: a port just left is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
    except OSError as error:
        reserved = isinstance(error, PermissionError)
        raise CourseError(
            f"Port {port} is {'reserved for the system' if reserved else 'in use'}.",
            f"Choose another, for example `make lab PORT={8890 if port != 8890 else 8891}`, or "
            "none: then a free one is chosen.",
        ) from error


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let a closed terminal or a plain `kill` stop the course as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # What is ignored stays ignored: `nohup make lab` is to outlive its terminal.
    names = [name for name in names if signal.getsignal(getattr(signal, name)) != signal.SIG_IGN]
    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _spawn(command: list[str], environment: dict[str, str], output: IO[bytes]) -> Child:
    """Start the server in a process group of its own: Ctrl-C is for us, and we end it in order."""
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        process_group=None if sys.platform == "win32" else 0,
    )


def _wait_until_ready(child: Child, token: str, log: Path) -> int:
    """Return the server's port as soon as it answers.

    Raises:
        CourseError: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + _START_WITHIN
    named = re.compile(re.escape(LISTENING).replace(r"\{\}", "([0-9]+)"))
    while child.poll() is None and time.monotonic() < deadline:
        port = named.search(log.read_text(encoding="utf-8", errors="replace"))
        if port and _ask("GET", "/api/status", int(port[1]), token) == 200:
            return int(port[1])
        time.sleep(0.1)
    raise _failed(child.poll(), log)


def _end(child: Child, port: int | None, token: str) -> None:
    """End the server and its kernels: by request, by signal, then killed."""

    def ask() -> bool:
        return port is not None and _ask("POST", "/api/shutdown", port, token) is not None

    for step in (ask, child.terminate, child.kill):
        if child.poll() is not None:
            return
        # A server that does not answer yet has no kernels to shut down: signal it at once. And a
        # second Ctrl-C goes to the next step.
        if step() is not False:
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                child.wait(timeout=_END_WITHIN)


def _ask(method: str, path: str, port: int, token: str) -> int | None:
    """Send the server a request and return its status, or None if it does not answer.

    Not by urllib, which would ask a proxy for an address on this machine.
    """
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request(method, path, headers={"Authorization": f"token {token}"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _failed(code: int | None, log: Path) -> CourseError:
    """Say that the server did not do, with the last lines of its log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
    ended = "did not answer in time" if code is None else f"ended with status {code}"
    last = "".join(f"\n    {line}" for line in lines)
    return CourseError(
        f"JupyterLab {ended}. Its last output was:{last or ' none'}\n",
        f"Run `lmcourse doctor` (or `make doctor`); the whole log is {log}.",
    )
