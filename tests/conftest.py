"""What all tests of the package share."""

import signal
from collections.abc import Iterator

import pytest

from lmcourse.corpus.bookworld import BookWorld
from tests import privilege

OURS = ("LMCOURSE_ROOT", "LMCOURSE_WORKBOOK", "LMCOURSE_STRICT")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on what the person who runs it, or `lmcourse test`, has set."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Let permission bits bind this test, root's too."""
    with privilege.unprivileged():
        yield


@pytest.fixture(scope="session")
def world() -> BookWorld:
    """The course's corpus."""
    return BookWorld()


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, here and in what tests start, though the run may be in the background.

    There a shell has its commands ignore it, and what they start ignores it, too.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
