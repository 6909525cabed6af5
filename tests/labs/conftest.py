"""Each lab's test class gets its parameters from its own lists."""

import pytest

pytest.register_assert_rewrite("tests.labs.kit")

from tests.labs.kit import LabTests  # noqa: E402 - after its asserts are told to explain themselves


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask the class."""
    if metafunc.cls is not None and issubclass(metafunc.cls, LabTests):
        metafunc.cls.parametrize(metafunc)
