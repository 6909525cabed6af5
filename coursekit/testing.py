"""Run the course's tests: the package's, the notebooks', the labs' and the browser's."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from coursekit import course
from lmcourse.errors import CourseError

# One thread each: several kernels run side by side, and threads that fight for two cores took 45 s
# where single ones took 14 s. The sums of floats depend on the number of threads, too.
THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# Bytes: a worker with torch and transformers, its kernel (under 1 GB), a share of a browser.
MEMORY_PER_WORKER = 2e9
# The headless shell first: a page of its own took 0.3 s of a core, one of the whole browser 1.9 s.
CHROMIUM_NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
CHROMIUM_REMEDY = (
    "Get one with `sudo apt install chromium`, `brew install --cask chromium` or, on any system, "
    "`python -m playwright install chromium`."
)
REPORT = ("-rfEs", "--durations=40", "--durations-min=10")  # what failed, what is slow (seconds)
_PYTEST_FOUND_NOTHING = 5
FORM = "tests/chapters/test_form.py"
CHECKED = {
    kind: f"test_a_source_has_the_form[{kind}-{{}}]" for kind in ("chapter", "lab", "widget")
}
_NEEDED = ("pytest", "xdist", "nbval")


def environment(device: str | None = None) -> dict[str, str]:
    """Return the environment in which tests and their kernels run: this one, and our settings.

    A failed contract raises (``LMCOURSE_STRICT``), one thread computes, hashes are the same each
    time, and no workbook is known, so that nothing is recorded as a student's progress. Modules are
    compiled once, not in each of some hundred processes.
    """
    own = dict(os.environ) | dict.fromkeys(THREADS, "1")
    own |= {"LMCOURSE_STRICT": "1", "PYTHONHASHSEED": "0"}
    for name in ("LMCOURSE_WORKBOOK", "PYTHONDONTWRITEBYTECODE"):
        own.pop(name, None)
    return own | ({"LMCOURSE_DEVICE": device} if device else {})


def run(only: str | None = None, device: str | None = None, extra: Sequence[str] = ()) -> int:
    """Run the tests, all or those of one number, and return pytest's exit code.

    Args:
        only: a chapter's number, such as ``"02"``: its notebook, its lab's, and their tests; or the
            name of a widget's page, such as ``"gradient-flow"``.
        device: where notebooks compute, as in ``LMCOURSE_DEVICE``; by default the best there is.
        extra: further arguments for pytest.

    Raises:
        CourseError: pytest, the chapter or the device is not there, or there is no test to run.
    """
    _require_pytest()
    root = course.root()
    targets = select(root, only) if only else []
    where = _device(device)
    workers = worker_count(more=1)  # a test often waits for a browser, a kernel or a limit
    command = [sys.executable, "-m", "pytest", "-n", str(workers), "--dist", "loadfile"]
    command += [*REPORT, *(str(target.relative_to(root)) for target in targets), *extra]
    what = _in_words(root, targets) if only else "all tests and notebooks"
    print(f"Running {what} with {workers} workers; notebooks compute on {where}.", flush=True)
    code = _wait(subprocess.Popen(command, cwd=root, env=environment(where)))
    if code == _PYTEST_FOUND_NOTHING:
        raise CourseError(
            f"There was no test to run in {root}.",
            "Run the command without its last arguments, or check what they name.",
        )
    return code


def select(root: Path, only: str) -> list[Path]:
    """Return the sources of one number, or a widget's page, and the test files that carry its name.

    Raises:
        CourseError: there is no such chapter; the message lists those that there are.
    """
    sources = course.select(only)
    first = sources[0]
    number = re.compile(
        rf"(?<!\d){first.number}(?!\d)"
        if first.number
        else rf"(?<![a-z]){first.slug.replace('-', '_')}(?![a-z])"
    )
    tests = sorted((root / "tests").rglob("test_*.py"))
    own = [path for path in tests if number.search(path.relative_to(root).as_posix())]
    if (root / FORM).is_file():
        own += [root / f"{FORM}::{CHECKED[it.kind].format(it.number or it.slug)}" for it in sources]
    return [source.path for source in sources] + own


def worker_count(more: int = 0) -> int:
    """Return how many kernels or tests run at once: one a core, as far as the free memory allows.

    Args:
        more: how many more than cores, where they often wait.
    """
    from coursekit.doctor.machine import cores, free_memory

    return max(1, min(cores() + more, int(free_memory() // MEMORY_PER_WORKER)))


def find_chromium() -> Path | None:
    """Find a Chromium for the browser tests: one on the PATH, else Playwright's own."""
    for name in CHROMIUM_NAMES:
        if found := shutil.which(name):
            return Path(found)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    try:
        with sync_playwright() as playwright:
            own = Path(playwright.chromium.executable_path)
    except Exception:  # whatever keeps Playwright's driver from starting: it raises a bare one
        return None
    return own if own.is_file() else None


def _require_pytest() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CourseError(
            f"The tests need packages that are not installed: {', '.join(missing)}.",
            course.INSTALL,
        )


def _device(asked: str | None) -> str:
    """Return the kind of device that notebooks will use; `CourseError` if it is not there."""
    from lmcourse.devices import device

    with _set({"LMCOURSE_DEVICE": asked} if asked else {}):
        try:
            return str(device().type)
        except ImportError as error:
            raise CourseError(
                f"PyTorch cannot be imported: {error}.", "Run `lmcourse doctor` for details."
            ) from error


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})


def _in_words(root: Path, targets: Sequence[Path]) -> str:
    notebooks = [path.relative_to(root).as_posix() for path in targets if path.suffix == ".md"]
    tests = len(targets) - len(notebooks)
    return ", ".join(notebooks) + (f" and their {tests} files of tests" if tests else "")


def _wait(process: "subprocess.Popen[bytes]") -> int:
    """Wait for pytest; an interrupt lets it end its kernels and browsers, a second one does not."""
    try:
        return process.wait()
    except KeyboardInterrupt:  # the terminal has sent it to pytest as well
        try:
            return process.wait(timeout=30)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.kill()
            return process.wait()
