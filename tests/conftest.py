"""What all tests of the package share."""

import pytest

OURS = ("LMCOURSE_ROOT", "LMCOURSE_WORKBOOK", "LMCOURSE_STRICT")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on what the person who runs it, or `lmcourse test`, has set."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
