"""coursekit.cli: the command, its help, and how it says what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coursekit import cli, doctor, testing
from coursekit.notebooks import serve
from lmcourse import devices
from lmcourse.errors import CourseError


def run(*arguments, **variables):
    """Run `python -m lmcourse` as a student would, with a plain wide terminal."""
    return subprocess.run(
        [sys.executable, "-m", "lmcourse", *arguments],
        env=dict(os.environ) | {"COLUMNS": "100", "NO_COLOR": "1"} | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def invoke(*arguments):
    return CliRunner().invoke(cli.app, arguments, catch_exceptions=False)


def test_help_lists_the_doors_and_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from coursekit.cli import main\n"
        "sys.argv = ['lmcourse', '--help']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print('LOADED', *sorted({m.split('.')[0] for m in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", check=True
    )
    shown, loaded = done.stdout.split("LOADED")
    for door in ("lab", "workbook", "test", "doctor"):
        assert door in shown
    heavy = {"torch", "numpy", "nbformat", "jupytext", "jupyter_core", "jupyter_client", "yaml"}
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize("arguments", [["--help"], ["lab", "--help"], ["test", "-h"], []])
def test_the_command_equals_python_dash_m(arguments):
    command = Path(sys.executable).with_name("lmcourse")
    if not command.exists():
        pytest.skip("the course is not installed with its command")
    by_module = run(*arguments)
    by_command = subprocess.run(
        [command, *arguments],
        env=dict(os.environ) | {"COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert by_module.stdout == by_command.stdout != ""
    assert by_module.returncode == by_command.returncode


def test_an_error_is_two_sentences_on_stderr(small):
    small.workbook.write_text("a file")
    done = run("lab", "--no-browser", LMCOURSE_ROOT=str(small.root))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and "folder is needed" in lines[0] and "Rename" in lines[1]
    assert "Traceback" not in done.stdout + done.stderr


def test_no_course_there(tmp_path):
    done = run("lab", LMCOURSE_ROOT=str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "LMCOURSE_ROOT" in done.stderr


def test_unknown_chapter(small):
    done = run("test", "--only", "99", LMCOURSE_ROOT=str(small.root))
    assert done.returncode == 1
    assert done.stderr == ("There is no chapter '99' in this course.\nChoose one of these: 02.\n")


@pytest.mark.parametrize(
    "arguments", [["lab", "--port", "many"], ["lab", "--device", "abacus"], ["x"]]
)
def test_wrong_usage_ends_with_2(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_device_that_is_not_there_is_named_before_anything_starts(monkeypatch):
    monkeypatch.setattr(serve, "serve_lab", lambda **_: pytest.fail("JupyterLab was started"))
    monkeypatch.setattr(devices, "available", lambda: ["cpu"])
    monkeypatch.setenv("LMCOURSE_DEVICE", "cpu")  # put back afterwards, whatever a command sets
    with pytest.raises(CourseError, match="'cuda' was requested"):
        invoke("lab", "--device", "cuda")
    monkeypatch.setenv("LMCOURSE_DEVICE", "gpu")
    with pytest.raises(CourseError, match="LMCOURSE_DEVICE is"):
        invoke("lab")


def test_workbook_lays_out_and_stops(small, capsys):
    assert invoke("workbook").exit_code == 0
    assert (small.workbook / "START.md").is_file()
    assert (small.workbook / "chapters" / "02-recurrent.ipynb").is_file()


def test_lab_passes_its_options_on(monkeypatch):
    seen = []
    monkeypatch.setattr(serve, "serve_lab", lambda **options: seen.append(options))
    monkeypatch.setattr(devices, "available", lambda: ["cuda", "cpu"])
    monkeypatch.setenv("LMCOURSE_DEVICE", "cuda")
    assert invoke("lab").exit_code == 0
    assert os.environ["LMCOURSE_DEVICE"] == "cuda"
    assert invoke("lab", "--port", "8890", "--no-browser", "--device", "cpu").exit_code == 0
    assert os.environ["LMCOURSE_DEVICE"] == "cpu"
    assert seen == [
        {"port": None, "open_browser": True},
        {"port": 8890, "open_browser": False},
    ]


def test_test_passes_its_options_on_and_returns_the_exit_code(monkeypatch):
    seen = []

    def fake(*arguments):
        seen.append(arguments)
        return 3

    monkeypatch.setattr(testing, "run", fake)
    assert invoke("test").exit_code == 3
    assert invoke("test", "--only", "02", "--device", "cpu", "--", "-x", "-k", "a b").exit_code == 3
    assert seen == [(None, None, []), ("02", "cpu", ["-x", "-k", "a b"])]


@pytest.mark.parametrize("code", [0, 1])
def test_doctor_returns_its_verdict(monkeypatch, code):
    monkeypatch.setattr(doctor, "main", lambda: code)
    assert invoke("doctor").exit_code == code


def test_main_turns_a_course_error_into_status_1(monkeypatch, capsys):
    def fail():
        raise CourseError("It is broken.", "Mend it.")

    monkeypatch.setattr(doctor, "main", fail)
    monkeypatch.setattr(sys, "argv", ["lmcourse", "doctor"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert capsys.readouterr().err == "It is broken.\nMend it.\n"
