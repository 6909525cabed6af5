"""`lmcourse doctor`: each thing it looks at, once well and once bad, and its last line."""

import builtins
import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coursekit import doctor, testing
from coursekit.book import myst
from coursekit.doctor import files, installed, machine
from coursekit.doctor.finding import Finding
from lmcourse.corpus import documentation
from lmcourse.errors import CourseError

PYPROJECT = """
[project]
[project.optional-dependencies]
course = ["numpy~=2.4", "rich~=15.0"]
dev = ["pytest~=9.2"]
"""
LOCK = """
numpy==2.4.1
    # via lmcourse
rich==15.0.0 ; python_full_version >= '3.11'
rich==14.0.0 ; python_full_version < '3.11'
pytest==9.2.0
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty checkout, with a workbook, that the course takes for its own."""
    monkeypatch.delenv("LMCOURSE_TEXT", raising=False)
    for folder in ("chapters", "labs", "workbook/.lmcourse"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def versions(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what is said to be installed; the test changes it."""
    (home / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (home / "requirements.lock").write_text(LOCK, encoding="utf-8")
    monkeypatch.setattr(installed.lmcourse, "__file__", str(home / "lmcourse" / "__init__.py"))
    said = {"numpy": "2.4.1", "rich": "15.0.0", "pytest": "9.2.0"}

    def version(name: str) -> str:
        if name not in said:
            raise importlib.metadata.PackageNotFoundError(name)
        return said[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    return said


def one(check: Callable[[], Any], name: str) -> Finding:
    """Return the finding of that name."""
    return next(finding for finding in check() if finding.name == name)


@pytest.mark.parametrize(
    ("version", "status"),
    [((3, 10), "problem"), ((3, 11), "ok"), ((3, 14), "ok"), ((3, 15), "problem")],
)
def test_python(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], status: str) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    finding = one(installed.python, "Python")
    assert finding.status == status
    assert ("3.11 to 3.14" in finding.found) == (status == "problem")


@pytest.mark.parametrize(
    ("prefix", "base", "status", "words"),
    [
        (".venv", "/usr", "ok", "the course's own .venv"),
        ("other", "/usr", "ok", "another one"),
        ("conda", "conda", "ok", "another one"),
        ("usr", "usr", "warning", "system's own Python"),
    ],
)
def test_environment(
    versions: dict[str, str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    prefix: str,
    base: str,
    status: str,
    words: str,
) -> None:
    (home / "conda" / "conda-meta").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(home / prefix))
    monkeypatch.setattr(sys, "base_prefix", str(home / base))
    finding = one(installed.environment, "environment")
    assert finding.status == status
    assert words in finding.found


def test_packages_that_are_as_they_should_be(versions: dict[str, str]) -> None:
    versions["numpy"] = "2.4.1+cpu"  # a build of the same version
    found = {finding.name: finding.status for finding in installed.packages()}
    assert found == {"numpy": "ok", "rich": "ok"}


def test_a_missing_package_is_a_problem(versions: dict[str, str]) -> None:
    del versions["numpy"]
    finding = one(installed.packages, "numpy")
    assert finding.status == "problem"
    assert "python -m coursekit.install" in finding.remedy


def test_another_version_than_the_locks_is_a_warning(versions: dict[str, str]) -> None:
    versions["rich"] = "14.0.0"
    finding = one(installed.packages, "rich")
    assert finding.status == "warning"
    assert "15.0.0" in finding.found
    assert "python -m coursekit.install" in finding.remedy


def test_what_only_maintainers_need_is_a_warning(versions: dict[str, str]) -> None:
    del versions["pytest"]
    finding = one(installed.packages, "pytest")
    assert finding.status == "warning"
    assert "Only `make test`" in finding.remedy


def test_no_pyproject_is_said(versions: dict[str, str], home: Path) -> None:
    (home / "pyproject.toml").unlink()
    with pytest.raises(CourseError, match=r"pyproject\.toml"):
        list(installed.packages())


@pytest.mark.parametrize("error", [ImportError("libomp is missing"), OSError("DLL load failed")])
def test_a_torch_that_fails_to_import_is_said(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    real = builtins.__import__

    def broken(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "torch":
            raise error
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", broken)
    (finding,) = machine.pytorch()
    assert finding.status == "problem"
    assert str(error) in finding.found
    assert "pip uninstall torch" in finding.remedy and "coursekit.install" in finding.remedy


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a stand-in for PyTorch on a machine with a CPU only; the test changes it."""
    fake = SimpleNamespace(
        __version__="9.9",
        version=SimpleNamespace(cuda=None),
        cuda=SimpleNamespace(is_available=lambda: False),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False)),
        device=lambda kind: SimpleNamespace(type=kind),
        get_num_threads=lambda: 2,
    )
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("LMCOURSE_DEVICE", raising=False)
    return fake


def test_a_cpu_is_fine(torch: Any) -> None:
    assert [finding.status for finding in machine.pytorch()] == ["ok", "ok"]
    assert one(machine.pytorch, "device").found == "PyTorch 9.9 computes on cpu"


def test_a_gpu_is_taken(torch: Any) -> None:
    torch.cuda.is_available = lambda: True
    assert one(machine.pytorch, "device").found.endswith("on cuda")


def test_a_device_that_is_not_there_is_a_problem(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LMCOURSE_DEVICE", "cuda")
    finding = one(machine.pytorch, "device")
    assert finding.status == "problem"
    assert "LMCOURSE_DEVICE" in finding.found + finding.remedy


@pytest.mark.parametrize(
    ("built_for", "words"), [(None, "built for the CPU only"), ("13.0", "cannot use it")]
)
def test_a_gpu_that_torch_cannot_use_is_a_warning(
    torch: Any, monkeypatch: pytest.MonkeyPatch, built_for: str | None, words: str
) -> None:
    monkeypatch.setattr(shutil, "which", {"nvidia-smi": "/usr/bin/nvidia-smi"}.get)
    torch.version.cuda = built_for
    finding = one(machine.pytorch, "GPU")
    assert finding.status == "warning"
    assert words in finding.found
    assert finding.remedy


def test_more_threads_than_cores_is_a_warning(torch: Any) -> None:
    torch.get_num_threads = lambda: 64
    finding = one(machine.pytorch, "threads")
    assert finding.status == "warning"
    assert "OMP_NUM_THREADS=2" in finding.remedy


@pytest.mark.parametrize(("free", "status"), [(2.1e9, "ok"), (1.9e9, "warning")])
def test_memory(monkeypatch: pytest.MonkeyPatch, free: float, status: str) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: free)
    assert one(machine.memory, "memory").status == status


def test_free_memory_respects_a_containers_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    of_the_machine = machine.free_memory()
    assert of_the_machine > 1e7
    for name, text in (("max", "3000"), ("current", "2500"), ("stat", "anon 7\ninactive_file 500")):
        (tmp_path / f"memory.{name}").write_text(text, encoding="ascii")
    assert machine.free_memory() == 1000
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert machine.free_memory() > 1e7


@pytest.mark.parametrize(("free", "status"), [(1.1e9, "ok"), (0.9e9, "warning")])
def test_disk(home: Path, monkeypatch: pytest.MonkeyPatch, free: float, status: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    finding = one(machine.disk, "disk")
    assert finding.status == status
    assert str(home) in finding.found


def test_sources(home: Path) -> None:
    def write(name: str) -> None:
        (home / name).write_text("# X\n", encoding="utf-8")

    write("chapters/03-x.md")
    assert one(files.sources, "course").found == f"1 chapter, 0 labs and 0 widgets in {home}"
    write("labs/03-x.md")
    write("chapters/04-x.md")
    (home / "gallery").mkdir()
    write("gallery/x.md")
    assert one(files.sources, "course").found == f"2 chapters, 1 lab and 1 widget in {home}"


def test_text(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "python_documentation", lambda: ["a" * 2000, "b" * 500])
    found = one(files.text, "text").found
    assert found == "2,500 characters of the documentation that this Python carries"
    monkeypatch.setenv("LMCOURSE_TEXT", "a book.txt")
    assert one(files.text, "text").found == "2,500 characters of a book.txt"


def test_a_text_that_is_not_there_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMCOURSE_TEXT", str(home / "no such text"))
    finding = next(finding for finding in doctor.report() if finding.name == "text")
    assert finding.status == "problem"
    assert "no such text" in finding.found


def test_no_documentation_text_is_a_problem_with_its_remedy(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    finding = next(finding for finding in doctor.report() if finding.name == "text")
    assert finding.status == "problem"
    assert "LMCOURSE_TEXT" in finding.remedy


def test_workbook(home: Path) -> None:
    assert one(files.workbook, "workbook").found == str(home / "workbook")
    shutil.rmtree(home / "workbook")
    finding = one(files.workbook, "workbook")
    assert finding.status == "ok"
    assert "`make lab` will make" in finding.found
    assert not (home / "workbook").exists()  # the doctor changes nothing
    (home / "workbook").write_text("a file", encoding="utf-8")
    finding = one(files.workbook, "workbook")
    assert finding.status == "problem"
    assert "it is a file" in finding.found


def test_a_workbook_that_cannot_be_written_is_a_problem(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(dir: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.tempfile, "TemporaryFile", refuse)  # as root nothing is refused
    finding = one(files.workbook, "workbook")
    assert finding.status == "problem"
    assert "Permission denied" in finding.found
    assert "LMCOURSE_WORKBOOK" in finding.remedy


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", b"\xff", "{}", "", '{"version": 1}', '{"version": 0}', '{"version": "2"}'),
        *('{"version": true}', '{"version": 1, "exercises": []}', '{"version": 1, "files": []}'),
        "[" * 100_000,
    ],
    ids=lambda text: str(text)[:24],
)
@pytest.mark.parametrize("name", ["manifest", "progress"])
def test_a_record_that_cannot_be_read_is_a_warning_and_stays(
    home: Path, name: str, text: str | bytes
) -> None:
    path = home / "workbook" / ".lmcourse" / f"{name}.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    finding = one(files.records, f"{name} file")
    assert finding.status == "warning"
    assert str(path) in finding.found
    assert "damaged" in finding.found
    assert "under another name" in finding.remedy
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["manifest", "progress"])
def test_a_record_of_a_newer_course_is_not_called_damaged(home: Path, name: str) -> None:
    path = home / "workbook" / ".lmcourse" / f"{name}.json"
    path.write_text('{"version": 3, "other": {}}', encoding="utf-8")
    finding = one(files.records, f"{name} file")
    assert finding.status == "warning"
    assert "written by a newer version of the course" in finding.found
    assert "damaged" not in finding.found + finding.remedy
    assert "Update the course" in finding.remedy
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["manifest", "progress"])
def test_a_record_that_may_not_be_read_is_a_warning(
    home: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # as root nothing is refused
    finding = one(files.records, f"{name} file")
    assert finding.status == "warning"
    assert "cannot be read (Permission denied)" in finding.found
    assert "right to read" in finding.remedy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest", '{"version": 1, "files": {"a.ipynb": {"laid": "0123"}}}'),
        ("progress", '{"version": 1, "exercises": {}}'),
    ],
)
def test_records_that_are_well(home: Path, name: str, text: str) -> None:
    assert [finding.found for finding in files.records()] == ["none yet", "none yet"]
    path = home / "workbook" / ".lmcourse" / f"{name}.json"
    path.write_text(text, encoding="utf-8")
    assert one(files.records, f"{name} file") == Finding(f"{name} file", "ok", str(path))


def test_jupyterlab(versions: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import jupyter_core.paths

    package = home / "labextensions" / "jupyterlab-myst" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(jupyter_core.paths, "jupyter_path", lambda name: [str(home / name)])

    assert one(installed.jupyterlab, "JupyterLab").status == "problem"  # not installed at all
    versions |= {"jupyterlab": "4.6.6", "jupyterlab-myst": "2.7.0"}
    assert one(installed.jupyterlab, "JupyterLab").status == "ok"
    versions["jupyterlab"] = "4.60.0"
    finding = one(installed.jupyterlab, "JupyterLab")
    assert finding.status == "warning"
    assert "only jupyterlab 4.6 with jupyterlab-myst 2.7 was tried" in finding.found
    package.unlink()
    finding = one(installed.jupyterlab, "JupyterLab")
    assert finding.status == "warning"
    assert "does not see the extension" in finding.found


def test_node(monkeypatch: pytest.MonkeyPatch) -> None:
    found = one(installed.node, "Node.js")
    assert found.status == "ok" and re.match(r"v\d+\.\d+\.\d+ at /", found.found)
    monkeypatch.setattr(myst, "_node_of_the_environment", lambda: None)
    monkeypatch.setenv("PATH", "")
    finding = one(installed.node, "Node.js")
    assert finding.status == "warning", "students need none"
    assert "The book needs Node.js" in finding.found
    assert finding.remedy == myst.NODE_REMEDY


def test_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "find_chromium", lambda: None)
    finding = one(installed.chromium, "Chromium")
    assert finding.status == "warning"
    assert "playwright install chromium" in finding.remedy
    monkeypatch.setattr(testing, "find_chromium", lambda: Path("/usr/bin/chromium"))
    assert one(installed.chromium, "Chromium").status == "ok"


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fine() -> Any:
        yield Finding("fine", "ok", "well")

    def broken() -> Any:
        yield 1 / 0

    def bad() -> Any:
        raise CourseError("It is gone.", "Find it.")

    monkeypatch.setattr(doctor, "CHECKS", {"a": broken, "b": bad, "c": fine})
    first, second, third = doctor.report()
    assert (first.name, first.status) == ("a", "problem")
    assert "ZeroDivisionError" in first.found
    assert second == Finding("b", "problem", "It is gone.", "Find it.")
    assert third.status == "ok"


@pytest.mark.parametrize(
    ("statuses", "code", "words"),
    [
        (["ok", "ok"], 0, "Problems: 0. Warnings: 0. Everything is as it should be."),
        (["ok", "warning"], 0, "Problems: 0. Warnings: 1. The course works here."),
        (["warning", "problem"], 1, "Problems: 1. Warnings: 1. Fix what"),
    ],
)
def test_what_is_printed_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    statuses: list[Any],
    code: int,
    words: str,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    findings = [Finding(f"thing {s}", s, "in /a [b] folder", f"remedy of {s}") for s in statuses]
    monkeypatch.setattr(doctor, "report", lambda: findings)
    assert doctor.main() == code
    printed = capsys.readouterr().out
    assert words in printed
    assert "in /a [b] folder" in printed  # brackets are text, not rich's markup
    for status in ("ok", "warning", "problem"):
        assert (f"remedy of {status}" in printed) == (status in statuses and status != "ok")


def test_this_machine_passes_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lmcourse", "doctor"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "PyTorch" in done.stdout
