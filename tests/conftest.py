"""What all tests of the package share."""

import signal

import pytest

OURS = ("LMCOURSE_ROOT", "LMCOURSE_WORKBOOK", "LMCOURSE_STRICT")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on what the person who runs it, or `lmcourse test`, has set."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, here and in what tests start, though the run may be in the background.

    There a shell has its commands ignore it, and what they start ignores it, too.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
