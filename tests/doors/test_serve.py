"""coursekit.notebooks.serve: JupyterLab on the workbook, and its end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from coursekit.notebooks import jupyterlab, lab_settings, serve, workbook
from lmcourse.errors import CourseError
from tests.doors.conftest import SmallCourse, make_small

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="sends signals as Unix does")
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class Served:
    course: SmallCourse
    process: "subprocess.Popen[str]"
    port: int
    token: str
    runtime: Path

    def ask(self, path: str, data: dict | None = None, token: bool = True) -> object:
        """Ask the server's API; the answer as JSON."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if data is None else json.dumps(data).encode(),
            headers={"Authorization": f"token {self.token}"} if token else {},
        )
        with _OPENER.open(request, timeout=30) as answer:
            return json.load(answer)


def start(course: SmallCourse, home: Path, *options: str) -> Served:
    """Start `python -m lmcourse lab` as a student would, and wait for its address."""
    return await_address(course, home, launch(course, home, *options))


def launch(course: SmallCourse, home: Path, *options: str) -> "subprocess.Popen[str]":
    runtime = home / "runtime"
    environment = dict(os.environ) | {
        "LMCOURSE_ROOT": str(course.root),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONUNBUFFERED": "1",
    }
    environment.pop("JUPYTER_TOKEN", None)
    return subprocess.Popen(
        [sys.executable, "-m", "lmcourse", "lab", "--no-browser", *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
    )


def await_address(course: SmallCourse, home: Path, process: "subprocess.Popen[str]") -> Served:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl + C" in line:
            break
    address = re.search(r"http://127\.0\.0\.1:(\d+)/lab/tree/START\.md\?token=(\w+)", said)
    assert address, f"no address in what it said:\n{said}"
    return Served(course, process, int(address[1]), address[2], home / "runtime")


def stop(served: Served, number: int) -> str:
    """Send a signal and return what was said from then on; the process must end."""
    served.process.send_signal(number)
    said, _ = served.process.communicate(timeout=60)
    return said


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    running = start(make_small(home), home)
    yield running
    if running.process.poll() is None:
        running.process.terminate()
        running.process.communicate(timeout=60)


def until(happens: Callable[[], object], seconds: float = 60) -> object:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
    return found


@POSIX
def test_the_workbook_is_served_with_token_only(served):
    names = {each["name"] for each in served.ask("/api/contents")["content"]}
    assert names == {"START.md", "chapters", "labs"}, "the private folder is not shown"
    with pytest.raises(urllib.error.HTTPError) as refused:
        served.ask("/api/contents", token=False)
    assert refused.value.code == 403
    arguments = " ".join(psutil.Process(served.process.pid).children()[0].cmdline())
    assert served.token not in arguments, "every user of the machine can list arguments"


@POSIX
def test_only_this_machine_can_connect(served):
    bound = {
        each.laddr.ip
        for each in psutil.Process(served.process.pid).children()[0].net_connections()
        if each.status == psutil.CONN_LISTEN
    }
    assert bound == {"127.0.0.1"}


@POSIX
def test_the_courses_settings_hold(served):
    def setting(name):
        return served.ask(f"/lab/api/settings/{name}")

    news = setting("@jupyterlab/apputils-extension:notification")
    assert news["schema"]["properties"]["fetchNews"]["default"] == "false"
    assert news["schema"]["properties"]["checkForUpdates"]["default"] is False
    documents = setting("@jupyterlab/docmanager-extension:plugin")["schema"]["properties"]
    assert documents["defaultViewers"]["default"] == {"markdown": "Markdown Preview"}


def answers(client) -> bool:
    """Whether a kernel is ready; one that is slow to start on a busy machine may seem dead."""
    try:
        client.wait_for_ready(timeout=20)
    except RuntimeError:
        return False
    return True


@POSIX
def test_a_kernel_knows_the_workbook_and_this_environment(served):
    from jupyter_client import BlockingKernelClient

    kernel = served.ask("/api/kernels", {"name": "python3", "path": "labs"})
    file = served.runtime / f"kernel-{kernel['id']}.json"
    client = BlockingKernelClient(connection_file=str(until(lambda: file.exists() and file)))
    client.load_connection_file()
    client.start_channels()
    try:
        until(lambda: answers(client))
        asked = {
            "workbook": "__import__('os').environ['LMCOURSE_WORKBOOK']",
            "python": "__import__('sys').executable",
            "course": "__import__('lmcourse').__name__",
            "command": "__import__('shutil').which('python')",
        }
        answer = client.execute_interactive("1", user_expressions=asked, timeout=60)
        found = {
            name: value["data"]["text/plain"].strip("'")
            for name, value in answer["content"]["user_expressions"].items()
        }
    finally:
        client.stop_channels()
    assert found["workbook"] == str(served.course.workbook)
    assert found["python"] == sys.executable
    assert found["course"] == "lmcourse"
    assert Path(found["command"]).parent == Path(sys.executable).parent


@POSIX
def test_the_start_page_follows_the_progress(served):
    page = served.course.workbook / "START.md"
    assert "· 0 of " in page.read_text(encoding="utf-8")
    record = {
        "title": "Perplexity",
        "solved": "2026-11-21T10:00:00+00:00",
        "attempts": 1,
    }
    progress = served.course.workbook / ".lmcourse" / "progress.json"
    progress.write_text(json.dumps({"version": 1, "exercises": {"02.1": record}}))
    until(lambda: "· 1 of " in page.read_text(encoding="utf-8"))


@POSIX
def test_a_second_start_takes_the_next_port_and_a_given_one_is_refused(served, tmp_path):
    second = start(make_small(tmp_path), tmp_path)
    try:
        assert second.port != served.port
    finally:
        stop(second, signal.SIGTERM)
    assert second.process.returncode == 0
    refused = subprocess.run(
        [
            sys.executable,
            "-m",
            "lmcourse",
            "lab",
            "--no-browser",
            "--port",
            str(served.port),
        ],
        env=dict(os.environ) | {"LMCOURSE_ROOT": str(second.course.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"Port {served.port} is in use.\n")
    assert "make lab PORT=" in refused.stderr and "Traceback" not in refused.stderr


@POSIX
def test_several_that_start_at_once_on_one_workbook_all_serve_it(tmp_path):
    course = make_small(tmp_path)
    launched = [launch(course, tmp_path) for _ in range(3)]
    running = []
    try:
        running = [await_address(course, tmp_path, each) for each in launched]
        assert len({each.port for each in running}) == 3
        for each in running:  # its own token opens it
            assert each.ask("/api/status")["kernels"] == 0
    finally:
        for each in launched:
            each.send_signal(signal.SIGTERM)
        said = [each.communicate(timeout=120)[0] for each in launched]
    assert [each.returncode for each in launched] == [0] * 3, said
    assert list(course.workbook.rglob("jupyterlab-*.log")) == []
    assert list(course.workbook.rglob("*.updated.*")) == [], "none took another's files for edits"


@POSIX
def test_ctrl_c_ends_server_and_kernels_without_a_traceback(served):
    """The last test of the shared server."""
    served.ask("/api/kernels", {"name": "python3"})
    family = psutil.Process(served.process.pid).children(recursive=True)
    assert len(family) >= 2, "the server and a kernel"
    said = stop(served, signal.SIGINT)
    assert served.process.returncode == 0
    assert "Traceback" not in said and "has stopped" in said
    until(lambda: not any(each.is_running() for each in family), 20)


@POSIX
def test_a_server_that_ends_by_itself_is_told_with_its_last_words(small, monkeypatch):
    script = "print('no such thing: frontend'); raise SystemExit(3)"
    monkeypatch.setattr(lab_settings, "command", lambda *_: [sys.executable, "-c", script])
    with pytest.raises(CourseError, match="ended with status 3") as error:
        serve.serve_lab(open_browser=False)
    assert "no such thing: frontend" in error.value.cause
    (log,) = small.workbook.rglob("jupyterlab-*.log")
    assert str(log) in error.value.remedy


SERVER = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
server = HTTPServer(("127.0.0.1", 0), Answer)
print("The course listens on port %d." % server.server_port, flush=True)
server.handle_request()
print("out of memory", flush=True)
{end}
"""


@POSIX
@pytest.mark.parametrize(("end", "status"), [("sys.exit(4)", 4), ("os.kill(os.getpid(), 9)", -9)])
def test_a_server_that_dies_later_is_told_too(small, monkeypatch, capsys, end, status):
    def fake(folder, lab, port, browser, page):
        return [sys.executable, "-c", SERVER.format(end=end)]

    monkeypatch.setattr(lab_settings, "command", fake)
    with pytest.raises(CourseError, match=f"ended with status {status}") as error:
        serve.serve_lab(open_browser=False)
    assert "out of memory" in error.value.cause
    assert "Your course is open" in capsys.readouterr().out, "it had been ready"


@POSIX
def test_a_server_that_the_student_shuts_down_is_no_error(small, monkeypatch, capsys):
    def fake(folder, lab, port, browser, page):
        return [sys.executable, "-c", SERVER.format(end="")]

    monkeypatch.setattr(lab_settings, "command", fake)
    serve.serve_lab(open_browser=False)
    assert "The course has stopped" in capsys.readouterr().out


def test_the_command_is_this_environments_and_asks_for_the_start_page(tmp_path):
    command = lab_settings.command(tmp_path, tmp_path / "lab", 8890, False, lab_settings.START)
    assert command[:3] == [sys.executable, "-m", "coursekit.notebooks.server"]
    assert "--ServerApp.port=8890" in command
    assert "--LabApp.default_url=/lab/tree/START.md" in command
    assert "--ServerApp.open_browser=False" in command


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_when_one_is_root(tmp_path, monkeypatch, user, allowed):
    monkeypatch.setattr(lab_settings.os, "geteuid", lambda: user, raising=False)
    command = lab_settings.command(tmp_path, tmp_path, 8890, True, "/lab")
    assert ("--ServerApp.allow_root=True" in command) is allowed


def test_a_busy_port_names_itself_and_another():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(CourseError, match=f"Port {port} is in use") as error:
            jupyterlab.require_port(port)
        assert "make lab PORT=8890" in error.value.remedy


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_no_such_port(port):
    with pytest.raises(CourseError, match=f"no port {port}"):
        jupyterlab.require_port(port)


def test_jupyters_own_folder_cannot_be_written(small, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(blocked / "runtime"))
    with pytest.raises(CourseError, match="Jupyter cannot write") as error:
        serve.serve_lab(open_browser=False)
    assert "JUPYTER_RUNTIME_DIR" in error.value.remedy
    assert not small.workbook.exists()


def test_settings_lie_in_the_workbook_and_not_in_the_home(small):
    folder = small.workbook
    lab = lab_settings.write_settings(folder / ".lmcourse")
    environment = lab_settings.environment(folder, lab)
    for name in ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        assert Path(environment[name]).is_relative_to(folder)
    assert environment["LMCOURSE_WORKBOOK"] == str(folder)
    assert len(environment["JUPYTER_TOKEN"]) >= 32
    written = (lab / "settings" / "overrides.json").read_text(encoding="utf-8")
    assert json.loads(written) == lab_settings.OVERRIDES


def test_the_summary_counts_what_was_done(small, edit):
    assert serve.summary(workbook.lay_out()) == ["2 written"]
    assert serve.summary(workbook.lay_out()) == []
    edit(small.chapter, lambda n: n["cells"][0].update(source="Mine."))
    small.change_chapter()
    lines = serve.summary(workbook.lay_out())
    assert lines[0] == "1 written, 1 edited by you and left alone"
    assert lines[1] == "newer version beside yours: chapters/02-recurrent.updated.ipynb"


class Server:
    """A stand-in for the server's process: each look at it lets something happen, then it ends."""

    def __init__(self, *happenings):
        self.happenings = list(happenings)
        self.steps = []

    def wait(self, timeout):
        self.steps.append("wait")
        if not self.happenings:
            return 0
        self.happenings.pop(0)()
        raise subprocess.TimeoutExpired("jupyterlab", timeout)

    def poll(self):
        return 0 if "terminate" in self.steps else None

    def terminate(self):
        self.steps.append("terminate")

    def kill(self):
        self.steps.append("kill")


def test_the_page_of_a_newer_start_is_left_to_it(small):
    report = serve.prepare(small.workbook)
    page, progress = small.workbook / "START.md", small.workbook / ".lmcourse" / "progress.json"
    record = {"title": "P", "solved": "2026-11-21T10:00:00+00:00", "attempts": 1}
    solved = json.dumps({"version": 1, "exercises": {"02.1": record}})
    serve._watch(Server(lambda: progress.write_text(solved)), report)
    assert "· 1 of " in page.read_text(encoding="utf-8")
    newer = page.read_text(encoding="utf-8") + "a notice that only the newer start knows\n"

    def newer_start():
        page.write_text(newer, encoding="utf-8")
        progress.unlink()

    serve._watch(Server(newer_start), report)
    assert page.read_text(encoding="utf-8") == newer


def test_a_server_that_does_not_answer_yet_is_ended_at_once():
    server = Server()
    jupyterlab._end(server, None, "token")
    assert server.steps == ["terminate", "wait"]


@POSIX
def test_what_is_ignored_stays_ignored_as_under_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with jupyterlab.stopped_by_signals():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)
