"""The course's own world, compiled once."""

import pytest

from lmcourse.corpus.bookworld import BookWorld


@pytest.fixture(scope="session")
def world() -> BookWorld:
    """BookWorld with the course's own grammar."""
    return BookWorld()
