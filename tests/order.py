"""How the workers of pytest-xdist share the tests.

A file stays with one worker (``--dist loadfile``), so that what is made once for it (a book, a
browser, a kernel) is made once. The files that take longest come first, so that no worker is left
with one of them at the end. Last are the files of `SPREAD`: their tests take seconds each and
share nothing, so each goes to the worker that is free next, and all workers end together.
"""

from collections import Counter
from typing import Any

import pytest

FIRST = ("chapters/", "labs/", "gallery/", "tests/book/test_course.py")
SPREAD = ("tests/device/test_notebooks.py",)


def pytest_configure(config: pytest.Config) -> None:
    """Keep this order: by itself pytest-xdist would put the files with most tests first."""
    if getattr(config.option, "dist", "no") == "loadfile":
        config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)  # also without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Send files to the workers, and of the files of `SPREAD` single tests."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return Scheduling(config, log)


def unit(nodeid: str) -> str:
    """Return what of a test goes to one worker as a whole: its file, or the test alone."""
    file = nodeid.split("::")[0]
    return nodeid if file in SPREAD else file


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items file by file: `FIRST`, the files with most tests, `SPREAD`."""
    sizes = Counter(_file(item) for item in items)

    def rank(item: pytest.Item) -> tuple[int, int, str]:
        file = _file(item)
        early = [at for at, start in enumerate(FIRST) if file.startswith(start)]
        at = early[0] if early else len(FIRST) + (file in SPREAD)
        return (at, 0 if early else -sizes[file], file)

    return sorted(items, key=rank)


def _file(item: pytest.Item) -> str:
    return item.nodeid.split("::")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the items where workers share them."""
    if hasattr(config, "workerinput"):  # one of xdist's workers
        items[:] = in_order(items)
