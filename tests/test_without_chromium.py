"""``tests/without_chromium.py``: which tests need Chromium, and what is said without one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.testing import CHROMIUM_REMEDY
from tests import browser
from tests.book import conftest
from tests.browser import chromium_page
from tests.without_chromium import line, reaches

ROOT = Path(__file__).parents[1]
TESTS = """\
import pytest
from tests.browser import chromium

@pytest.fixture
def site():
    raise AssertionError("made for nothing")

@pytest.fixture
def page():
    with chromium() as found:
        yield found

def test_pages(site, page):
    pass

def test_in_a_function():
    with chromium():
        pass

def test_not_selected():
    with chromium():
        pass

def test_skipped():
    pytest.skip("another reason")

def test_passes():
    pass
"""


def in_the_body() -> None:
    def inner() -> None:
        with chromium_page():
            pass

    inner()


def by_its_module() -> None:
    browser.chromium()


def none_of_it() -> None:
    browser.free_port()


# A list, so that the test below does not itself seem to need one.
STARTS = [in_the_body, by_its_module, conftest.browser.__wrapped__]


def test_a_function_that_starts_chromium_is_found() -> None:
    assert all(reaches(each) for each in STARTS)
    assert not reaches(none_of_it)


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "workers"])
def test_one_line_first_and_last_and_no_other(tmp_path: Path, workers: list[str]) -> None:
    (tmp_path / "test_pages.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.without_chromium"]\n')
    nowhere = {"PATH": "", "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:nbval", "-k", "not selected", *workers],
        cwd=tmp_path,
        env=os.environ | nowhere | {"PYTHONPATH": str(ROOT), "CI": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    said = done.stdout.splitlines()
    first, last = (at for at, text in enumerate(said) if text == line(2))
    assert last == len(said) - 2 and first < last
    assert "2 without Chromium" in said[-1] and "1 skipped" in said[-1]
    assert sum(text.startswith("SKIPPED") for text in said) == 1
    assert done.stdout.count(CHROMIUM_REMEDY) == 2
