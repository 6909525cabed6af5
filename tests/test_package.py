"""The package as a whole: quick to import, lazy, and one lock for every installation."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from coursekit import install

ROOT = Path(__file__).parents[1]
MANY = [f"3.{minor}" for minor in range(9, 20)]  # versions of Python
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lock(environment: dict[str, str] | None = None) -> dict[str, Requirement]:
    """The lock's pins that hold in an environment (this one), by package name."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [Requirement(pin.requirement) for pin in install.read(text)]
    held = [pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
    return {canonicalize_name(pin.name): pin for pin in held}


def declared(extra: bool = True) -> list[Requirement]:
    lines = list(PROJECT["dependencies"])
    if extra:
        lines += [line for each in PROJECT["optional-dependencies"].values() for line in each]
    return [Requirement(line) for line in lines]


def version(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    assert specifier.operator == "==" and "*" not in specifier.version, f"{pin} is not exact"
    return specifier.version


@pytest.mark.parametrize("python", install.PYTHONS)
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_lock_pins_every_declared_package_exactly(python, platform):
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": platform,
        "os_name": "nt" if platform == "win32" else "posix",
    }
    machine = {**default_environment(), **environment}
    pins = lock(machine)
    for requirement in declared():
        if requirement.marker and not requirement.marker.evaluate(machine):
            continue
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{requirement.name} is not in requirements.lock: run `make lock`"
        assert requirement.specifier.contains(version(pin)), f"{pin} against {requirement}"


def test_torch_is_pinned_alike_everywhere():
    (torch,) = (
        Requirement(line)
        for line in PROJECT["optional-dependencies"]["course"]
        if line.startswith("torch")
    )
    assert str(torch.specifier) == "==2.13.0"
    assert version(lock()["torch"]) == "2.13.0"


def test_what_is_installed_is_what_the_lock_says():
    pins, wrong = lock(), []
    here = [each for each in declared() if not each.marker or each.marker.evaluate()]
    for name in _closure([each.name for each in here]):
        installed = importlib.metadata.version(name).split("+")[0]  # 2.13.0+cpu is 2.13.0
        if name not in pins or version(pins[name]) != installed:
            wrong.append(f"{name} {installed}, lock: {pins.get(name)}")
    assert not wrong, "\n".join(["reinstall with `make test`, or `make lock`:", *wrong])


def _closure(names: list[str]) -> set[str]:
    """Everything that these packages need here, as the installed metadata say."""
    found: set[str] = set()
    todo = [canonicalize_name(name) for name in names]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for line in importlib.metadata.requires(name) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                todo.append(canonicalize_name(needed.name))
    return found


def test_conda_and_binder_bring_python_and_pip_alone():
    """All else comes from the lock, with hashes: by the command in the file's own comment."""
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    python, *others = yaml.safe_load(text)["dependencies"]
    allowed = Requirement(python).specifier
    assert [each for each in MANY if allowed.contains(each)] == list(install.PYTHONS)
    assert others == ["pip", "nodejs=20"]
    command = "python -m coursekit.install --torch cpu"
    assert command in text and command in (ROOT / "postBuild").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "index.md", "Makefile"])
def test_the_texts_name_the_pythons_that_the_lock_serves(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    found = set(re.findall(r"3\.\d+ to 3\.\d+", text))
    assert found == {f"{install.PYTHONS[0]} to {install.PYTHONS[-1]}"}


def test_make_takes_every_python_that_the_lock_serves():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f" {'|'.join(install.PYTHONS)}) chosen=" in text
    assert {f"python{each}" for each in install.PYTHONS} < set(
        re.search(r"^PYTHONS := (.*)", text, re.MULTILINE)[1].split()
    )


def test_importing_the_package_and_its_commands_is_light():
    code = (
        "import sys, json, lmcourse, coursekit.cli;"
        "print(json.dumps([m for m in ('torch','numpy','nbformat','jupytext','matplotlib',"
        "'jupyter_server','IPython') if m in sys.modules]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(found.stdout) == []


def test_names_and_submodules_load_on_use():
    code = (
        "import lmcourse;"
        "assert lmcourse.models.__name__ == 'lmcourse.models';"
        "assert callable(lmcourse.expect) and 'training' in dir(lmcourse);"
        "\ntry: lmcourse.nothing\nexcept AttributeError as e: print(e)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'lmcourse' has no attribute 'nothing'" in found.stdout
