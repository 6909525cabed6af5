"""What is installed: Python, its packages, JupyterLab, and the programs that some commands need."""

import importlib.metadata
import platform
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import lmcourse
from coursekit import course
from coursekit.doctor.finding import Finding, Status
from coursekit.install import LOCK, PYTHONS, canonical, read
from lmcourse.errors import CourseError

TRIED_TOGETHER = {"jupyterlab": "4.6", "jupyterlab-myst": "2.7"}


def python() -> Iterator[Finding]:
    """Look at the version of Python."""
    here = f"{platform.python_version()} at {sys.executable}"
    if "{}.{}".format(*sys.version_info) in PYTHONS:
        yield Finding("Python", "ok", here)
        return
    yield Finding(
        "Python",
        "problem",
        f"{here}, but the course needs {PYTHONS[0]} to {PYTHONS[-1]}.",
        f"Install Python {PYTHONS[-1]}, and recreate the environment with it.",
    )


def environment() -> Iterator[Finding]:
    """Look at where this Python keeps its packages."""
    home = Path(sys.prefix).resolve()
    if home.is_relative_to(_project()) and home.name.startswith(".venv"):
        yield Finding("environment", "ok", "the course's own .venv")
    elif sys.prefix != sys.base_prefix or (home / "conda-meta").is_dir():
        yield Finding("environment", "ok", f"another one than the course's .venv: {home}")
    else:
        yield Finding(
            "environment",
            "warning",
            f"This is the system's own Python ({home}); other programs share its packages.",
            "Use `make lab`, or make an environment of its own with `python -m venv .venv`.",
        )


def packages() -> Iterator[Finding]:
    """Look at each package that the course names, and whether it has the lock's version."""
    from packaging.requirements import Requirement

    text = (_project() / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    lock = locked_versions(_project() / LOCK)
    for line in project["optional-dependencies"]["course"]:
        yield _package(Requirement(line).name, lock, "problem")
    for line in project["optional-dependencies"].get("dev", []):
        finding = _package(Requirement(line).name, lock, "warning")
        if finding.status != "ok":
            remedy = f"Only `make test` and `make check` need it. {finding.remedy}"
            yield replace(finding, remedy=remedy)


def _project() -> Path:
    """Return the folder of pyproject.toml: the checkout that this package is in, else the course's.

    Raises:
        CourseError: it is in neither.
    """
    for folder in (Path(lmcourse.__file__).parent.parent, course.root()):
        if (folder / "pyproject.toml").is_file() and (folder / LOCK).is_file():
            return folder
    raise CourseError(
        f"The course's lists of requirements, pyproject.toml and {LOCK}, are missing.",
        "Check out the complete repository, and install the course from there.",
    )


def _package(name: str, lock: dict[str, str], missing: Status) -> Finding:
    from packaging.version import Version

    wanted = lock.get(canonical(name))
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, missing, "It is not installed.", course.INSTALL)
    if wanted is None or Version(version).public == Version(wanted).public:
        return Finding(name, "ok", version)
    return Finding(
        name,
        "warning",
        f"Version {version} is installed; the course was tested with {wanted}.",
        course.INSTALL,
    )


def locked_versions(lock: Path) -> dict[str, str]:
    """Read the versions in a lock file that hold on this machine: ``{"numpy": "2.4.1", ...}``."""
    from packaging.requirements import Requirement

    pins = [Requirement(pin.requirement) for pin in read(lock.read_text(encoding="utf-8"))]
    return {
        canonical(pin.name): next(iter(pin.specifier)).version
        for pin in pins
        if pin.marker is None or pin.marker.evaluate()
    }


def jupyterlab() -> Iterator[Finding]:
    """Look at whether JupyterLab and the extension that renders MyST go together."""
    from jupyter_core.paths import jupyter_path

    try:
        found = {name: importlib.metadata.version(name) for name in TRIED_TOGETHER}
    except importlib.metadata.PackageNotFoundError as error:
        yield Finding("JupyterLab", "problem", f"{error.name} is not installed.", course.INSTALL)
        return
    said = " with ".join(f"{name} {version}" for name, version in found.items())
    folders = [Path(path) / "jupyterlab-myst" for path in jupyter_path("labextensions")]
    if not any((folder / "package.json").is_file() for folder in folders):
        cause = f"{said}, but JupyterLab does not see the extension: text shows raw directives."
        remedy = (
            "Run `python -m pip install --force-reinstall jupyterlab-myst` in this environment."
        )
        yield Finding("JupyterLab", "warning", cause, remedy)
    elif all(found[name].startswith(f"{line}.") for name, line in TRIED_TOGETHER.items()):
        yield Finding("JupyterLab", "ok", said)
    else:
        wanted = " with ".join(f"{name} {line}" for name, line in TRIED_TOGETHER.items())
        cause = f"{said}; only {wanted} was tried. The text may show raw directives."
        yield Finding("JupyterLab", "warning", cause, course.INSTALL)


def node() -> Iterator[Finding]:
    """Look for the Node.js that builds the book."""
    from coursekit.book import myst

    try:
        node = myst.find_node()
    except CourseError as error:
        yield Finding("Node.js", "warning", error.cause, error.remedy)
        return
    yield Finding("Node.js", "ok", f"{node.version} at {node.path}")


def chromium() -> Iterator[Finding]:
    """Look for the browser that prints slides and runs the browser tests."""
    from coursekit.testing import CHROMIUM_REMEDY, find_chromium

    found = find_chromium()
    if found:
        yield Finding("Chromium", "ok", str(found))
        return
    remedy = f"Only `lmcourse slides --pdf` and `make test` need it. {CHROMIUM_REMEDY}"
    yield Finding("Chromium", "warning", "There is no Chromium here.", remedy)
