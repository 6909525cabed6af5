"""``tests/own_cache.py``: tests have a cache of their own; a change of the user's is noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import course
from lmcourse.files import cache_folder
from tests.own_cache import NAME

ROOT = Path(__file__).parents[1]
WRITES = """\
from pathlib import Path


def test_it():
    Path({path!r}).write_text("anything")
"""


def test_this_run_has_a_cache_of_its_own() -> None:
    assert cache_folder() == course.products() / "cache"


@pytest.mark.parametrize(("name", "code"), [("new", 1), ("old", 1), ("../beside", 0)])
def test_a_run_that_changes_the_users_cache_fails(tmp_path: Path, name: str, code: int) -> None:
    theirs = tmp_path / "theirs"
    for folder in ("theirs", "course/chapters", "course/labs"):
        (tmp_path / folder).mkdir(parents=True)
    (theirs / "old").write_text("theirs")
    (tmp_path / "test_it.py").write_text(WRITES.format(path=str(theirs / name)))
    settings = {NAME: str(theirs), "LMCOURSE_ROOT": str(tmp_path / "course")}
    kept = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:nbval", "-p", "tests.own_cache", "test_it.py"],
        cwd=tmp_path,
        env=kept | settings | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "1 passed" in done.stdout
    assert done.returncode == code, done.stdout
    assert (f"In {theirs}: {name}." in done.stdout) == bool(code)
