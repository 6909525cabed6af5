"""Spread the items of some files over pytest's workers, which otherwise take whole files.

A file stays with one worker, so that what is made once for it (a book, a browser, a kernel) is made
once. The few long items of the files named here share nothing.

`--share 1/4` runs every fourth test of those that are asked for, from the second on.
"""

from collections import Counter
from typing import Any

import pytest

APART = ("tests/test_axes.py",)
FIRST = ("chapters/", "labs/", "gallery/", *APART, "tests/book/test_course.py")


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may not be installed
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Schedule by file, but for the items that stand apart, in the order of the collection."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return nodeid if file in APART else file

    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # the order is `in_order`'s, not that of xdist
    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--share`."""
    parser.addoption("--share", metavar="N/M", default="0/1", help="every M-th test, from N on")


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items file by file: those of `FIRST`, then the files with most tests."""
    sizes = Counter(_file(item) for item in items)

    def rank(item: pytest.Item) -> tuple[int, int, str]:
        file = _file(item)
        early = [at for at, start in enumerate(FIRST) if file.startswith(start)]
        return (early[0], 0, file) if early else (len(FIRST), -sizes[file], file)

    return sorted(items, key=rank)


def _file(item: pytest.Item) -> str:
    return item.nodeid.split("::")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep this share of the tests, and order them where workers share them."""
    if hasattr(config, "workerinput"):  # one of xdist's workers
        items[:] = in_order(items)
    first, of = map(int, config.getoption("share").split("/"))
    if of > 1:
        config.hook.pytest_deselected(items=[it for at, it in enumerate(items) if at % of != first])
        items[:] = items[first::of]
