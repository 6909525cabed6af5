"""The package as a whole: quick to import, lazy, and one lock that every door shares."""

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

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lock(environment: dict[str, str] | None = None) -> dict[str, Requirement]:
    """The lock's pins that hold in an environment (this one), by package name."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.strip() and line.lstrip()[0] != "#"]
    held = [pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
    return {canonicalize_name(pin.name): pin for pin in held}


def declared(extra: bool = True) -> list[Requirement]:
    lines = list(PROJECT["dependencies"])
    if extra:
        lines += PROJECT["optional-dependencies"]["dev"]
    return [Requirement(line) for line in lines]


def version(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    assert specifier.operator == "==" and "*" not in specifier.version, f"{pin} is not exact"
    return specifier.version


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_lock_pins_every_declared_package_exactly(python, platform):
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": platform,
        "os_name": "nt" if platform == "win32" else "posix",
    }
    pins = lock({**default_environment(), **environment})
    for requirement in declared():
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{requirement.name} is not in requirements.lock: run `make lock`"
        assert requirement.specifier.contains(version(pin)), f"{pin} against {requirement}"


def test_torch_is_pinned_alike_everywhere():
    torch = next(r for r in declared() if r.name == "torch")
    assert str(torch.specifier) == "==2.13.0"
    assert version(lock()["torch"]) == "2.13.0"


def test_what_is_installed_is_what_the_lock_says():
    pins, wrong = lock(), []
    for name in _closure([r.name for r in declared()]):
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


def test_conda_and_binder_take_the_same_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [item for item in environment["dependencies"] if isinstance(item, str)]
    (pip,) = (item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    assert any(line.split() == ["--constraint", "requirements.lock"] for line in pip)
    assert "--editable ." in pip
    pins, allowed = lock(), Requirement(f"python{PROJECT['requires-python']}").specifier
    for item in conda + [line for line in pip if not line.startswith("-")]:
        name, _, pinned = re.match(r"([\w-]+)(==?)?([\w.]*)", item).groups()
        if name == "python":
            assert allowed.contains(pinned), item
        elif name in pins:
            assert pinned == version(pins[name]), item


def test_importing_the_package_and_its_commands_is_light():
    code = (
        "import sys, json, lmcourse, lmcourse.cli;"
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
