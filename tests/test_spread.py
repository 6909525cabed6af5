"""``tests/spread.py``: which worker runs what."""

import re
from pathlib import Path

import pytest

from tests.spread import APART

ROOT = Path(__file__).parents[1]
MANY = """\
import os, pathlib, time, pytest

@pytest.mark.parametrize("number", range(4))
def test_one(number):
    time.sleep(0.2)
    with open({place!r}, "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


@pytest.mark.parametrize(("name", "count"), [("tests/test_other.py", 1), (APART[0], 2)])
def test_a_file_stays_with_one_worker_but_long_items_do_not(
    pytester: pytest.Pytester, name: str, count: int
) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.spread"]')
    pytester.makeini(f"[pytest]\npythonpath = '{ROOT.as_posix()}'\n")
    (pytester.path / "tests").mkdir()
    place = pytester.path / "workers.txt"
    (pytester.path / name).write_text(MANY.format(place=str(place)), encoding="utf-8")
    result = pytester.runpytest_subprocess("-n", "2", "--dist", "loadfile")
    result.assert_outcomes(passed=4)
    assert len(set(place.read_text(encoding="utf-8").split())) == count


def test_the_shares_are_the_whole(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.spread"]')
    pytester.makeini(f"[pytest]\npythonpath = '{ROOT.as_posix()}'\n")
    pytester.makepyfile("import pytest\n@pytest.mark.parametrize('n', range(7))\ndef test(n): pass")
    found = []
    for at in range(3):
        result = pytester.runpytest_inprocess("-v", "--share", f"{at}/3")
        found += re.findall(r"::test\[(\d)\] PASSED", result.stdout.str())
    assert sorted(found) == [f"{n}" for n in range(7)]


def test_what_stands_apart_is_there() -> None:
    assert all((ROOT / name).is_file() for name in APART)
