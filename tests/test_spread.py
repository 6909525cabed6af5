"""``tests/spread.py``: which worker runs what."""

from pathlib import Path

import pytest

from tests.spread import APART

ROOT = Path(__file__).parents[1]
MANY = """\
import os, pathlib, time, pytest

@pytest.mark.parametrize("number", range(4))
def test_one(number):
    time.sleep(0.5)
    with open({place!r}, "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


def test_a_file_stays_with_one_worker_but_long_items_do_not(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.spread"]')
    pytester.makeini(f"[pytest]\npythonpath = '{ROOT.as_posix()}'\n")
    workers = {}
    for name in ("tests/test_other.py", *APART):
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        workers[name] = pytester.path / f"{path.stem}.txt"
        path.write_text(MANY.format(place=str(workers[name])), encoding="utf-8")
    result = pytester.runpytest_subprocess("-n", "2", "--dist", "loadfile")
    result.assert_outcomes(passed=4 * len(workers))
    counts = {name: len(set(path.read_text().split())) for name, path in workers.items()}
    assert counts == {"tests/test_other.py": 1} | dict.fromkeys(APART, 2)


def test_what_stands_apart_is_there() -> None:
    assert all((ROOT / name).is_file() for name in APART)
