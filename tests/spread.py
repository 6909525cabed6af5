"""Spread the items of some files over pytest's workers, which otherwise take whole files.

A file stays with one worker, so that what is made once for it (a book, a browser, a kernel) is made
once. The few long items of the files named here share nothing.

`--share 1/4` runs every fourth test of those that are asked for, from the second on.
"""

from typing import Any

import pytest

APART = ("tests/test_axes.py",)


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may not be installed
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Schedule by file, but for the items that stand apart."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return nodeid if file in APART else file

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--share`."""
    parser.addoption("--share", metavar="N/M", default="0/1", help="every M-th test, from N on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep this share of the tests."""
    first, of = map(int, config.getoption("share").split("/"))
    if of > 1:
        config.hook.pytest_deselected(items=[it for at, it in enumerate(items) if at % of != first])
        items[:] = items[first::of]
