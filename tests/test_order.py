"""``tests/order.py``: the order in which workers take files."""

from pathlib import Path
from types import SimpleNamespace

from tests.order import FIRST, SPREAD, in_order, unit

ROOT = Path(__file__).parents[1]


def test_notebooks_and_long_files_come_first_and_short_ones_last() -> None:
    counts = {"a/test_short.py": 1, "b/test_long.py": 3, FIRST[-1]: 1, "chapters/02-x.md": 2}
    counts |= {SPREAD[0]: 9}
    items = [
        SimpleNamespace(nodeid=f"{name}::{number}")
        for name, count in counts.items()
        for number in range(count)
    ]
    found = [item.nodeid for item in in_order(items)]  # type: ignore[arg-type]
    assert list(dict.fromkeys(name.split("::")[0] for name in found)) == [
        "chapters/02-x.md",
        FIRST[-1],
        "b/test_long.py",
        "a/test_short.py",
        SPREAD[0],
    ]
    assert found[3:6] == [f"b/test_long.py::{number}" for number in range(3)]


def test_a_file_stays_with_one_worker_unless_its_tests_share_nothing() -> None:
    assert unit("b/test_long.py::test_it[02]") == unit("b/test_long.py::test_that")
    assert unit(f"{SPREAD[0]}::test_it[02]") != unit(f"{SPREAD[0]}::test_it[03]")


def test_this_run_keeps_the_order(pytestconfig) -> None:
    if pytestconfig.getoption("dist", "no") == "loadfile":
        assert not pytestconfig.getoption("loadscopereorder")


def test_what_is_named_is_there() -> None:
    assert all((ROOT / name).exists() for name in (*FIRST, *SPREAD))
