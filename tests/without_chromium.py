"""Without Chromium the tests that need one are skipped, and one line says how many, and the remedy.

A test needs Chromium if it, one of its fixtures, or a function of ``tests`` that they use, names
`tests.browser.require_chromium`. It is skipped before its fixtures make anything. The line stands
where the tests begin and again at the end. Under ``CI=true`` such tests fail (`require_chromium`).
"""

import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from coursekit.testing import CHROMIUM_REMEDY, find_chromium

REASON = "There is no Chromium for this test."
CATEGORY = "without Chromium"  # of the reports, beside pytest's own "skipped"


def line(number: int) -> str:
    """Return the line that says how many tests are skipped, and the remedy."""
    return f"Tests skipped because Chromium is not installed: {number}. {CHROMIUM_REMEDY}"


def needs_chromium(item: pytest.Item) -> bool:
    """Whether a test or one of its fixtures starts Chromium."""
    found = getattr(item, "_fixtureinfo", None)  # a notebook's cell has none
    if found is None:
        return False
    fixtures = [each.func for group in found.name2fixturedefs.values() for each in group[-1:]]
    return any(reaches(function) for function in (item.function, *fixtures))  # type: ignore[attr-defined]


@cache
def reaches(function: Any) -> bool:
    """Whether a function names `require_chromium`, or a function of ``tests`` that does."""
    from tests.browser import require_chromium

    function = getattr(function, "__wrapped__", function)
    if function is require_chromium:
        return True
    used = _used(function) if isinstance(function, FunctionType) else ()
    return any(each.__module__.startswith("tests.") and reaches(each) for each in used)


def _used(function: FunctionType) -> Iterator[Any]:
    """Yield the functions that a function's code names, those of modules included."""
    names = list(_names(function.__code__))
    found = [function.__globals__.get(name) for name in names]
    for module in [each for each in found if isinstance(each, ModuleType)]:
        if module.__name__.startswith("tests."):
            found += [getattr(module, name, None) for name in names]
    yield from (each for each in found if isinstance(each, FunctionType) and each is not function)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _is_missing() -> bool:
    return os.environ.get("CI", "").lower() != "true" and find_chromium() is None


def _note(run: str) -> Path:
    """Return the file by which a worker of pytest-xdist says the number to the first process."""
    return Path(tempfile.gettempdir()) / f"lmcourse-without-chromium-{run}"


@pytest.hookimpl(trylast=True)  # after those that are deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests that need Chromium where there is none."""
    needing = [item for item in items if needs_chromium(item)]
    if not needing or not _is_missing():
        return
    for item in needing:
        item.add_marker(pytest.mark.skip(reason=REASON))
    worker = getattr(config, "workerinput", None)
    if worker is None:
        config.get_terminal_writer().line("\n" + line(len(needing)))
    elif worker["workerid"] == "gw0":
        _note(worker["testrunuid"]).write_text(str(len(needing)), encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Print the line once the tests are known."""
    note = _note(node.workerinput["testrunuid"])
    if note.is_file():
        node.config.get_terminal_writer().line("\n" + line(int(note.read_text(encoding="utf-8"))))
        note.unlink()


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count these tests apart: `-r s` lists what was skipped for other reasons."""
    if report.skipped and isinstance(report.longrepr, tuple) and REASON in report.longrepr[2]:
        return CATEGORY, "s", "SKIPPED"
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # after pytest's own summary
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print the line again, the last but for the numbers."""
    yield
    if skipped := terminalreporter.stats.get(CATEGORY):
        terminalreporter.write_line(line(len(skipped)))
