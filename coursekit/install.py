"""Install what requirements.lock names; pip checks every file against the hashes there.

    python -m coursekit.install                what notebooks, book and slides need
    python -m coursekit.install --dev          and what the tests and the maintainers' tools need
    python -m coursekit.install --torch cpu    PyTorch without CUDA

It runs before anything is installed, so that it uses the standard library alone. The lock holds
versions for every system. From them it takes what is needed here, in three steps, as pip accepts no
hash for a folder: PyTorch, everything else, and the course itself, which is built without a
download.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements.lock"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # for which the lock has wheels
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
BUILDS = ("default", "cpu")
CHOICE = Path(sys.prefix) / "torch-installed"  # the build that was installed last
FAILED = (
    "The installation failed; the lines above explain why.\n"
    "Without a network: connect and run the same command again (it continues where it stopped). "
    "With a full disk: free 3 GB first. Behind a proxy: set HTTPS_PROXY. "
    "If hashes do not match: do not install that file; report where it came from."
)
UNSUITABLE = (
    f"The course needs Python {PYTHONS[0]} to {PYTHONS[-1]}; this is {{}}.\n"
    f"Install Python {PYTHONS[-1]}, for example from python.org, and run this with it."
)
# What PyTorch's CUDA build alone requires.
_CUDA = re.compile(r"(cuda|nvidia|triton)\b")


@dataclass(frozen=True)
class Pin:
    """One entry of the lock: its text with hashes, and which packages require it."""

    name: str
    text: str
    needed_by: frozenset[str]

    @property
    def requirement(self) -> str:
        """The entry without its hashes: ``numpy==2.4.1 ; python_version < '3.12'``."""
        return self.text.split(" \\\n")[0]


def canonical(name: str) -> str:
    """A package's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read(lock: str) -> list[Pin]:
    """The entries of a lock file that ``uv pip compile --generate-hashes`` wrote."""
    pins = []
    for entry in re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:]:
        lines = entry.splitlines()
        comments = [line.strip("# ").strip() for line in lines if line.lstrip().startswith("#")]
        needed_by = {re.sub(r"^via\b", "", comment).strip() for comment in comments} - {""}
        text = "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
        pins.append(Pin(canonical(entry.split("==")[0]), text, frozenset(needed_by)))
    return pins


def select(pins: Iterable[Pin], roots: Iterable[str], cuda: bool) -> list[Pin]:
    """The entries that some packages need, directly or through others.

    Args:
        pins: all entries of a lock.
        roots: the names of these packages.
        cuda: whether to include what PyTorch's CUDA build alone requires.
    """
    pins = [pin for pin in pins if cuda or not _CUDA.match(pin.name)]
    needed = set(map(canonical, roots))
    while more := {pin.name for pin in pins if pin.needed_by & needed} - needed:
        needed |= more
    return [pin for pin in pins if pin.name in needed]


def named(project: dict[str, object], dev: bool) -> Iterator[str]:
    """The names of the packages in a pyproject.toml: what students need, or all."""
    table = project["project"]
    assert isinstance(table, dict)
    extras = table["optional-dependencies"]
    more = [*extras["dev"], *extras["real"]] if dev else []
    for line in (*extras["course"], *extras["build"], *more):
        yield re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0]


def install(dev: bool, build: str) -> None:
    """Install PyTorch, the packages of the lock, and the course in this folder.

    Raises:
        subprocess.CalledProcessError: pip failed.
    """
    pins = read((ROOT / LOCK).read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    torch = [pin for pin in pins if pin.name == "torch"]
    another = build != (CHOICE.read_text() if CHOICE.is_file() else "default")
    index = ["--index-url", CPU_INDEX] if build == "cpu" else []
    pip_hashed(torch, *(["--force-reinstall"] if another else []), *index)
    CHOICE.write_text(build)
    rest = [pin for pin in select(pins, named(project, dev), _has_cuda()) if pin.name != "torch"]
    pip_hashed(rest)
    pip("--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def _has_cuda() -> bool:
    """Whether the installed PyTorch requires CUDA's packages."""
    code = "import importlib.metadata as m; print(*m.requires('torch') or (), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return any(_CUDA.match(line) for line in done.stdout.splitlines())


def pip_hashed(pins: Iterable[Pin], *options: str) -> None:
    """Install entries of the lock; pip refuses a file whose hash is not among theirs."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "chosen.txt"
        chosen.write_text("\n".join(pin.text for pin in pins) + "\n", encoding="utf-8")
        pip("--require-hashes", "--no-deps", *options, "--requirement", str(chosen))


def pip(*arguments: str) -> None:
    """Run ``pip install`` for this Python."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run([*command, *arguments], check=True)


def main() -> None:
    """Read the command line, install, and exit with 1 and the remedy if that fails."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.install", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--dev", action="store_true", help="what tests and maintainers need, too")
    parser.add_argument("--torch", choices=BUILDS, help="cpu: without CUDA; default: as last time")
    options = parser.parse_args()
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if version not in PYTHONS:
        sys.exit(UNSUITABLE.format(version))
    last = CHOICE.read_text() if CHOICE.is_file() else "default"
    print("Installing the course's packages (the first time: some minutes, 2 GB) ...", flush=True)
    try:
        install(options.dev, options.torch or last)
    except subprocess.CalledProcessError:
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
