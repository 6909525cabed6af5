"""`lmcourse test`: what it runs, where, and what it says when it cannot."""

import functools
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from coursekit import testing
from coursekit.doctor import machine
from lmcourse import devices
from lmcourse.errors import CourseError
from tests import browser

ROOT = Path(__file__).parents[2]
HEAD = "---\nkernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n"
AHEAD = 7 + len(testing.REPORT)  # of the targets, in the command
FILES = (
    "tests/chapters/test_02_recurrent.py",
    "tests/labs/test_lab02_checks.py",
    "tests/labs/lab02/test_answers.py",
    "tests/labs/test_lab12_checks.py",
    "tests/models/test_rnn_2002.py",
    "tests/widgets/test_gradient_flow.py",
    "tests/widgets/test_gradient_flows.py",
)


def notebook(source: str) -> str:
    """Return a MyST source with one code cell."""
    return f"{HEAD}# Small\n\n```{{code-cell}} ipython3\n{source}\n```\n"


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a course with chapter 02, its lab, and test files; its collector is this one's."""
    root = tmp_path / "Kurs für Ñandú"
    sources = ("chapters/02-small.md", "labs/02-small.md", "gallery/gradient-flow.md")
    for name in (*sources, *FILES):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook("1 + 1") if path.suffix == ".md" else "", encoding="utf-8")
    shutil.copy(ROOT / "conftest.py", root)
    # One worker, and a quick start: see pyproject.toml.
    settings = f"""[pytest]
pythonpath = '{ROOT.as_posix()}'
testpaths = tests chapters labs
addopts = -p coursekit.notebooks.sources --maxprocesses=1
"""
    (root / "pytest.ini").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("LMCOURSE_ROOT", str(root))
    monkeypatch.delenv("LMCOURSE_DEVICE", raising=False)
    return root


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Start nothing; return what would have been started, and what it would return."""
    seen: dict[str, Any] = {"code": 0}

    class Process:
        def __init__(self, command: list[str], **options: Any) -> None:
            seen.update(options, command=command)

        def wait(self) -> int:
            return int(seen["code"])

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(devices, "available", lambda: ["cpu"])
    monkeypatch.setattr(testing, "worker_count", lambda more: 2)
    return seen


def test_everything_is_run_in_the_course_with_its_environment(
    small_course: Path,
    started: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LMCOURSE_WORKBOOK", "a student's")
    started["code"] = 1
    assert testing.run(extra=["-x"]) == 1
    begin = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile"]
    assert started["command"] == [*begin, *testing.REPORT, "-x"]
    assert started["cwd"] == small_course
    wanted = {"LMCOURSE_STRICT": "1", "PYTHONHASHSEED": "0", "LMCOURSE_DEVICE": "cpu"}
    wanted |= dict.fromkeys(testing.THREADS, "1")
    assert wanted.items() <= started["env"].items()
    assert "LMCOURSE_WORKBOOK" not in started["env"]
    line = "Running all tests and notebooks with 2 workers; notebooks compute on cpu.\n"
    assert capfd.readouterr().out == line


@pytest.mark.parametrize("only", ["2", "02"])
def test_only_runs_a_chapter_its_lab_and_what_carries_the_number(
    small_course: Path,
    started: dict[str, Any],
    only: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    testing.run(only)
    targets = [Path(part).as_posix() for part in started["command"][AHEAD:]]
    assert sorted(targets) == sorted(["chapters/02-small.md", "labs/02-small.md", *FILES[:3]])
    said = capfd.readouterr().out
    assert "Running chapters/02-small.md, labs/02-small.md and their 3 files of tests with" in said


def test_only_runs_a_widgets_page_and_what_carries_its_name(
    small_course: Path, started: dict[str, Any]
) -> None:
    testing.run("gradient-flow")
    targets = [Path(part).as_posix() for part in started["command"][AHEAD:]]
    assert targets == ["gallery/gradient-flow.md", "tests/widgets/test_gradient_flow.py"]


@pytest.mark.parametrize("only", ["7", "x", "../02"])
def test_an_unknown_chapter_is_said_and_nothing_runs(
    small_course: Path, started: dict[str, Any], only: str
) -> None:
    with pytest.raises(CourseError) as error:
        testing.run(only)
    assert "02" in error.value.remedy
    assert "command" not in started


@pytest.mark.parametrize("asked", ["cuda", "mps", "tpu"])
def test_a_device_that_is_not_there_is_said_and_nothing_runs(
    small_course: Path, started: dict[str, Any], asked: str
) -> None:
    with pytest.raises(CourseError, match=asked):
        testing.run(device=asked)
    assert "command" not in started
    assert "LMCOURSE_DEVICE" not in os.environ


def test_the_device_of_the_environment_counts(
    small_course: Path, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LMCOURSE_DEVICE", "mps")
    with pytest.raises(CourseError, match="mps"):
        testing.run()
    testing.run(device="cpu")
    assert started["env"]["LMCOURSE_DEVICE"] == "cpu"
    assert os.environ["LMCOURSE_DEVICE"] == "mps"


def test_without_torch_the_doctor_is_named(
    small_course: Path, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(CourseError, match="doctor"):
        testing.run()


@pytest.mark.parametrize("name", ["pytest", "xdist", "nbval"])
def test_what_is_not_installed_is_said_with_the_pip_line(
    small_course: Path, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda each: None if each == name else real(each)
    )
    with pytest.raises(CourseError, match=name) as error:
        testing.run()
    assert "python -m coursekit.install --dev" in error.value.remedy
    assert "command" not in started


def test_no_test_at_all_is_an_error(small_course: Path, started: dict[str, Any]) -> None:
    started["code"] = 5
    with pytest.raises(CourseError, match="no test"):
        testing.run(extra=["-k", "nothing"])


@pytest.mark.parametrize(
    ("cores", "gigabytes", "workers"), [(2, 8, 2), (1, 8, 1), (16, 6.1, 3), (4, 0.2, 1)]
)
def test_workers_follow_cores_and_memory(
    monkeypatch: pytest.MonkeyPatch, cores: int, gigabytes: float, workers: int
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: cores)
    monkeypatch.setattr(machine, "free_memory", lambda: gigabytes * 1e9)
    assert testing.worker_count() == workers
    assert testing.worker_count(more=1) == workers + (cores < 4)


def test_a_broken_notebook_fails_the_command_and_is_shown(small_course: Path) -> None:
    broken = notebook("1 / 0  # on purpose")
    (small_course / "labs" / "02-small.md").write_text(broken, encoding="utf-8")
    done = lmcourse_test("--only", "02", "--device", "cpu")
    said = done.communicate(timeout=browser.PATIENCE)[0]
    assert done.returncode == 1, said
    assert "labs/02-small.md, cell 1" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "1 failed, 1 passed" in said


def lmcourse_test(*arguments: str) -> "subprocess.Popen[str]":
    """Start ``lmcourse test``, as in a terminal of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "lmcourse", "test", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
        **browser.as_in_a_terminal(),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_ends_the_tests_and_their_kernels(small_course: Path, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    endless = f"import os\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\nwhile True: pass"
    (small_course / "chapters" / "02-small.md").write_text(notebook(endless), encoding="utf-8")
    done = lmcourse_test("--only", "02", "--device", "cpu")
    deadline = time.monotonic() + browser.PATIENCE
    while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    kernel = psutil.Process(int(mark.read_text()))
    os.killpg(done.pid, signal.SIGINT)  # as a terminal does: to everyone in front
    said = done.communicate(timeout=browser.PATIENCE)[0]
    psutil.wait_procs([kernel], timeout=browser.PATIENCE)
    assert not kernel.is_running()
    assert done.returncode == 2, said
    assert "coursekit/testing.py" not in said


@pytest.fixture
def no_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide every Chromium of this machine."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/no/such/folder")


def test_a_chromium_on_the_path_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", {"google-chrome": "/usr/bin/google-chrome"}.get)
    assert testing.find_chromium() == Path("/usr/bin/google-chrome")


def test_playwrights_own_chromium_is_found(
    no_chromium: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import sync_playwright

    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    assert own.is_relative_to(tmp_path)
    assert testing.find_chromium() is None
    own.parent.mkdir(parents=True)
    own.touch()
    assert testing.find_chromium() == own


require_chromium = functools.partial(browser.require_chromium)  # by its name it would be needed


def test_without_chromium_a_test_is_skipped_with_the_remedy(
    no_chromium: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=re.escape("playwright install chromium")):
        require_chromium()


def test_without_chromium_a_test_fails_in_ci(
    no_chromium: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(BaseException, match="no Chromium") as raised:
        require_chromium()
    assert raised.type is pytest.fail.Exception  # a skip would skip this test
