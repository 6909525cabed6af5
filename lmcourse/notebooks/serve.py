"""Serve the workbook: lay it out, start JupyterLab on it, and end it cleanly."""

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO

from rich.console import Console

from lmcourse import course
from lmcourse.errors import CourseError
from lmcourse.notebooks import lab_settings, startpage, workbook
from lmcourse.notebooks.lab_settings import HOST, START
from lmcourse.notebooks.workbook import PRIVATE, Report

FIRST_PORT = 8888
_START_WITHIN = 180.0  # seconds: a cold start from a slow disk takes a minute
_END_WITHIN = 15.0  # seconds, for the kernels to be shut down


def serve_lab(
    port: int | None = None, open_browser: bool = True, folder: Path | None = None
) -> None:
    """Lay the workbook out and serve it with JupyterLab until it is stopped (Ctrl-C, a signal).

    Args:
        port: where to serve; by default the first free one from 8888.
        open_browser: whether to open the start page in the browser.
        folder: the workbook; by default `course.workbook`.

    Raises:
        CourseError: the workbook cannot be laid out, the port is taken, or JupyterLab ends by
            itself with an error.
    """
    console = Console(highlight=False)
    folder = (folder or course.workbook()).absolute()
    with _stopped_by_signals():
        number = free_port() if port is None else require_port(port)
        lab_settings.require_runtime_folder()
        report = prepare(folder, console)
        console.print("Starting JupyterLab …")
        _run(report, number, open_browser, console)
    console.print("The course has stopped. Your work is saved in the workbook folder.")


def prepare(folder: Path | None = None, console: Console | None = None) -> Report:
    """Lay the workbook out with its start page, and say what was done.

    Raises:
        CourseError: it cannot be laid out.
    """
    console = console or Console(highlight=False)
    folder = (folder or course.workbook()).absolute()
    console.print(f"Laying out your notebooks in {folder}", soft_wrap=True, markup=False)
    report = workbook.lay_out(folder)
    for line in summary(report):
        console.print(f"  {line}", soft_wrap=True, markup=False)
    startpage.write(report)
    return report


def summary(report: Report) -> list[str]:
    """Say in a few lines what a layout did."""
    counts = [
        (report.written, "written"),
        (report.replaced, "brought up to date"),
        (report.edited, "edited by you and left alone"),
    ]
    said = [f"{len(names)} {what}" for names, what in counts if names]
    lines = [", ".join(said)] if said else []
    lines += [f"newer version beside yours: {copy}" for copy in report.updates.values()]
    lines += [f"cannot be read, left as it is: {name}" for name in report.broken]
    return lines + report.notices


def require_port(port: int) -> int:
    """Return the port if it can be bound.

    Raises:
        CourseError: it is no port, taken, or reserved.
    """
    if not 1 <= port <= 65535:
        raise CourseError(
            f"There is no port {port}.", "Choose one from 1024 to 65535: `make lab PORT=8890`."
        )
    try:
        _bind(port)
    except OSError as error:
        reserved = isinstance(error, PermissionError)
        raise CourseError(
            f"Port {port} is {'reserved for the system' if reserved else 'in use'}.",
            f"Choose another, for example `make lab PORT={8890 if port != 8890 else 8891}`, or "
            "none: then a free one is taken.",
        ) from error
    return port


def free_port() -> int:
    """Return the first free port from 8888, or any if the next hundred are taken."""
    for port in range(FIRST_PORT, FIRST_PORT + 100):
        with contextlib.suppress(OSError):
            return _bind(port)
    return _bind(0)


def _bind(port: int) -> int:
    with socket.socket() as probe:
        if sys.platform != "win32":  # as the server does: a port just left is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
        return int(probe.getsockname()[1])


def _run(report: Report, port: int, open_browser: bool, console: Console) -> None:
    """Run JupyterLab as a child until it ends or this process is told to stop."""
    lab = lab_settings.write_settings(report.folder / PRIVATE)
    environment = lab_settings.environment(report.folder, lab)
    token = environment["JUPYTER_TOKEN"]
    log = lab / "jupyterlab.log"
    asked_to_stop = False
    with log.open("wb") as output:
        child = _spawn(
            lab_settings.command(report.folder, lab, port, open_browser), environment, output
        )
        try:
            _wait_until_ready(child, port, token, log)
            console.print(f"\nYour course is open at\n  {_url(port, token)}\n", soft_wrap=True)
            console.print("Keep this terminal open while you work. Ctrl + C stops the course.")
            _watch(child, report)
        except KeyboardInterrupt:
            asked_to_stop = True
            console.print("\nStopping JupyterLab and its kernels …")
        finally:
            _end(child, port, token)
    if child.returncode and not asked_to_stop:  # negative: killed, perhaps for want of memory
        raise _failed(child.returncode, log)


def _url(port: int, token: str) -> str:
    return f"http://{HOST}:{port}{START}?token={token}"


def _spawn(
    command: list[str], environment: dict[str, str], output: IO[bytes]
) -> "subprocess.Popen[bytes]":
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


def _wait_until_ready(child: "subprocess.Popen[bytes]", port: int, token: str, log: Path) -> None:
    """Return as soon as the server answers.

    Raises:
        CourseError: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + _START_WITHIN
    while child.poll() is None and time.monotonic() < deadline:
        if _ask("GET", "/api/status", port, token) == 200:
            return
        time.sleep(0.1)
    raise _failed(child.poll(), log)


def _watch(child: "subprocess.Popen[bytes]", report: Report) -> None:
    """Wait for the server's end; meanwhile keep the start page's progress up to date.

    Another start on the same workbook knows more (its report is newer) and keeps the page itself:
    once the page is not as this process left it, it is left alone.
    """
    progress, start = report.folder / PRIVATE / "progress.json", report.folder / startpage.NAME
    seen, written = _modified(progress), _modified(start)
    while True:
        try:
            child.wait(timeout=1.0)
            return
        except subprocess.TimeoutExpired:
            now = _modified(progress)
            if now != seen and _modified(start) == written:
                # The page is a convenience: a full disk must not end the course.
                with contextlib.suppress(CourseError):
                    startpage.write(report)
                written = _modified(start)
            seen = now


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _end(child: "subprocess.Popen[bytes]", port: int, token: str) -> None:
    """End the server and its kernels: asked, then told, then killed."""

    def ask() -> bool:
        return _ask("POST", "/api/shutdown", port, token) is not None

    for step in (ask, child.terminate, child.kill):
        if child.poll() is not None:
            return
        # A server that does not answer yet has no kernels to shut down: tell it at once. And a
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
        f"JupyterLab {ended}. Its last words were:{last or ' none'}\n",
        f"Run `lmcourse doctor` (or `make doctor`); the whole log is {log}.",
    )


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
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
