"""``tests/spread.py``: which worker runs what."""

import re
from pathlib import Path

import pytest

from tests.spread import APART, FIRST

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


def test_notebooks_and_long_files_come_first_and_short_ones_last(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.spread"]')
    pytester.makeini(f"[pytest]\npythonpath = '{ROOT.as_posix()}'\n")
    tests = {"a/test_short.py": 1, "b/test_long.py": 3, FIRST[-1]: 1, "chapters/test_c.py": 1}
    for name, count in tests.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (f"def test_{at}(): pass" for at in range(count))
        path.write_text("\n".join(lines), encoding="utf-8")
    result = pytester.runpytest_subprocess("-n", "1", "--dist", "loadfile", "-v")
    ran = re.findall(r"PASSED (\S+)::test_0", result.stdout.str())
    assert ran == ["chapters/test_c.py", FIRST[-1], "b/test_long.py", "a/test_short.py"]


def test_what_is_named_is_there() -> None:
    assert all((ROOT / name).exists() for name in FIRST)
