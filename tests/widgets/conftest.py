"""A browser for the tests of one module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
from tests.browser import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for the module: Playwright's event loop ends with it."""
    with chromium() as found:
        yield found


@pytest.fixture
def widget() -> GradientFlow:
    """GradientFlow of a small network, quick to compute."""
    return GradientFlow(random_network(time=20, width=8))
