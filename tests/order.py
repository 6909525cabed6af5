"""The order in which the workers of pytest-xdist take the files of tests.

A file stays with one worker (``--dist loadfile``), so that what is made once for it (a book, a
browser, a kernel) is made once. The files that take longest come first, so that no worker is left
with one of them at the end.
"""

from collections import Counter

import pytest

FIRST = ("chapters/", "labs/", "gallery/", "tests/book/test_course.py")


def pytest_configure(config: pytest.Config) -> None:
    """Keep this order: by itself pytest-xdist would put the files with most tests first."""
    if getattr(config.option, "dist", "no") == "loadfile":
        config.option.loadscopereorder = False


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
    """Order the items where workers share them."""
    if hasattr(config, "workerinput"):  # one of xdist's workers
        items[:] = in_order(items)
