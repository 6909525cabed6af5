"""The axes that signatures name hold at run time, in every call of the tests that are checked.

The modules that ``--jaxtyping-packages`` names in pyproject.toml are imported with jaxtyping's
hook; here it is switched on for some tests and off for the others, so that each test runs once.
"""

import pytest
from jaxtyping import config

# What is tested here takes arguments by their types. Elsewhere tests also pass what no type
# checker would accept, to see the error that a reader gets.
CHECKED = (
    "tests/claims/test_left_to_right.py",
    "tests/compression/",
    "tests/corpus/test_windows_and_recall.py",
    "tests/evaluation/",
    "tests/models/",
    *(
        f"tests/pretrain/test_{name}.py"
        for name in ("electra", "elmo", "optimizers", "repeats", "vectors")
    ),
    "tests/tokenizers/test_vocabulary.py",
    "tests/runs/",
    "tests/training/",
)


def is_checked(item: pytest.Item) -> bool:
    """Whether the axes of the calls of a test are checked.

    The models of test_broken.py are wrong on purpose, also in what they return.
    """
    return (
        item.nodeid.startswith(CHECKED)
        and item.get_closest_marker("bad_input") is None
        and item.path.name != "test_broken.py"
    )


@pytest.hookimpl(tryfirst=True)  # before fixtures
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Switch the hook on or off."""
    config.update("jaxtyping_disable", not is_checked(item))
