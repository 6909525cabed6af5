"""Tests and their notebooks have a cache of their own, and leave the user's as it is.

Theirs is ``_build/cache``: what it holds is computed from the course, so it is kept from run to
run. The pretrained weights and vectors that the user has installed are read through a link. At the
end the names, sizes and times of the user's files are compared with those at the start: if a test
has changed one, the run fails.
"""

import os
from pathlib import Path

import pytest

from coursekit import course
from lmcourse.files import cache_folder

Listing = dict[str, tuple[int, int]]  # each file's size (bytes) and time (ns)
NAME = "LMCOURSE_CACHE"
_BEFORE = pytest.StashKey[tuple[str | None, Path, Listing]]()
_CHANGED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Note what the user's cache holds, and set the tests' own."""
    chosen, own = os.environ.get(NAME), course.products() / "cache"
    theirs = cache_folder()
    if theirs == own or "PYTEST_CURRENT_TEST" in os.environ:
        return  # a worker, or a run that a test starts: the first process has set it
    config.stash[_BEFORE] = (chosen, theirs, listing(theirs))
    own.mkdir(parents=True, exist_ok=True)
    link = own / "real"
    if not link.is_symlink() or link.readlink() != theirs / "real":
        link.unlink(missing_ok=True)
        link.symlink_to(theirs / "real", target_is_directory=True)
    os.environ[NAME] = str(own)


def listing(folder: Path) -> Listing:
    """Return the files of a folder with their sizes and times; empty if there is no such folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
    }


def changes(before: Listing, after: Listing) -> list[str]:
    """Return the names of the files that are new, gone or changed."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


@pytest.hookimpl(tryfirst=True)  # before the exit status is printed
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if the user's cache is not as it was."""
    if _BEFORE not in session.config.stash:
        return
    _, theirs, before = session.config.stash[_BEFORE]
    session.config.stash[_CHANGED] = changed = changes(before, listing(theirs))
    if changed and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the files that were changed."""
    if changed := terminalreporter.config.stash.get(_CHANGED, []):
        _, theirs, _ = terminalreporter.config.stash[_BEFORE]
        terminalreporter.section("the user's cache was changed", red=True)
        terminalreporter.write_line(f"In {theirs}: {', '.join(changed)}.")
        terminalreporter.write_line(
            "A test wrote there, or another program did meanwhile. Give the test a LMCOURSE_CACHE "
            "of its own."
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restore the environment, for what runs in this process after the tests."""
    if _BEFORE in config.stash:
        chosen, _, _ = config.stash[_BEFORE]
        os.environ.pop(NAME, None)
        os.environ.update({NAME: chosen} if chosen else {})
